// multiply: the matrix product of the reference kernels, for operands in any stride; each element is summed from k = 0
// on, one rounding per operation, as a plain loop would.
#pragma once
#include <algorithm>
#include <memory>
#include <string_view>
#include <type_traits>

#include "base/share.h"
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

// sums(i, j) = sum over k of factors[i * stride + k] * panel(k, j), from k = 0 on and one rounding per operation, for i < rows <=
// kPanelRows and j < kPanelColumns; rows of panel and sums have kPanelColumns elements. S is float, double, uint32_t or uint64_t.
template <class S>
using PanelSums = void (*)(const S* factors, int64_t stride, const S* panel, int64_t rows, int64_t depth, S* sums);
// For this processor, and for its vectors of so many bytes (base/simd.h); all give the same bits.
template <class S>
PanelSums<S> panel_sums();
template <class S>
PanelSums<S> panel_sums(int64_t vector_bytes);

// Rows of a, [m, depth], for panel sums: as they lie, or converted, as many at a time as fit.
template <class S, class A>
class FactorRows {
 public:
  FactorRows(const MatrixView<A>& a, int64_t m, int64_t depth) : a_(a), depth_(depth) {
    constexpr int64_t kFactors = int64_t{1} << 20;  // converted at a time
    as_they_lie_ = std::is_same_v<A, S> && a.column_stride == 1;
    const int64_t blocks = blocks_of(m);
    blocks_at_once_ = as_they_lie_ ? blocks : std::min(blocks, std::max(kFactors / depth / kPanelRows, int64_t{1}));
    converted_ = std::make_unique_for_overwrite<S[]>(as_they_lie_ ? 0 : blocks_at_once_ * kPanelRows * depth);
  }
  // Blocks of kPanelRows rows, the last may have fewer.
  static int64_t blocks_of(int64_t rows) { return (rows + kPanelRows - 1) / kPanelRows; }
  int64_t blocks_at_once() const { return blocks_at_once_; }

  // Makes data() and stride() those of rows [top, below).
  void take(ThreadPool* pool, int64_t top, int64_t below) {
    data_ = converted_.get();
    stride_ = depth_;
    if constexpr (std::is_same_v<A, S>) {
      if (as_they_lie_) data_ = a_.data + top * a_.row_stride;
      if (as_they_lie_) stride_ = a_.row_stride;
    }
    if (as_they_lie_) return;
    const double size = static_cast<double>(depth_) * static_cast<double>(kPanelRows);
    share(pool, below - top, static_cast<double>(blocks_of(below - top)) * size, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const A* from = a_.data + (top + i) * a_.row_stride;
        S* to = converted_.get() + i * depth_;
        for (int64_t k = 0; k < depth_; ++k) to[k] = static_cast<S>(widen(from[k * a_.column_stride]));
      }
    });
  }
  const S* data() const { return data_; }
  int64_t stride() const { return stride_; }

 private:
  const MatrixView<A>& a_;
  int64_t depth_, stride_ = 0, blocks_at_once_ = 0;
  bool as_they_lie_ = false;
  std::unique_ptr<S[]> converted_;
  const S* data_ = nullptr;
};

// The product of a, [m, depth], and b, [depth, n], shared out over `pool` (null: one thread). gather(begin, end, first, width, out)
// writes b(k, first + j) to out[(k - begin) * kPanelColumns<S> + j] for k in [begin, end) and j < width;
// store(i, first, width, sums) takes sums[j] = sum over k of a(i, k) * b(k, first + j). Both are called from any thread.
template <class S, class A, class Gather, class Store>
void multiply_panels(ThreadPool* pool, int64_t m, int64_t n, int64_t depth, const MatrixView<A>& a,
                     const Gather& gather, const Store& store) {
  if (m <= 0 || n <= 0) return;
  constexpr int64_t kColumns = kPanelColumns<S>, kRows = kPanelRows;
  if (depth <= 0) {  // nothing to gather, perhaps from nowhere
    const S none[kColumns] = {};
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; j += kColumns) store(i, j, std::min(kColumns, n - j), none);
    }
    return;
  }
  FactorRows<S, A> rows(a, m, depth);
  const PanelSums<S> sum = panel_sums<S>();
  const int64_t panels = (n + kColumns - 1) / kColumns;
  // Columns beyond a narrow panel's are multiplied, too: by what happens to lie there, denormal numbers say, that takes many times as long.
  const auto gather_panel = [&](int64_t begin, int64_t end, int64_t first, int64_t width, S* out) {
    if (width < kColumns) std::fill(out, out + (end - begin) * kColumns, S{});
    gather(begin, end, first, width, out);
  };
  const bool few = panels < 2 * threads_of(pool);  // then rows are shared out
  const auto shared = std::make_unique_for_overwrite<S[]>(few ? depth * kColumns : 0);
  for (int64_t top = 0; top < m; top += rows.blocks_at_once() * kRows) {
    const int64_t below = std::min(m, top + rows.blocks_at_once() * kRows), now = rows.blocks_of(below - top);
    rows.take(pool, top, below);
    const auto multiply_blocks = [&](int64_t begin, int64_t end, const S* panel, int64_t first, int64_t width) {
      S sums[kRows * kColumns];
      for (int64_t i = begin * kRows; i < end * kRows; i += kRows) {
        const int64_t height = std::min(kRows, below - top - i);
        sum(rows.data() + i * rows.stride(), rows.stride(), panel, height, depth, sums);
        for (int64_t r = 0; r < height; ++r) store(top + i + r, first, width, sums + r * kColumns);
      }
    };
    const double size = static_cast<double>(depth) * static_cast<double>(kRows);
    const double each = static_cast<double>(now) * size * static_cast<double>(kColumns);  // products
    if (few) {
      for (int64_t first = 0; first < n; first += kColumns) {
        const int64_t width = std::min(kColumns, n - first);
        share(pool, depth, size, [&](int64_t begin, int64_t end) {
          gather_panel(begin, end, first, width, shared.get() + begin * kColumns);
        });
        share(pool, now, each,
              [&](int64_t begin, int64_t end) { multiply_blocks(begin, end, shared.get(), first, width); });
      }
      continue;
    }
    share(pool, panels, each * static_cast<double>(panels), [&](int64_t begin, int64_t end) {
      const auto panel = std::make_unique_for_overwrite<S[]>(depth * kColumns);
      for (int64_t p = begin; p < end; ++p) {
        const int64_t first = p * kColumns, width = std::min(kColumns, n - first);
        gather_panel(0, depth, first, width, panel.get());
        multiply_blocks(0, now, panel.get(), first, width);
      }
    });
  }
}

// The same for b in memory; store(i, j, sum) takes one element.
template <class S, class A, class B, class Store>
void multiply(ThreadPool* pool, int64_t m, int64_t n, int64_t depth, const MatrixView<A>& a, const MatrixView<B>& b,
              const Store& store) {
  const auto gather = [&](int64_t begin, int64_t end, int64_t first, int64_t width, S* out) {
    // By rows, or where b is transposed by columns, of which a tile stays in the first cache.
    const int64_t tile = b.column_stride == 1 ? 1 : 16;
    const B* column = b.data + first * b.column_stride;
    for (int64_t k0 = begin; k0 < end; k0 += tile) {
      const int64_t k1 = std::min(end, k0 + tile);
      for (int64_t j = 0; tile > 1 && j < width; ++j) {
        for (int64_t k = k0; k < k1; ++k)
          out[(k - begin) * kPanelColumns<S> + j] =
              static_cast<S>(widen(column[k * b.row_stride + j * b.column_stride]));
      }
      if (tile > 1) continue;
      const B* row = column + k0 * b.row_stride;
      for (int64_t j = 0; j < width; ++j) out[(k0 - begin) * kPanelColumns<S> + j] = static_cast<S>(widen(row[j]));
    }
  };
  multiply_panels<S>(pool, m, n, depth, a, gather, [&](int64_t i, int64_t first, int64_t width, const S* sums) {
    for (int64_t j = 0; j < width; ++j) store(i, first + j, sums[j]);
  });
}

}  // namespace dnn
