// Compiling: a graph through the passes of a level and the code generator of a device into a package.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/generate.h"
#include "codegen/recompute.h"
#include "compile/build_c.h"
#include "graph/graph.h"
#include "package/package.h"
#include "passes/pass.h"

namespace dnn {

struct CompileOptions {
  int opt = 3;                     // 0 to 4
  std::string device = "cpu";      // its kind decides the target
  DType element = DType::Float32;  // that float32 numbers are computed in: compile/precision.h
  std::vector<std::string> isas;   // for C, of any architecture; empty: the host's best and its plainest
  // For C, of known_processors(); empty: the host's kind where isas is empty, too, else generic. For OpenCL kGpu, or empty: processors.
  std::string processor;
  std::string pass_changes;      // "+name,-name"
  int64_t stop_after = -1;       // patches to apply at most; -1: all
  codegen::Schedules schedules;  // of tuned kernels
  // {output, input} by name: the output is the input of the next run (Variant::state).
  std::vector<std::pair<std::string, std::string>> state;
  // Nodes are repeated where that takes less memory (codegen/recompute.h): more time, the same numbers.
  bool recompute = false;
  // As in PassOptions. A package made with one of the functions, or with rows, is not cached (cache_key.h).
  std::function<bool(const Graph& graph, const std::string& pass, const Patch& patch)> allow;
  const std::vector<Pass>* rows = nullptr;
  BuildOptions build;
  std::function<void(const std::vector<PassLog>& log)> on_passes;        // what the passes did
  std::function<void(const codegen::Recomputation& done)> on_recompute;  // with `recompute`, for each group of targets
  std::function<void(const codegen::Workload& workload)> on_workload;    // each kernel that there is to schedule
  // Called after each pass with its name and graph, and with the codes: what --emit writes.
  std::function<void(const std::string& stage, const std::string& text)> emit;
  std::function<void(const codegen::CText& text)>
      on_c_text;  // of each variant in C, in the package's order: what emit_c() takes
};

// The package of `graph` (types inferred here; every shape that kernels need must be fixed). Throws Unsupported naming
// an operator that is not ours, Usage for an unknown pass, Environment when no compiler is there.
Package compile(const Graph& graph, const CompileOptions& options);

// What a package's codes are for, one each; the interpreter alone for a device that needs no code.
std::vector<Target> targets_of(const CompileOptions& options);

// What the passes of such a package run with, in all that decides which rewrites there are.
PassOptions pass_options(const CompileOptions& options);

// The compilers that such a package's code is made by, by name and version; one for each architecture.
std::string compilers_of(const std::vector<Target>& targets, const BuildOptions& options);

// Instruction sets a package gets by default: the plain fallback and the best of this processor for networks computed in `element`.
std::vector<std::string> default_isas(DType element = DType::Float32);

// The element type of that name, "bfloat16" or "bf16", in each tool; Undefined for none.
DType precision_named(std::string_view text);
// The same of those that float32 numbers may be computed in, for --precision. Throws Usage.
DType element_named(const std::string& text);

// The kind of processor whose speeds decide.
std::string processor_of(const CompileOptions& options);

}  // namespace dnn
