// From an optimised graph to a package: lowers each node, schedules its loops, packs the constants it reads, plans memory
// and prints the kernels. What has no lowering becomes an interpreted step.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "loops/ir.h"
#include "package/package.h"

namespace dnn::codegen {

struct GenerateOptions {
  int opt = 0;
  std::string target = "c";       // vocabulary: "c", "opencl", "cuda"
  bool fast_math = false;         // shorter approximations of exp, tanh and erf
  std::vector<std::string> isas;  // for "c": one code per instruction set, e.g. {"avx512", "x86-64"}
};

// Fills in everything of a package but `info` and the codes' binaries. Types of all values must have been inferred.
Package generate(const Graph& graph, const GenerateOptions& options);

// The scheduled kernels of a graph for one instruction set, in first-use order: what --emit writes as loop IR.
std::string emit_loops(const Graph& graph, const GenerateOptions& options, const std::string& isa);

}  // namespace dnn::codegen
