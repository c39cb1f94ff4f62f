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
#include "target/target.h"

namespace dnn::codegen {

// A kernel, its schedule left open.
struct Workload {
  std::string kernel;  // its name in packages
  std::string what;    // "Conv (conv): ..." with the types of its node
  double flops;        // of one launch
  std::function<std::string(const ScheduleParameters& parameters)> text;  // printed with that schedule
};

// All kernels of a target, each C text a whole: by one prelude, their functions static. See static_c_vocabulary().
struct CText {
  std::string isa, vectors, scalars;
};

struct GenerateOptions {
  std::vector<Target> targets;  // one code each, all of one language and level
  bool fast_math = false;       // shorter approximations of exp, tanh and erf
  bool share_bits = false;      // with other levels, as the source is a quantised network
  Schedules schedules = {};     // chosen parameters; what is not in it has the defaults
  std::function<void(const Workload& workload)> on_workload = {};  // called once for each; may be empty
  std::function<void(const CText& text)> on_c_text = {};           // called for each target of C; may be empty
};

// Fills in everything of a package but `info`, `source` and the codes' binaries: a variant for each target. Types of all values must have been inferred.
Package generate(const Graph& graph, const GenerateOptions& options);

// The scheduled kernels of a graph for one of the targets, in first-use order: what --emit writes as loop IR.
std::string emit_loops(const Graph& graph, const GenerateOptions& options, const Target& target);

}  // namespace dnn::codegen
