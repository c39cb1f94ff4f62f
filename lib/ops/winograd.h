// Winograd's minimal filtering: a convolution of a few taps as matrix products over tiles of the output, with fewer
// multiplications and more weights. Winograd, Arithmetic Complexity of Computations, 1980; Lavin and Gray, Fast Algorithms for
// Convolutional Neural Networks, 2016.
#pragma once
#include <string>
#include <vector>

#include "graph/graph.h"
#include "tensor/tensor.h"

namespace dnn::winograd {

inline constexpr int64_t kMostIn = 10, kMostOut = 6;  // of a tile along an axis; products are at most as many as inputs

using Matrix = std::vector<std::vector<double>>;

// One axis of a form: `out` outputs of a filter of `taps` that goes on by `stride`, from `in` inputs, as
//   output * ((weights * filter) . (input * inputs)),
// which is one multiplication a row of `input` in place of out * taps.
struct Axis {
  int64_t out, taps, stride, in;
  Matrix input, output, weights;  // [products, in], [out, products], [products, taps]

  auto products() const { return static_cast<int64_t>(input.size()); }
  // Tiles along an axis that has `extent` outputs.
  int64_t tiles(int64_t extent) const { return (extent + out - 1) / out; }
};

// F(out, taps) by polynomials' values at out + taps - 2 points and infinity (Toom and Cook). With a stride of 2 the even taps,
// which see the even inputs alone, and the odd ones make a form each, and a tile has the products of both.
Axis axis(int64_t out, int64_t taps, int64_t stride = 1);
// Whether there are points for it, and it fits a tile: an axis of one tap has one output.
bool has_axis(int64_t out, int64_t taps, int64_t stride = 1);

struct Form {
  Axis rows, columns;

  int64_t products() const { return rows.products() * columns.products(); }
  std::string text() const;  // "F(4x4, 3x3)"
};

// That of a WinogradConv, by its attributes `tile`, `kernel_shape` and `strides`; Malformed where there is none.
Form form_of(const Node& node);

// Weights [M, C, taps of the rows, of the columns] of float32 as the right-hand matrices [products, C, M], computed in double.
Tensor transform_weights(const Tensor& w, const Form& form);

}  // namespace dnn::winograd
