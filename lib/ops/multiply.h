// multiply: the matrix product of the reference kernels, for operands in any stride; each element is summed from k = 0
// on, one rounding per operation, as a plain loop would.
#pragma once
#include <algorithm>
#include <type_traits>
#include <vector>

#include "tensor/dispatch.h"

namespace dnn {

// What products of T are summed in: unsigned for integers (they wrap instead of overflowing), float for the 16-bit floats.
template <class T>
struct SumType {
  using type = Compute<T>;
};
template <>
struct SumType<int32_t> {
  using type = uint32_t;
};
template <>
struct SumType<int64_t> {
  using type = uint64_t;
};
template <class T>
using Sum = typename SumType<T>::type;

// A matrix in memory: element (row, column) is data[row * row_stride + column * column_stride].
template <class T>
struct MatrixView {
  const T* data;
  int64_t row_stride, column_stride;
  MatrixView transposed() const { return {data, column_stride, row_stride}; }
};

// Calls store(i, j, sum over k of a(i, k) * b(k, j)) for i < m, j < n, where gather(k, first, width, out) writes
// b(k, first) .. b(k, first + width - 1).
template <class S, class A, class Gather, class Store>
void multiply_panels(int64_t m, int64_t n, int64_t depth, const MatrixView<A>& a, const Gather& gather,
                     const Store& store) {
  constexpr int64_t kColumns = 32;  // of b at a time, gathered into a panel that all rows of a reuse
  std::vector<S> panel(static_cast<size_t>(m > 0 ? depth * std::min(kColumns, n) : 0));
  S sums[kColumns];
  for (int64_t j0 = 0; j0 < n && m > 0; j0 += kColumns) {
    const int64_t width = std::min(kColumns, n - j0);
    for (int64_t k = 0; k < depth; ++k) gather(k, j0, width, panel.data() + k * width);
    for (int64_t i = 0; i < m; ++i) {
      std::fill(sums, sums + kColumns, S(0));
      const A* left = a.data + i * a.row_stride;
      const S* right = panel.data();
      if (width == kColumns) {
        for (int64_t k = 0; k < depth; ++k, right += kColumns) {
          const S factor = static_cast<S>(widen(left[k * a.column_stride]));
          for (int64_t j = 0; j < kColumns; ++j) sums[j] += factor * right[j];
        }
      } else {
        for (int64_t k = 0; k < depth; ++k, right += width) {
          const S factor = static_cast<S>(widen(left[k * a.column_stride]));
          for (int64_t j = 0; j < width; ++j) sums[j] += factor * right[j];
        }
      }
      for (int64_t j = 0; j < width; ++j) store(i, j0 + j, sums[j]);
    }
  }
}

// The same for b in memory.
template <class S, class A, class B, class Store>
void multiply(int64_t m, int64_t n, int64_t depth, const MatrixView<A>& a, const MatrixView<B>& b, const Store& store) {
  const auto gather = [&](int64_t k, int64_t first, int64_t width, S* out) {
    const B* row = b.data + k * b.row_stride + first * b.column_stride;
    for (int64_t j = 0; j < width; ++j) out[j] = static_cast<S>(widen(row[j * b.column_stride]));
  };
  multiply_panels<S>(m, n, depth, a, gather, store);
}

}  // namespace dnn
