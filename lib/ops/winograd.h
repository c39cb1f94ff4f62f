// Winograd's minimal filtering F(4x4, 3x3): a 3x3 convolution of stride 1 as 36 matrix products over tiles of 6x6 inputs that
// give 4x4 outputs, 4 times fewer multiplications. Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2016,
// section 4.3; the points are 0, 1, -1, 2, -2 and infinity.
#pragma once
#include <array>

#include "tensor/tensor.h"

namespace dnn::winograd {

inline constexpr int64_t kOut = 4, kIn = 6, kKernel = 3, kProducts = kIn * kIn;

using Row6 = std::array<double, 6>;
inline constexpr std::array<Row6, 6> kInput = {{{4, 0, -5, 0, 1, 0},
                                                {0, -4, -4, 1, 1, 0},
                                                {0, 4, -4, -1, 1, 0},
                                                {0, -2, -1, 2, 1, 0},
                                                {0, 2, -1, -2, 1, 0},
                                                {0, 4, 0, -5, 0, 1}}};
inline constexpr std::array<Row6, 4> kOutput = {
    {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}}};
inline constexpr std::array<std::array<double, 3>, 6> kWeights = {{{1.0 / 4, 0, 0},
                                                                   {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                                                   {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                                                   {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                                                   {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                                                   {0, 0, 1}}};

// Weights [M, C, 3, 3] of float32 as the 36 right-hand matrices [36, C, M], computed in double.
Tensor transform_weights(const Tensor& w);

// Tiles along an axis that has `output` elements.
inline int64_t tiles(int64_t output) { return (output + kOut - 1) / kOut; }

}  // namespace dnn::winograd
