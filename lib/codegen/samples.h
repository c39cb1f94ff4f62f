// Batches, sample by sample: runs of nodes that take each sample of a batch on its own, so that one thread can bring a sample through
// the whole run while what lies between the nodes stays in its caches. Where weights are more than what they are multiplied with,
// nodes take the batch at once.
#pragma once
#include <cstdint>
#include <map>
#include <set>

#include "graph/graph.h"

namespace dnn::codegen {

struct Samples {
  int64_t count = 1;  // samples of the batch; 1: no node runs sample by sample
  std::map<NodeId, int>
      runs;  // the nodes that do, with the number of their run; its nodes stand side by side in the order
  std::set<ValueId> divided;  // values of which such nodes have a sample's part at a time: 1 / count of the first axis
  std::set<ValueId> inner;    // those of them that no node outside of one run sees
  Graph one;                  // the graph with the types of a sample's parts

  bool sampled(NodeId id) const { return runs.count(id) != 0; }
};

// The batch is the first extent that all inputs have. A node's loops prove that a sample's part of what it makes comes from that
// sample's part of what it reads: with one step of the batch's loop every access moves by one part, or does not move. Types of all values
// must have been inferred.
Samples find_samples(const Graph& graph);

}  // namespace dnn::codegen
