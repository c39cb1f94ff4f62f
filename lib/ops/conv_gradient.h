// The gradients of a convolution: what Conv, ConvTranspose and AveragePool share.
#pragma once
#include "ops/gradient.h"
#include "ops/window.h"

namespace dnn {

// Of the input [N, C, window.input...], from that of the output, dy: [N, M, window.output...], and w: [M, C/group, K...].
// The kernel, flipped, slides over dy with window.strides - 1 zeros between its elements.
ValueId conv_input_gradient(GraphBuilder& build, ValueId dy, ValueId w, const Window& window, int64_t group);
// Of the weights, from x and dy: for each kernel tap a matrix product over images and positions, or with a group for each
// channel a sum; other groups slide x under dy.
ValueId conv_weight_gradient(GraphBuilder& build, ValueId x, ValueId dy, const Window& window, int64_t group);
// Of the bias.
ValueId conv_bias_gradient(GraphBuilder& build, ValueId dy);

}  // namespace dnn
