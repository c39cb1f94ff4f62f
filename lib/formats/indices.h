// Indices that count from the back, for formats whose operators do not.
#pragma once
#include "graph/graph.h"

namespace dnn {

// Adds the axis' extent to computed indices of Gather, GatherND and ScatterND where they may be negative. Known indices are left to the writers.
// Types must be inferred, and are afterwards.
void count_indices_from_front(Graph& graph);

}  // namespace dnn
