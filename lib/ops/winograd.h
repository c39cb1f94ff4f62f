// Winograd's minimal filtering F(4x4, 3x3) and F(2x2, 3x3): a 3x3 convolution of stride 1 as 36 or 16 matrix products over tiles
// of 6x6 or 4x4 inputs that give 4x4 or 2x2 outputs, with 4 or 2.25 times fewer multiplications, and 4 or 1.8 times the
// weights. Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2016, sections 4.1 and 4.3; the points are 0,
// 1, -1, for the larger one 2, -2, and infinity.
#pragma once
#include <vector>

#include "tensor/tensor.h"

namespace dnn::winograd {

inline constexpr int64_t kKernel = 3, kMostIn = 6, kMostOut = 4;

using Matrix = std::vector<std::vector<double>>;

struct Form {
  int64_t out, in;                // elements of a tile, along an axis
  Matrix input, output, weights;  // [in, in], [out, in], [in, kKernel]

  int64_t products() const { return in * in; }
  // Tiles along an axis that has `extent` outputs.
  int64_t tiles(int64_t extent) const { return (extent + out - 1) / out; }
};

const Form& f4x4();
const Form& f2x2();
// The one of so many products; Malformed for other numbers.
const Form& form_of(int64_t products);

// Weights [M, C, 3, 3] of float32 as the right-hand matrices [products, C, M], computed in double.
Tensor transform_weights(const Tensor& w, const Form& form);

}  // namespace dnn::winograd
