// Joint packages: a network whose parts are all processors of this machine, compiled as a whole. The parts share out the steps of one
// package, so that values between segments need no copy and stay in the layout that kernels want.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "compile/compile.h"
#include "place/executor.h"

namespace dnn::place {

struct Joint {
  std::shared_ptr<const Package> package;  // of the whole network: on one device it is an ordinary one
  std::vector<std::vector<size_t>> steps;  // by segment of the plan, ascending
};

// The network `graph`, of which `plan` is made. Nothing where a part is no processor of this machine, where all is one part's, or where
// the compiled network cannot be shared out as the plan says. No pass rewrites nodes of two segments as one.
std::optional<Joint> compile_joint(const Graph& graph, const Plan& plan, const std::vector<Part>& parts,
                                   const CompileOptions& options);

// `graph` has the names of the plan's values. Each lane has memory of its own for what lies between the segments.
std::unique_ptr<ParallelSession> open_joint(const Graph& graph, Plan plan, const std::vector<Part>& parts,
                                            const Joint& joint, size_t lanes = 1);

}  // namespace dnn::place
