// Instruction sets: what one text of a package's code is made for, as rows of isas.def. Also the widths of OpenCL's vectors, and GPUs.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu.h"
#include "target/architecture.h"
#include "target/backend.h"
#include "tensor/dtype.h"

namespace dnn {

// An instruction that adds to each element of `sum` the products of k elements of `left` with k of `right`.
struct DotProduct {
  int64_t k = 0;  // 0: there is none
  DType left = DType::Undefined, right = DType::Undefined, sum = DType::Undefined;
};

// One that adds to a tile of m x n sums the product of m x k and k x n elements.
struct MatrixUnit {
  int64_t m = 0, n = 0, k = 0;  // 0: there is none
  DType left = DType::Undefined, right = DType::Undefined, sum = DType::Undefined;
  int64_t tiles = 0;  // registers that hold a tile each; 0: vectors or threads do
};

// What a GPU's block of threads may take, on any device that the row is for.
struct GpuBlock {
  int64_t threads = 0, shared_bytes = 0;
};

struct Isa {
  Language language;
  const char* name;                // in packages, "" where the language has one kind of code
  Arch architecture = Arch::None;  // of code that a compiler here makes
  // Abilities without which the code does not run, and options that let the compiler use them.
  std::vector<CpuFeature> needs = {};
  std::vector<const char*> flags = {};
  // What the compiler defines with these options, where their names do not say it, and what the code's text asks for: a package has such a
  // variant beside the plainer one only where its text does.
  std::vector<const char*> macros = {};
  int64_t vector_bytes = 0;        // of a register; of an element where there are no vectors
  int64_t vector_registers = 0;    // that a tile may count on
  int64_t widest_tile = 0;         // blocks across in a register tile of several rows
  bool masks = false;              // instructions for some lanes of a vector
  std::vector<DType> narrow = {};  // floats of 16 bits that a vector of constants is read from in a few instructions
  bool gpu = false;                // threads with an element each; schedule_gpu() divides the work
  GpuBlock block = {};
  bool by_processor = false;  // schedules go by the kind of processor too (Processor::chunks): measured for C alone
  MatrixUnit matrix = {};
  DotProduct dot = {};  // of floats; the row is then for networks computed in that type, and no others

  const Backend* backend() const;    // null for the interpreter
  int64_t lanes(DType dtype) const;  // of a vector register, at least 1
  bool runs_here() const;            // for code in C: whether this processor and its operating system run it
  bool pays_here() const;            // whether this processor is no slower by it than by the plainer rows
  bool computes(DType element) const {
    return dot.k == 0 || dot.left == element;
  }  // whether it is a row for such networks
};

struct IsaExtension {
  Language language;
  const char* isa;   // the row of isas.def that it adds to
  const char* name;  // "avx512-vnni"
  std::vector<CpuFeature> needs = {};
  std::vector<const char*> flags = {};
  DotProduct dot = {};
  MatrixUnit matrix = {};
  const char* permutes =
      "";  // the compiler's name of what also brings bytes of a vector into any order; "": nothing that it is worth

  bool is_here() const;
};

const std::vector<Isa>& isas();
const std::vector<IsaExtension>& isa_extensions();
// The row for a package's code; null where there is none.
const Isa* find_isa(Language language, std::string_view name);
// The rows that code of a language comes in: for GPUs, or for processors, of this program's architecture, and for networks computed in
// `element`.
std::vector<const Isa*> isas_of(Language language, bool gpu, DType element = DType::Float32);
// Names of targets: the architectures, and C's instruction sets.
std::vector<std::string> known_targets();
// The names that C has for a target: all of an architecture's, best last, or the one of that name. Throws Usage.
std::vector<std::string> isas_of_target(std::string_view name);

// Names of C's, best last: all of this program's architecture, and those that this processor runs and has a use for; for networks computed
// in `element`.
std::vector<std::string> known_isas(DType element = DType::Float32);
std::vector<std::string> supported_isas(DType element = DType::Float32);
// Names of the extensions that this processor has.
std::vector<std::string> supported_extensions();

}  // namespace dnn
