// Opening a network on parts: its segments compiled, each for the device of its part, or the whole of it for one.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "compile/compile.h"
#include "place/executor.h"

namespace dnn::place {

// Where nodes run: the ways that a run of the network may take, each with the part of each node (by NodeId), and the way of each lane
// (package/placed.h). One way without lanes: one run at a time.
struct Routing {
  std::vector<std::vector<size_t>> ways;
  std::vector<size_t> lanes = {};
};

// Calls `work` and returns its result; an error that it throws names the part.
template <class Work>
auto on_part(const Part& part, Work&& work) {
  try {
    return work();
  } catch (Error& e) {
    throw e.within("part " + part.label());
  }
}

// Gives outputs that are constants a node that makes them: what no node makes is on no part.
void make_constant_outputs(Graph& graph);

// `graph` with every open first extent 1, its constant outputs made by nodes, and its types inferred: what the functions below take.
Graph with_one_sample(Graph graph);

// Connects those that are on other machines: before the functions below. `connection` as for dnn-infer.
void connect_parts(std::vector<Part>& parts, const DeviceOptions& connection);

// The options that a package for the part is compiled with, as dnn-infer compiles for that device: level, passes and build of `options`, the
// part's target and this machine's best instruction set.
CompileOptions options_for(const Part& part, const CompileOptions& options);

// A segment compiled for its part. Throws as compile() does, with the part and the segment in front.
std::shared_ptr<Package> compile_segment(const Segment& segment, const Part& part, const CompileOptions& options);

// Each segment an ordinary package on its part. `places`: the part of each node, by NodeId. Throws as compile() and
// open_session() do, with the part and the segment in front.
std::unique_ptr<ParallelSession> open_parallel(const Graph& graph, const std::vector<Part>& parts,
                                               const std::vector<size_t>& places, const CompileOptions& options);

// A network on parts by its ways and lanes. Throws as open_parallel() does.
std::unique_ptr<ParallelSession> open_routing(const Graph& graph, const std::vector<Part>& parts,
                                              const Routing& routing, const CompileOptions& options);

// The same of segments that are compiled already, one package for each.
using SegmentPackages = std::vector<std::shared_ptr<const Package>>;
std::unique_ptr<ParallelSession> open_compiled(Plan plan, const std::vector<Part>& parts,
                                               const SegmentPackages& packages);

// Several ways, with the packages of each, and the way of each lane. Lanes of one way share its sessions.
std::unique_ptr<ParallelSession> open_ways(std::vector<Plan> ways, const std::vector<Part>& parts,
                                           const std::vector<SegmentPackages>& packages,
                                           const std::vector<size_t>& lanes);

// The whole network on one part, to be measured: an emulated one is refused.
std::unique_ptr<Session> open_alone(std::shared_ptr<const Package> package, const Part& part);

// The whole network on each of `parts` alone.
struct AloneSessions {
  std::vector<Part> parts;
  std::vector<std::unique_ptr<Session>> sessions;
};
AloneSessions open_each_alone(const Graph& graph, const std::vector<Part>& parts, const CompileOptions& options);

}  // namespace dnn::place
