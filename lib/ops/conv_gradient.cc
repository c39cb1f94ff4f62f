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

// The last input position, counted from the first of the padding, that the window reads along an axis.
int64_t last_read(const Window& window, size_t axis) {
  return (window.kernel[axis] - 1) * window.dilations[axis] + (window.output[axis] - 1) * window.strides[axis];
}

// Calls `each` with the part of x, [N, A, ..., B] with its spatial axes at `first`, that a kernel tap reads for all output
// positions; taps come in row-major order.
template <class Each>
void for_each_tap(GraphBuilder& build, ValueId x, size_t first, const Window& window, const Each& each) {
  const size_t rank = window.rank();
  Extents begin(build.shape(x).size(), 0), end = begin, tap(rank, 0);
  for (size_t i = 0; i < rank; ++i) {
    begin[first + i] = window.pad_begin[i];
    end[first + i] = last_read(window, i) + 1 - window.input[i] - window.pad_begin[i];
  }
  const ValueId padded = pad_with_zeros(build, x, begin, end);
  while (true) {
    Extents starts, ends, axes;
    for (size_t i = 0; i < rank; ++i) {
      starts.push_back(tap[i] * window.dilations[i]);
      ends.push_back(starts[i] + (window.output[i] - 1) * window.strides[i] + 1);
      axes.push_back(static_cast<int64_t>(first + i));
    }
    const ValueId part = build.emit(
        "Slice", {padded, build.list(starts), build.list(ends), build.list(axes), build.list(window.strides)});
    each(part);
    size_t axis = rank;
    while (axis > 0 && ++tap[axis - 1] == window.kernel[axis - 1]) tap[--axis] = 0;
    if (axis == 0) return;
  }
}

// One group: for each tap a matrix product over all images and positions, [M, P] x [P, C].
ValueId weight_gradient_by_products(GraphBuilder& build, ValueId x, ValueId dy, const Window& window) {
  const Shape in = build.shape(x), out = build.shape(dy);
  const size_t rank = window.rank();
  const int64_t channels = in[1], units = out[1], positions = element_count(out) / std::max<int64_t>(units, 1);
  std::vector<int64_t> channels_last(rank + 2);
  std::iota(channels_last.begin() + 1, channels_last.end() - 1, int64_t{2});
  channels_last.back() = 1;
  const ValueId rows = reshape_to(build, build.transpose(dy, first_two_swapped(rank + 2)), Shape{units, positions});
  std::vector<ValueId> taps;
  for_each_tap(build, build.transpose(x, channels_last), 1, window, [&](ValueId part) {
    const ValueId product = build.emit("MatMul", {rows, reshape_to(build, part, Shape{positions, channels})});
    taps.push_back(reshape_to(build, product, Shape{units, channels, 1}));
  });
  Shape shape = {units, channels};
  shape.insert(shape.end(), window.kernel.begin(), window.kernel.end());
  return reshape_to(build, build.emit("Concat", std::move(taps), {{"axis", int64_t{2}}}), shape);
}

// As many groups as channels, one unit each: for each tap the sum of products over all images and positions.
ValueId weight_gradient_by_sums(GraphBuilder& build, ValueId x, ValueId dy, const Window& window) {
  const int64_t channels = build.shape(x)[1];
  std::vector<int64_t> axes = {0};
  for (size_t i = 0; i < window.rank(); ++i) axes.push_back(static_cast<int64_t>(i) + 2);
  std::vector<ValueId> taps;
  for_each_tap(build, x, 2, window, [&](ValueId part) {
    taps.push_back(
        reshape_to(build, reduce_sum(build, build.emit("Mul", {part, dy}), axes, false), Shape{channels, 1}));
  });
  Shape shape = {channels, 1};
  shape.insert(shape.end(), window.kernel.begin(), window.kernel.end());
  return reshape_to(build, build.emit("Concat", std::move(taps), {{"axis", int64_t{1}}}), shape);
}

// Any groups: x slides under dy, with the batch in the channels' place.
ValueId weight_gradient_by_sliding(GraphBuilder& build, ValueId x, ValueId dy, const Window& window, int64_t group) {
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
    end.push_back(last_read(window, i) + 1 - window.input[i] - window.pad_begin[i]);
  }
  const ValueId dw = convolve(build, images, filters, window.dilations, window.strides, window.pad_begin, end, group);
  return build.transpose(dw, first_two_swapped(rank + 2));
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
  const int64_t channels = build.shape(x)[1];
  if (group == 1) return weight_gradient_by_products(build, x, dy, window);
  if (group == channels && build.shape(dy)[1] == channels) return weight_gradient_by_sums(build, x, dy, window);
  return weight_gradient_by_sliding(build, x, dy, window, group);
}

ValueId conv_bias_gradient(GraphBuilder& build, ValueId dy) {
  std::vector<int64_t> axes = {0};
  for (size_t i = 2; i < build.shape(dy).size(); ++i) axes.push_back(static_cast<int64_t>(i));
  return reduce_sum(build, dy, axes, false);
}

}  // namespace dnn
