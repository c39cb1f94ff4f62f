// convolve: the sums of a convolution for the reference kernels of Conv and its quantised kin.
#pragma once
#include "ops/multiply.h"
#include "ops/window.h"

namespace dnn {

// The output type of a convolution of inputs x and w (and a bias, which may be missing); Malformed where they disagree.
Type infer_convolution(const InferContext& context, size_t x, size_t w, size_t bias, DType dtype);

// Calls store(n, m, position, sum) for every output element; x: [N, C, D...], w: [M, C/group, K...]. Each sum runs over
// the group's input channels, then the kernel's taps, outermost axis first; taps in the padding add zero products.
template <class S, class T, class W, class Store>
void convolve(const T* x, const Shape& x_shape, const W* w, const Shape& w_shape, const Window& window, int64_t group,
              const Store& store) {
  const int64_t c_per_group = w_shape[1], m_per_group = w_shape[0] / group;
  const int64_t positions = element_count(window.output), taps = element_count(window.kernel);
  const int64_t plane = element_count(window.input), depth = c_per_group * taps;
  if (positions == 0 || m_per_group == 0) return;
  const std::vector<int64_t> offsets = window.tap_offsets();
  for (int64_t n = 0; n < x_shape[0]; ++n) {
    for (int64_t g = 0; g < group; ++g) {
      const T* image = x + (n * x_shape[1] + g * c_per_group) * plane;
      const MatrixView<W> filters{w + g * m_per_group * depth, depth, 1};
      const auto gather = [&](int64_t k, int64_t first, int64_t width, S* out) {
        const int64_t* offset = offsets.data() + k % taps * positions + first;
        const T* channel = image + k / taps * plane;
        for (int64_t j = 0; j < width; ++j) out[j] = offset[j] < 0 ? S(0) : static_cast<S>(widen(channel[offset[j]]));
      };
      multiply_panels<S>(m_per_group, positions, depth, filters, gather,
                         [&](int64_t m, int64_t position, S sum) { store(n, g * m_per_group + m, position, sum); });
    }
  }
}

}  // namespace dnn
