// The gradients of a convolution: what Conv, ConvTranspose and AveragePool share.
#pragma once
#include "ops/gradient.h"
#include "ops/window.h"

namespace dnn {

// Of the input [N, C, window.input...], from that of the output, dy: [N, M, window.output...], and w: [M, C/group, K...].
ValueId conv_input_gradient(GraphBuilder& build, ValueId dy, ValueId w, const Window& window, int64_t group);
// Of the weights, from x and dy.
ValueId conv_weight_gradient(GraphBuilder& build, ValueId x, ValueId dy, const Window& window, int64_t group);
// Of the bias.
ValueId conv_bias_gradient(GraphBuilder& build, ValueId dy);

}  // namespace dnn
