// Gradients of convolutions; see conv_gradient.h.
#include "ops/conv_gradient.h"

#include <algorithm>
#include <numeric>

namespace dnn {
namespace {

using Extents = std::vector<int64_t>;

std::vector<size_t> spatial_axes(size_t rank) {
  std::vector<size_t> axes(rank);
  std::iota(axes.begin(), axes.end(), size_t{2});
  return axes;
}

// A convolution whose padding may be negative: that is cut off before.
ValueId convolve(GraphBuilder& build, ValueId x, ValueId w, const Extents& strides, const Extents& dilations,
                 const Extents& begin, const Extents& end, int64_t group) {
  Extents cut_begin(2, 0), cut_end(2, 0), pads;
  for (int64_t pad : begin) {
    cut_begin.push_back(std::min<int64_t>(pad, 0));
    pads.push_back(std::max<int64_t>(pad, 0));
  }
  for (int64_t pad : end) {
    cut_end.push_back(std::min<int64_t>(pad, 0));
    pads.push_back(std::max<int64_t>(pad, 0));
  }
  return build.emit("Conv", {pad_with_zeros(build, x, cut_begin, cut_end), w},
                    {{"strides", strides}, {"dilations", dilations}, {"pads", pads}, {"group", group}});
}

// [A, B, K...] as [group, A/group, B, K...] with its axes 1 and 2 changed over: [group * B, A/group, K...].
ValueId groups_transposed(GraphBuilder& build, ValueId w, int64_t group) {
  const Shape shape = build.shape(w);
  Shape apart = {group, shape[0] / group, shape[1]}, together = {group * shape[1], shape[0] / group};
  std::vector<int64_t> perm = {0, 2, 1};
  for (size_t i = 2; i < shape.size(); ++i) {
    apart.push_back(shape[i]);
    together.push_back(shape[i]);
    perm.push_back(static_cast<int64_t>(i) + 1);
  }
  return reshape_to(build, build.transpose(reshape_to(build, w, apart), perm), together);
}

std::vector<int64_t> first_two_swapped(size_t rank) {
  std::vector<int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), int64_t{0});
  std::swap(perm[0], perm[1]);
  return perm;
}

}  // namespace

ValueId conv_input_gradient(GraphBuilder& build, ValueId dy, ValueId w, const Window& window, int64_t group) {
  const size_t rank = window.rank();
  const Extents ones(rank, 1);
  ValueId back = groups_transposed(build, w, group);
  for (size_t axis : spatial_axes(rank)) back = reversed(build, back, axis);
  const bool pointwise = std::all_of(window.kernel.begin(), window.kernel.end(), [](int64_t k) { return k == 1; });
  if (pointwise) dy = convolve(build, dy, back, ones, ones, Extents(rank, 0), Extents(rank, 0), group);
  dy = spread(build, dy, spatial_axes(rank), window.strides);
  Extents begin, end;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t reach = (window.kernel[i] - 1) * window.dilations[i];
    begin.push_back(reach - window.pad_begin[i]);
    end.push_back(window.input[i] + window.pad_begin[i] - window.output[i] * window.strides[i]);
  }
  if (!pointwise) return convolve(build, dy, back, ones, window.dilations, begin, end, group);
  begin.insert(begin.begin(), 2, 0);
  end.insert(end.begin(), 2, 0);
  return pad_with_zeros(build, dy, begin, end);
}

ValueId conv_weight_gradient(GraphBuilder& build, ValueId x, ValueId dy, const Window& window, int64_t group) {
  const Shape shape = build.shape(x);
  const size_t rank = window.rank();
  // x: [N, group, C/group, ...] as [C/group, group * N, ...]; dy: [N, M, ...] as [M, N, ...].
  Shape apart = {shape[0], group, shape[1] / group}, together = {shape[1] / group, group * shape[0]};
  std::vector<int64_t> perm = {2, 1, 0};
  for (size_t i = 2; i < shape.size(); ++i) {
    apart.push_back(shape[i]);
    together.push_back(shape[i]);
    perm.push_back(static_cast<int64_t>(i) + 1);
  }
  const ValueId images = group == 1 ? build.transpose(x, first_two_swapped(rank + 2))
                                    : reshape_to(build, build.transpose(reshape_to(build, x, apart), perm), together);
  const ValueId filters = build.transpose(dy, first_two_swapped(rank + 2));
  Extents end;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t reach = (window.kernel[i] - 1) * window.dilations[i] + (window.output[i] - 1) * window.strides[i] + 1;
    end.push_back(reach - window.input[i] - window.pad_begin[i]);
  }
  const ValueId dw = convolve(build, images, filters, window.dilations, window.strides, window.pad_begin, end, group);
  return build.transpose(dw, first_two_swapped(rank + 2));
}

ValueId conv_bias_gradient(GraphBuilder& build, ValueId dy) {
  std::vector<int64_t> axes = {0};
  for (size_t i = 2; i < build.shape(dy).size(); ++i) axes.push_back(static_cast<int64_t>(i));
  return reduce_sum(build, dy, axes, false);
}

}  // namespace dnn
