// Layers with weights (Trait::Weighted): questions about them, as where the channels lie in their weights, input 1.
#pragma once
#include <optional>
#include <string_view>

#include "graph/graph.h"

namespace dnn {

// Axes of a layer's weights: of the channels that it makes and of those that it reads. With groups one of the two counts the channels of a
// group: of a Conv `input`, of a ConvTranspose `output`.
struct WeightAxes {
  int output, input;
};

// The axes of weights that have `rank` axes, for ONNX's own layers: Conv, ConvTranspose, Gemm, MatMul (whose last two axes are a matrix).
// nullopt for other operators, and for weights of fewer than two axes.
std::optional<WeightAxes> weight_axes(const Node& node, int rank);

// True for a convolution of numbers: its input 0 [N, C, spatial...] by weights [M, C / group, kernel...], and input 2 [M] added
// where it is given. Not one of integers, nor a transposed one.
bool is_convolution(const Node& node);

// True where ONNX's operator of that name multiplies by weights: for who knows no more of a layer.
bool multiplies_weights(std::string_view op);

}  // namespace dnn
