// Axes and offsets of reductions; see reduce.h.
#include "ops/reduce.h"

namespace dnn {
namespace {

// Row-major offsets over those axes for which `wanted` holds.
std::vector<int64_t> reduced_offsets(const Shape& shape, const std::vector<bool>& reduced, bool wanted) {
  const std::vector<int64_t> strides = row_major_strides(shape);
  std::vector<int64_t> offsets = {0};
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (reduced[axis] != wanted) continue;
    std::vector<int64_t> next;
    next.reserve(offsets.size() * static_cast<size_t>(shape[axis]));
    for (int64_t offset : offsets) {
      for (int64_t i = 0; i < shape[axis]; ++i) next.push_back(offset + i * strides[axis]);
    }
    offsets = std::move(next);
  }
  return offsets;
}

}  // namespace

std::vector<bool> reduced_axes(const Node& node, const Tensor* axes, int64_t rank) {
  std::vector<int64_t> given;
  if (axes != nullptr) given = to_int64s(*axes);
  if (given.empty()) return std::vector<bool>(rank, int_attribute(node, "noop_with_empty_axes") == 0);
  std::vector<bool> reduced(rank, false);
  for (int64_t axis : given) {
    if (axis < -rank || axis >= rank) fail_malformed(node.label(), ": axis ", axis, " is out of range for rank ", rank);
    const size_t at = axis < 0 ? axis + rank : axis;
    if (reduced[at]) fail_malformed(node.label(), ": axis ", axis, " is given twice");
    reduced[at] = true;
  }
  return reduced;
}

ReductionOffsets::ReductionOffsets(const Shape& shape, const std::vector<bool>& reduced)
    : kept(reduced_offsets(shape, reduced, false)), inner(reduced_offsets(shape, reduced, true)) {}

void infer_reduce(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  if (context.has_shape(0)) {
    const std::vector<Dim>& shape = context.shape(0);
    const bool keepdims = flag_attribute(context.node, "keepdims");
    const Tensor* axes = context.known_input(1);
    if (axes != nullptr || !context.has_input(1)) {
      const auto reduced = reduced_axes(context.node, axes, static_cast<int64_t>(shape.size()));
      type.shape = reduced_shape(shape, reduced, keepdims);
    } else if (keepdims) {
      type.shape = std::vector<Dim>(shape.size());
    }
  }
  context.set_output(0, std::move(type));
}

}  // namespace dnn
