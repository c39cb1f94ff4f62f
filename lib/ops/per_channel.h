// Operators that compute each channel alone.
#pragma once
#include "graph/graph.h"

namespace dnn {

// True for an operator that makes each channel (axis 1) of its output from the same channel of input 0, whichever it is: poolings, Dropout,
// and pads and reductions of spatial axes. False for element-wise operators and norms, which may have parameters of each channel.
bool keeps_channels(const Graph& graph, const Node& node);

}  // namespace dnn
