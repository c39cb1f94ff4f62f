// Types of a graph whose batch is open, as they are for given batches: what a model computes of that extent is not known otherwise.
#pragma once
#include <vector>

#include "graph/graph.h"

namespace dnn {

using Types = std::vector<Type>;  // by ValueId

// The graph's own types; where only the batch, the first axis of inputs, is open, those for two sizes of it. Types must be
// inferred.
std::vector<Types> trials_of(const Graph& graph);

}  // namespace dnn
