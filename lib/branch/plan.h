// Plans: a graph cut into segments by a placement, each an ordinary graph for one part.
#pragma once
#include <string>
#include <vector>

#include "graph/graph.h"

namespace dnn::branch {

// Nodes that run on one part without waiting in between.
struct Segment {
  std::string name;  // "s1_dsp_b1_proj_conv .. s1_dsp_b2_relu"
  size_t part = 0;
  Graph graph;                           // its inputs are called as in the whole graph
  std::vector<ValueId> inputs, outputs;  // in the whole graph, in the order of the segment's
  bool merges = false;                   // it begins with values of several parts
};

struct Plan {
  std::vector<ValueId> inputs, outputs;  // of the whole graph
  size_t values = 0;                     // ids in the whole graph are below
  size_t parts = 0;
  std::vector<Segment> segments;  // each behind those that it reads from

  // What goes from part to part: number and bytes of values, each counted for every part that reads it.
  int64_t copies = 0, copied_bytes = 0;
  int64_t merges() const;
};

// Cuts `graph`, whose types are inferred and fixed, by the part of each node (by NodeId). A segment ends where another part needs a value or has
// made one, and nowhere else. Throws Unsupported for values without a fixed shape between parts.
Plan cut_into_segments(const Graph& graph, const std::vector<size_t>& part_of);

}  // namespace dnn::branch
