// Shared steps of gradients; see gradient.h.
#include "ops/gradient.h"

#include <algorithm>
#include <limits>

namespace dnn {

ValueId reduce_sum(GraphBuilder& build, ValueId v, const std::vector<int64_t>& axes, bool keepdims) {
  return build.emit("ReduceSum", {v, build.list(axes)}, {{"keepdims", int64_t{keepdims ? 1 : 0}}});
}

ValueId reshape_to(GraphBuilder& build, ValueId v, const Shape& shape) {
  if (build.shape(v) == shape) return v;
  return build.emit("Reshape", {v, build.list(shape)}, {{"allowzero", int64_t{1}}});
}

ValueId expand_to(GraphBuilder& build, ValueId v, const Shape& shape) {
  return build.shape(v) == shape ? v : build.emit("Expand", {v, build.list(shape)});
}

std::vector<ValueId> channel_sums(GraphBuilder& build, ValueId a, ValueId b, ValueId shift) {
  Node node;
  node.op = "ChannelSums";
  node.domain = kInternalDomain;
  node.inputs = b == kNoValue ? std::vector<ValueId>{a} : std::vector<ValueId>{a, b, shift};
  std::vector<std::string> names = {build.name() + "/sum"};
  if (b != kNoValue) names.push_back(build.name() + "/product");
  return build.add(std::move(node), names);
}

ValueId sum_to(GraphBuilder& build, ValueId v, const Shape& shape) {
  const Shape from = build.shape(v);
  if (from == shape) return v;
  const size_t missing = from.size() - shape.size();
  std::vector<int64_t> axes;
  for (size_t i = 0; i < from.size(); ++i) {
    if (i < missing || (shape[i - missing] == 1 && from[i] != 1)) axes.push_back(static_cast<int64_t>(i));
  }
  const bool channels = from.size() > 2 && axes.size() == from.size() - 1 &&
                        std::find(axes.begin(), axes.end(), int64_t{1}) == axes.end();
  if (channels) {
    v = channel_sums(build, v)[0];
  } else if (!axes.empty()) {
    v = reduce_sum(build, v, axes, true);
  }
  return reshape_to(build, v, shape);
}

ValueId gate(GraphBuilder& build, ValueId dy, ValueId y, ValueId low, ValueId high, bool closed) {
  if (low == kNoValue && high == kNoValue) return dy;
  Node node;
  node.op = "Gate";
  node.domain = kInternalDomain;
  node.inputs = {dy, y, low, high};
  if (high == kNoValue) node.inputs.pop_back();
  node.attributes["closed"] = int64_t{closed ? 1 : 0};
  return build.add(std::move(node), {build.name() + "/gated"})[0];
}

ValueId zeros_like(GraphBuilder& build, ValueId v) {
  return expand_to(build, build.number(0, build.dtype(v)), build.shape(v));
}

ValueId pad_with_zeros(GraphBuilder& build, ValueId v, const std::vector<int64_t>& begin,
                       const std::vector<int64_t>& end) {
  std::vector<int64_t> pads = begin;
  pads.insert(pads.end(), end.begin(), end.end());
  if (std::all_of(pads.begin(), pads.end(), [](int64_t pad) { return pad == 0; })) return v;
  return build.emit("Pad", {v, build.list(pads)});
}

ValueId strided_slice(GraphBuilder& build, ValueId v, size_t axis, int64_t start, int64_t count, int64_t step) {
  const Shape shape = build.shape(v);
  if (start == 0 && step == 1 && count == shape[axis]) return v;
  return build.emit("Slice", {v, build.list({start}), build.list({start + (count - 1) * step + 1}),
                              build.list({static_cast<int64_t>(axis)}), build.list({step})});
}

ValueId spread(GraphBuilder& build, ValueId v, const std::vector<size_t>& axes, const std::vector<int64_t>& steps) {
  if (std::all_of(steps.begin(), steps.end(), [](int64_t step) { return step == 1; })) return v;
  const Shape shape = build.shape(v);
  Shape apart, together = shape;
  std::vector<int64_t> end;
  for (size_t i = 0; i < shape.size(); ++i) {
    apart.push_back(shape[i]);
    end.push_back(0);
    const auto found = std::find(axes.begin(), axes.end(), i);
    if (found == axes.end()) continue;
    const int64_t step = steps[found - axes.begin()];
    apart.push_back(1);
    end.push_back(step - 1);
    together[i] *= step;
  }
  v = pad_with_zeros(build, reshape_to(build, v, apart), std::vector<int64_t>(apart.size(), 0), end);
  return reshape_to(build, v, together);
}

ValueId reversed(GraphBuilder& build, ValueId v, size_t axis) {
  if (build.shape(v)[axis] == 1) return v;
  return build.emit("Slice", {v, build.list({-1}), build.list({std::numeric_limits<int64_t>::min() + 1}),
                              build.list({static_cast<int64_t>(axis)}), build.list({-1})});
}

}  // namespace dnn
