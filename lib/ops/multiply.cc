// Sums of panels, in vectors; see multiply.h. Products are rounded before they are added (-ffp-contract=off), so that every
// instruction set gives the same bits.
#include "ops/multiply.h"

#include <cstring>

#include "base/simd.h"

namespace dnn {
namespace {

// `group` rows, whose sums stay in registers. With no depth, nothing is read: both pointers may be null.
template <class S, int vector_bytes, int group>
[[gnu::always_inline]] inline void sum_rows(const S* factors, int64_t stride, const S* panel, int64_t depth, S* sums) {
  typedef S V __attribute__((vector_size(vector_bytes)));  // `using` drops the attribute of a dependent type
  constexpr int lanes = vector_bytes / static_cast<int>(sizeof(S));
  constexpr int columns = static_cast<int>(kPanelColumns<S>), n = columns / lanes;
  V total[group][n] = {};
  for (int64_t k = 0; k < depth; ++k) {
    V right[n];
#pragma GCC unroll 8  // all of these loops, or the sums lie in memory
    for (int j = 0; j < n; ++j) std::memcpy(&right[j], panel + k * columns + j * lanes, vector_bytes);
#pragma GCC unroll 8
    for (int i = 0; i < group; ++i) {
      const S left = factors[i * stride + k];
#pragma GCC unroll 8
      for (int j = 0; j < n; ++j) total[i][j] += left * right[j];
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < group; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < n; ++j) std::memcpy(sums + i * columns + j * lanes, &total[i][j], vector_bytes);
  }
}

template <class S, int vector_bytes, int group>
[[gnu::always_inline]] inline void sum_all(const S* factors, int64_t stride, const S* panel, int64_t rows,
                                           int64_t depth, S* sums) {
  constexpr int64_t columns = kPanelColumns<S>;
  int64_t i = 0;
  for (; i + group <= rows; i += group)
    sum_rows<S, vector_bytes, group>(factors + i * stride, stride, panel, depth, sums + i * columns);
  for (; i < rows; ++i) sum_rows<S, vector_bytes, 1>(factors + i * stride, stride, panel, depth, sums + i * columns);
}

template <class S>
void in_16_bytes(const S* factors, int64_t stride, const S* panel, int64_t rows, int64_t depth, S* sums) {
  sum_all<S, 16, 1>(factors, stride, panel, rows, depth, sums);
}
#if defined(__x86_64__)
template <class S>
DNN_FOR_AVX2 void in_32_bytes(const S* factors, int64_t stride, const S* panel, int64_t rows, int64_t depth, S* sums) {
  sum_all<S, 32, 2>(factors, stride, panel, rows, depth, sums);
}
template <class S>
DNN_FOR_AVX512 void in_64_bytes(const S* factors, int64_t stride, const S* panel, int64_t rows, int64_t depth,
                                S* sums) {
  sum_all<S, 64, 8>(factors, stride, panel, rows, depth, sums);
}
#endif

}  // namespace

template <class S>
PanelSums<S> panel_sums([[maybe_unused]] int64_t vector_bytes) {
#if defined(__x86_64__)
  return version_for(vector_bytes, in_16_bytes<S>, in_32_bytes<S>, in_64_bytes<S>);
#else
  return in_16_bytes<S>;
#endif
}

template <class S>
PanelSums<S> panel_sums() {
  static const PanelSums<S> best = panel_sums<S>(widest_vector_bytes());
  return best;
}

template PanelSums<float> panel_sums(int64_t);
template PanelSums<double> panel_sums(int64_t);
template PanelSums<uint32_t> panel_sums(int64_t);
template PanelSums<uint64_t> panel_sums(int64_t);
template PanelSums<float> panel_sums();
template PanelSums<double> panel_sums();
template PanelSums<uint32_t> panel_sums();
template PanelSums<uint64_t> panel_sums();

}  // namespace dnn
