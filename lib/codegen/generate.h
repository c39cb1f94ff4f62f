// From an optimised graph to a package: lowers each node, schedules its loops, packs the constants it reads, plans memory
// and prints the kernels. What has no lowering becomes an interpreted step.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "codegen/parameters.h"
#include "graph/graph.h"
#include "loops/ir.h"
#include "package/package.h"

namespace dnn::codegen {

// A kernel, its schedule left open.
struct Workload {
  std::string kernel;  // its name in packages
  std::string what;    // "Conv (conv): ..." with the types of its node
  double flops;        // of one launch
  std::function<std::string(const ScheduleParameters& parameters)> text;  // printed with that schedule
};

struct GenerateOptions {
  int opt = 0;
  std::string target = "c";  // vocabulary: "c", "opencl", "cuda"
  bool fast_math = false;    // shorter approximations of exp, tanh and erf
  // One code each: for "c" per instruction set, e.g. {"avx512", "x86-64"}; for "opencl" per width of the vectors, {"float16", "float8"}, or
  // {kGpuIsa}.
  std::vector<std::string> isas;
  std::string processor = "generic";  // its kind, of known_processors()
  Schedules schedules = {};           // chosen parameters; what is not in it has the defaults
  std::function<void(const Workload& workload)> on_workload = {};  // called once for each; may be empty
};

// The code that OpenCL's GPUs run: tiles of threads, no vectors.
inline constexpr const char* kGpuIsa = "gpu";

// Fills in everything of a package but `info` and the codes' binaries. Types of all values must have been inferred.
Package generate(const Graph& graph, const GenerateOptions& options);

// Elements of float32 in a vector register: of an instruction set, or as an OpenCL code's vectors are wide; 16 for cuda, whose
// schedules have none.
int64_t vector_lanes(const std::string& isa);

// The scheduled kernels of a graph for one instruction set, in first-use order: what --emit writes as loop IR.
std::string emit_loops(const Graph& graph, const GenerateOptions& options, const std::string& isa);

}  // namespace dnn::codegen
