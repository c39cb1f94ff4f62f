// Tiles and transforms that the operators of Winograd's algorithm share: how a plane is cut, and how values go through the matrices
// of both axes.
#pragma once
#include <array>
#include <functional>
#include <vector>

#include "loops/ir.h"
#include "ops/winograd.h"

namespace dnn::winograd {

inline constexpr int64_t kMostRoom = 8;  // tiles that temporaries may leave room for behind theirs

// The tiles of a convolution of x [N, C, H, W] to M channels; attributes `tile`, `kernel_shape` and `strides`, each by axis, and
// `pads` as of Conv, where a negative one leaves inputs out.
struct Tiles {
  Form form;
  int64_t n, c, h, w, m, out_h, out_w;
  int64_t rows, columns, count;  // of a plane; of all images
  int64_t top, left;

  // Malformed where the attributes make no output, or too many elements.
  Tiles(const Node& node, const Shape& x, int64_t channels_out);
};

// out[i] = sum over k of matrix[i][k] * in[k], from 0 on, `step` apart.
template <class T>
void transform_axis(const Matrix& matrix, const T* in, int64_t in_step, T* out, int64_t out_step) {
  for (size_t i = 0; i < matrix.size(); ++i) {
    T sum = 0;
    for (size_t k = 0; k < matrix[i].size(); ++k)
      sum += static_cast<T>(matrix[i][k]) * in[static_cast<int64_t>(k) * in_step];
    out[static_cast<int64_t>(i) * out_step] = sum;
  }
}

// down * in * across', first down: in[i * width + j] of `width` columns, the results likewise in out, `out_step` apart.
template <class T>
void transform_tile(const Matrix& down, const Matrix& across, const T* in, T* out, int64_t out_step) {
  const auto width = static_cast<int64_t>(across[0].size()), wide = static_cast<int64_t>(across.size());
  T between[kMostIn * kMostIn];
  for (int64_t j = 0; j < width; ++j) transform_axis(down, in + j, width, between + j, width);
  for (int64_t i = 0; i < static_cast<int64_t>(down.size()); ++i)
    transform_axis(across, between + i * width, 1, out + i * wide * out_step, out_step);
}

// As loops: element (i, j) of what is transformed, which the first local of `names` keeps, and the store of a result.
using Element = std::function<loops::Expr(int64_t i, int64_t j)>;
using StoreElement = std::function<loops::Stmt(int64_t i, int64_t j, const loops::Expr& value)>;
loops::Stmt transform_tile(DType dtype, const Matrix& down, const Matrix& across, const Element& from,
                           const StoreElement& to, const std::array<const char*, 2>& names = {"d", "t"});

Matrix transposed(const Matrix& matrix);

// Element (i, j) of an input tile (loops n, r, s) of channel `channel`, 0 outside of the plane.
Element input_tile(const Tiles& tiles, const loops::BufferRef& x, const loops::Expr& channel);
// The same of the outputs of a tile.
Element output_tile(const Tiles& tiles, const loops::BufferRef& y, const loops::Expr& channel);

// Loops n, r, s over all tiles, and the tile's number in them.
loops::Stmt over_tiles(const Tiles& tiles, loops::Stmt body);
loops::Expr tile_number(const Tiles& tiles);

}  // namespace dnn::winograd
