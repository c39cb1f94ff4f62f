// convolve: the sums of a convolution for the reference kernels of Conv and its quantised kin.
#pragma once
#include "ops/multiply.h"
#include "ops/window.h"

namespace dnn {

// The output type of a convolution of inputs x and w (and a bias, which may be missing); Malformed where they disagree.
Type infer_convolution(const InferContext& context, size_t x, size_t w, size_t bias, DType dtype);

// Shared out over `pool` (null: one thread). store(n, m, first, width, sums) takes the sums of the outputs at positions [first,
// first + width), from any thread; x: [N, C, D...], w: [M, C/group, K...]. Each sum runs over the group's input channels, then the
// kernel's taps, outermost axis first; taps in the padding add zero products.
template <class S, class T, class W, class Store>
void convolve(ThreadPool* pool, const T* x, const Shape& x_shape, const W* w, const Shape& w_shape,
              const Window& window, int64_t group, const Store& store) {
  const int64_t c_per_group = w_shape[1], m_per_group = w_shape[0] / group;
  const int64_t positions = element_count(window.output), taps = element_count(window.kernel);
  const int64_t plane = element_count(window.input), depth = c_per_group * taps;
  if (positions == 0 || m_per_group == 0) return;
  const TapRuns runs(window, kPanelColumns<S>);
  // One group's filters over one image.
  const auto convolve_group = [&](ThreadPool* threads, int64_t n, int64_t g) {
    const T* image = x + (n * x_shape[1] + g * c_per_group) * plane;
    const MatrixView<W> filters{w + g * m_per_group * depth, depth, 1};
    const auto gather = [&](int64_t begin, int64_t end, int64_t first, int64_t, S* out) {
      const int64_t panel = first / kPanelColumns<S>;
      int64_t tap = begin % taps;
      const T* channel = image + begin / taps * plane;
      for (int64_t k = begin; k < end; ++k, out += kPanelColumns<S>) {
        S* to = out;
        for (const TapRuns::Run& run : runs.of(tap, panel)) {
          S* end_of_run = to + run.length;
          if (run.from < 0) {
            for (; to < end_of_run; ++to) *to = S(0);
            continue;
          }
          const T* from = channel + run.from;
          if (runs.step() == 1) {
            for (int64_t j = 0; j < run.length; ++j) to[j] = static_cast<S>(widen(from[j]));
          } else {
            for (int64_t j = 0; j < run.length; ++j) to[j] = static_cast<S>(widen(from[j * runs.step()]));
          }
          to = end_of_run;
        }
        if (++tap < taps) continue;
        tap = 0;
        channel += plane;
      }
    };
    multiply_panels<S>(threads, m_per_group, positions, depth, filters, gather,
                       [&](int64_t m, int64_t first, int64_t width, const S* sums) {
                         store(n, g * m_per_group + m, first, width, sums);
                       });
  };
  const int64_t groups = x_shape[0] * group;
  if (groups < 2 * threads_of(pool)) {
    for (int64_t i = 0; i < groups; ++i) convolve_group(pool, i / group, i % group);
    return;
  }
  const double products = static_cast<double>(w_shape[0] * x_shape[0]) * static_cast<double>(positions * depth);
  share(pool, groups, products, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) convolve_group(nullptr, i / group, i % group);
  });
}

}  // namespace dnn
