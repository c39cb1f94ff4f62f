// Weights of one file in the graph of another.
#pragma once
#include "graph/graph.h"

namespace dnn {

// Replaces constants of `graph` by those of `weights` with the same name, dtype and number of elements in the same order of
// extents (extents of 1 aside). Returns the names of the graph's own floating-point constants of more than one element that
// stay as they were. Throws Malformed where a weight has no place (num_batches_tracked aside) or another shape.
std::vector<std::string> put_weights(Graph& graph, const Graph& weights);

}  // namespace dnn
