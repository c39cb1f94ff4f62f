// A compiled network as C source files that need no runtime: kernels, weights, and one function that runs them in a static arena.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "codegen/generate.h"
#include "package/package.h"

namespace dnn {

// Values that a network is tried with: a row of pseudo-random numbers that C99 makes, too. Floats are from -1 to 1, integers of 8 bits take
// all values, others 0 and 1.
std::vector<Tensor> emit_c_inputs(const Package& package);

// Throws Unsupported where a step of the package has no kernel, naming its nodes. Before the package is run: what is interpreted may refuse
// emit_c_inputs(), as a division by 0 does.
void check_has_c_code(const Package& package);

struct EmitCOptions {
  std::string name;                           // a C identifier: what files and functions are named after
  std::vector<codegen::CText> texts;          // of the package's variants, in their order: CompileOptions::on_c_text
  std::vector<std::vector<Tensor>> expected;  // of emit_c_inputs(), by variant; empty for one that was not run
};

struct EmittedC {
  std::map<std::string, std::string> files;   // texts by name
  int64_t arena_bytes = 0, weight_bytes = 0;  // of the variant that takes the most
};

// The package's variants in one C99 file, of which the preprocessor chooses: the best that the compiler's options allow, and where it knows
// no vectors the first one in scalars. Throws Unsupported where a step has no kernel. A test program compares with `expected`.
EmittedC emit_c(const Package& package, const EmitCOptions& options);

// A C identifier like `text`: of a model file's stem.
std::string c_identifier(const std::string& text);

}  // namespace dnn
