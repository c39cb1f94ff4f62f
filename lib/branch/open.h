// Opening a network on parts: its segments compiled, each for the device of its part, or the whole of it for one.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "branch/executor.h"
#include "compile/compile.h"

namespace dnn::branch {

// `graph` with every open first extent 1, and its types inferred: what the functions below take.
Graph with_one_sample(Graph graph);

// Connects those that are on other machines: before the functions below. `connection` as for dnn-infer.
void connect_parts(std::vector<Part>& parts, const DeviceOptions& connection);

// What a package for the part is compiled with, as dnn-infer compiles for that device: `options`, of which level and build count, with the
// part's target and this machine's best instruction set.
CompileOptions options_for(const Part& part, const CompileOptions& options);

// The plan by the names of nodes, each segment an ordinary package on its part. Throws as compile() and
// open_session() do, with the part and the segment in front.
std::unique_ptr<ParallelSession> open_parallel(const Graph& graph, const std::vector<Part>& parts,
                                               const CompileOptions& options);

// The whole network on one part.
std::unique_ptr<Session> open_alone(std::shared_ptr<const Package> package, const Part& part);

}  // namespace dnn::branch
