// A graph as formats that keep channels last want it.
#pragma once
#include "graph/graph.h"

namespace dnn {

// The domain of operators that take and give [N, H, W, C]; attributes and weights are as in ONNX.
inline constexpr std::string_view kChannelsLastDomain = "nhwc";

// Moves the operators over two spatial axes that insist on an order (convolutions, poolings, local normalisation, blocks of
// space and depth) into domain "nhwc" and settles the axis orders around them. Global poolings become reductions. Types
// must be inferred. The interpreter does not run the result; writers read it.
void to_channels_last(Graph& graph);

}  // namespace dnn
