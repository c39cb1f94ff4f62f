// Permuted axes; see permute.h.
#include "ops/permute.h"

#include <algorithm>

#include "ops/movement.h"

namespace dnn {
namespace {

// Whether the axes that are not removed keep their order; `removed` counts in the model's order.
bool keeps_order(const PermuteContext& context, const std::vector<int64_t>& removed) {
  int64_t last = -1;
  for (int64_t axis : context.perm) {
    if (std::find(removed.begin(), removed.end(), axis) != removed.end()) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

int64_t rank(const PermuteContext& context) { return static_cast<int64_t>(context.perm.size()); }

Tensor list(const std::vector<int64_t>& values) {
  return Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values);
}

// The axes of input `at` after moving, or nothing when they are not known; `axes` gets the model's.
bool move_axes(PermuteContext& context, size_t at, std::vector<int64_t>* axes) {
  const Tensor* tensor = context.constants[at];
  if (tensor == nullptr) return false;
  std::vector<int64_t> moved;
  for (int64_t axis : int_values(context.node, *tensor)) {
    moved.push_back(context.moved(axis));
    axes->push_back(axis < 0 ? axis + rank(context) : axis);
  }
  context.replaced[at] = list(moved);
  return true;
}

bool has_input(const PermuteContext& context, size_t at) { return context.node.input(at) != kNoValue; }

}  // namespace

int64_t PermuteContext::moved(int64_t axis) const {
  const auto n = static_cast<int64_t>(perm.size());
  const int64_t wanted = axis < 0 ? axis + n : axis;
  const auto found = std::find(perm.begin(), perm.end(), wanted);
  if (found == perm.end()) fail_malformed(node.label(), ": axis ", axis, " of a tensor of rank ", n);
  return found - perm.begin();
}

bool permute_nothing(PermuteContext&) { return true; }

bool permute_axis(PermuteContext& context) {
  context.node.attributes["axis"] = context.moved(int_attribute(context.node, "axis"));
  return true;
}

bool permute_reduced_axis(PermuteContext& context) {
  const int64_t axis = int_attribute(context.node, "axis");
  permute_axis(context);
  return flag_attribute(context.node, "keepdims") || keeps_order(context, {axis < 0 ? axis + rank(context) : axis});
}

bool permute_reduced_axes(PermuteContext& context) {
  if (!has_input(context, 1)) return true;  // all axes, or none
  std::vector<int64_t> axes;
  if (!move_axes(context, 1, &axes)) return false;
  return flag_attribute(context.node, "keepdims") || axes.empty() || keeps_order(context, axes);
}

bool permute_squeezed_axes(PermuteContext& context) {
  std::vector<int64_t> axes;
  return has_input(context, 1) && move_axes(context, 1, &axes) && keeps_order(context, axes);
}

bool permute_sliced_axes(PermuteContext& context) {
  std::vector<int64_t> axes;
  if (has_input(context, 3)) return move_axes(context, 3, &axes);
  const Tensor* starts = context.constants[1];
  if (starts == nullptr) return false;
  for (int64_t axis = 0; axis < starts->size(); ++axis) axes.push_back(context.moved(axis));
  context.replaced[3] = list(axes);
  return true;
}

bool permute_pads(PermuteContext& context) {
  std::vector<int64_t> axes;
  if (has_input(context, 3)) return move_axes(context, 3, &axes);
  const Tensor* pads = context.constants[1];
  if (pads == nullptr || pads->size() != 2 * rank(context)) return false;
  const std::vector<int64_t> before = int_values(context.node, *pads);
  std::vector<int64_t> after;
  for (size_t half = 0; half < 2; ++half) {
    for (int64_t axis : context.perm) after.push_back(before[half * context.perm.size() + static_cast<size_t>(axis)]);
  }
  context.replaced[1] = list(after);
  return true;
}

bool permute_listed_axes(PermuteContext& context) {
  std::vector<int64_t> axes = ints_attribute(context.node, "axes");
  if (axes.empty()) return false;
  for (int64_t& axis : axes) axis = context.moved(axis);
  context.node.attributes["axes"] = std::move(axes);
  return true;
}

bool permute_quantized_axis(PermuteContext& context) {
  if (flag_attribute(context.node, "block_size")) return false;
  const Tensor* scale = context.constants[1];
  if (scale == nullptr) return false;
  return scale->rank() == 0 || permute_axis(context);
}

}  // namespace dnn
