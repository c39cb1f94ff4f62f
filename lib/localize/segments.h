// Segments: a network cut at the values that it has in common with another, so that each part can be given what the other
// network computes there.
#pragma once
#include <map>
#include <vector>

#include "graph/graph.h"
#include "localize/lineup.h"

namespace dnn {

// A value that both networks compute.
struct Joint {
  ValueId source = kNoValue, target = kNoValue;
  AxisOrder order;   // how the target's becomes the source's, see reordered()
  bool fits = true;  // false: one layer of two shapes, which no order makes one
};

// What a network computes between the nearest joints and one.
struct Segment {
  size_t joint = 0;            // index of the joint that it ends in
  std::vector<NodeId> nodes;   // in the graph's order
  std::vector<size_t> inputs;  // joints that it begins with, ascending
  bool open = false;           // it reads an input of the network that is no joint, and cannot be run by itself
};

// A segment for each joint that a node makes, in the graph's order. `ends` are the joints' values in this graph; kNoValue for one
// that is left out.
std::vector<Segment> cut_at(const Graph& graph, const std::vector<ValueId>& ends);

// Whether two segments are the same computation on the same joints: the same operators, attributes and constants, to the bit.
bool same_computation(const Graph& source, const std::vector<ValueId>& source_ends, const Segment& a,
                      const Graph& target, const std::vector<ValueId>& target_ends, const Segment& b);

// Some segments as a graph of its own: its inputs are the joints that they begin with, under their names, in the order of
// `inputs` (joints), typed as `types` (by joint); its outputs are what the segments make, in their order.
struct SegmentGraph {
  Graph graph;
  std::vector<size_t> inputs;
};
SegmentGraph graph_of(const Graph& graph, const std::vector<ValueId>& ends, const std::vector<const Segment*>& segments,
                      const std::map<size_t, Type>& types);

}  // namespace dnn
