// A graph as formats that keep channels last want it.
#pragma once
#include "graph/graph.h"
#include "ops/channels_last.h"

namespace dnn {

// Moves the operators over two spatial axes that insist on an order (convolutions, poolings, local normalisation, blocks of
// space and depth) into domain "nhwc" and settles the axis orders around them. Global poolings become reductions. Types
// must be inferred. The interpreter does not run the result; writers read it.
void to_channels_last(Graph& graph);

}  // namespace dnn
