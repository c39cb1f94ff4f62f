// The files that emit_c() writes, each by a function of the network; and what they all ask about it.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "compile/emit_c.h"
#include "target/isa.h"
#include "target/level.h"

namespace dnn {

// A package as a C network: its names, and which of its variants comes first. Throws Unsupported where it has no C code.
struct CNet {
  // Both must outlive it.
  CNet(const Package& package, const EmitCOptions& options);

  const Package& package;
  const EmitCOptions& options;
  const Level& level;
  std::string name, upper;                   // as functions and as macros begin
  size_t plainest = 0;                       // the variant whose plan scalars follow
  std::vector<size_t> best_first;            // variants
  std::vector<std::string> inputs, outputs;  // parameters of the function

  const Isa* row_of(size_t variant) const { return find_isa(Language::C, package.variants[variant].target.isa); }
  const Tensor& constant(int64_t i) const { return package.constants[i]; }
  int64_t weights_of(const Variant& variant) const;  // bytes
  // The function's declaration without its semicolon.
  std::string signature() const;
  // The variants that take something, as the preprocessor asks; "" for all.
  std::string used_by(const std::vector<size_t>& variants) const;
};

inline int64_t arena_of(const Variant& variant) { return variant.arena_bytes + variant.sample_arena_bytes; }
// The constants that a variant reads.
std::set<int64_t> constants_of(const Variant& variant);

std::string c_type(DType dtype);
std::string upper_case(std::string text);

std::string c_header(const CNet& net);
std::string c_source(const CNet& net);
std::string c_test_program(const CNet& net);
std::string c_makefile(const CNet& net);
std::string c_cmake_lists(const CNet& net);

}  // namespace dnn
