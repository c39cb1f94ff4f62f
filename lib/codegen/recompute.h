// Less memory for activations at the price of time: values that are read again long after they were made are computed again.
#pragma once
#include "graph/graph.h"
#include "target/target.h"

namespace dnn::codegen {

struct Recomputation {
  int64_t before_bytes = 0, after_bytes = 0;  // planned for what lies between nodes
  int64_t nodes = 0;                          // that are run again
  double added = 0;                           // estimated time of these, as a share of that of all nodes
};

// Rewrites a graph that passes are done with, for the memory that generate() will plan for `target`: nodes that make only outputs stand
// right behind what they read, and nodes are repeated where rematerialize() says so. Each repeated node is the same operator on
// the same numbers, so every output keeps its bits. Nodes that draw numbers, that have subgraphs, or that make an output of the graph are
// not repeated. Types of all values must have been inferred.
Recomputation recompute(Graph& graph, const Target& target);

}  // namespace dnn::codegen
