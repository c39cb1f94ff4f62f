// multiply: the matrix product of the reference kernels, for operands in any stride; each element is summed from k = 0
// on, one rounding per operation, as a plain loop would.
#pragma once
#include <algorithm>
#include <string_view>
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

// Panels: this many columns of b at a time (two vectors of AVX-512), gathered once for all rows of a, which are taken this many
// at a time.
template <class S>
inline constexpr int64_t kPanelColumns = 128 / sizeof(S);
inline constexpr int64_t kPanelRows = 8;

// sums(i, j) = sum over k of factors(k, i) * panel(k, j), from k = 0 on and one rounding per operation, for i < rows <= kPanelRows and
// j < kPanelColumns; rows of kPanelRows and of kPanelColumns elements. S is float, double, uint32_t or uint64_t.
template <class S>
using PanelSums = void (*)(const S* factors, const S* panel, int64_t rows, int64_t depth, S* sums);
// For this processor, and by the name of one of its instruction sets (supported_isas()); all give the same bits.
template <class S>
PanelSums<S> panel_sums();
template <class S>
PanelSums<S> panel_sums(std::string_view isa);

// Calls store(i, j, sum over k of a(i, k) * b(k, j)) for i < m, j < n, where gather(k, first, width, out) writes
// b(k, first) .. b(k, first + width - 1).
template <class S, class A, class Gather, class Store>
void multiply_panels(int64_t m, int64_t n, int64_t depth, const MatrixView<A>& a, const Gather& gather,
                     const Store& store) {
  if (m <= 0 || n <= 0) return;
  if (depth <= 0) {  // nothing to gather, perhaps from nowhere
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) store(i, j, S{});
    }
    return;
  }
  constexpr int64_t kColumns = kPanelColumns<S>, kFactors = int64_t{1} << 20;  // of a, packed for all panels
  const PanelSums<S> sum = panel_sums<S>();
  const int64_t most = std::max(kFactors / depth / kPanelRows, int64_t{1}) * kPanelRows;
  std::vector<S> panel(static_cast<size_t>(depth * kColumns));
  std::vector<S> factors(static_cast<size_t>(depth * ((std::min(most, m) + kPanelRows - 1) / kPanelRows * kPanelRows)));
  S sums[kPanelRows * kColumns];
  for (int64_t first = 0; first < m; first += most) {
    const int64_t end = std::min(m, first + most);
    for (int64_t i = first; i < end; ++i) {
      const A* left = a.data + i * a.row_stride;
      S* out = factors.data() + (i - first) / kPanelRows * kPanelRows * depth + (i - first) % kPanelRows;
      for (int64_t k = 0; k < depth; ++k) out[k * kPanelRows] = static_cast<S>(widen(left[k * a.column_stride]));
    }
    for (int64_t j0 = 0; j0 < n; j0 += kColumns) {
      const int64_t width = std::min(kColumns, n - j0);
      for (int64_t k = 0; k < depth; ++k) gather(k, j0, width, panel.data() + k * kColumns);
      for (int64_t i0 = first; i0 < end; i0 += kPanelRows) {
        const int64_t rows = std::min(kPanelRows, end - i0);
        sum(factors.data() + (i0 - first) * depth, panel.data(), rows, depth, sums);
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = 0; j < width; ++j) store(i0 + i, j0 + j, sums[i * kColumns + j]);
        }
      }
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
