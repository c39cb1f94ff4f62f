// Plans: a graph cut into segments by a placement, each an ordinary graph for one part.
#pragma once
#include <string>
#include <vector>

#include "graph/graph.h"

namespace dnn::place {

// Nodes that run on one part without waiting in between.
struct Segment {
  std::string name;  // "s1_dsp_b1_proj_conv .. s1_dsp_b2_relu"
  size_t part = 0;
  std::vector<ValueId> inputs, outputs;  // in the whole graph, in the order of the segment's
  bool merges = false;                   // it begins with values of several parts
  Graph graph = {};                      // its inputs are called as in the whole graph; empty in the plan of a package
  std::vector<NodeId> nodes = {};        // in the whole graph; none in the plan of a package
};

struct Plan {
  std::vector<ValueId> inputs, outputs;  // of the whole graph
  size_t values = 0;                     // ids in the whole graph are below
  size_t parts = 0;
  std::vector<Segment> segments;  // each behind those that it reads from

  // Values that go from part to part, each counted for every part that reads it: their number and bytes.
  int64_t copies = 0, copied_bytes = 0;
  int64_t merges() const;
};

// The values that a node takes, those that its subgraphs capture included.
std::vector<ValueId> read_by(const Graph& graph, const Node& node);

// Cuts `graph`, whose types are inferred and fixed, by the part of each node (by NodeId). A segment ends where another part needs a value or has
// made one, and nowhere else. Throws Unsupported for values without a fixed shape between parts, and for outputs that no node makes.
Plan cut_into_segments(const Graph& graph, const std::vector<size_t>& part_of);

// Finds, from the segments' inputs and outputs, which of them merge and what is copied. `graph` has the values' types.
void count_copies(const Graph& graph, Plan& plan);

}  // namespace dnn::place
