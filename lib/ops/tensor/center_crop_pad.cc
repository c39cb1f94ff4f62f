// CenterCropPad: the middle of a tensor, or the tensor in the middle of zeros, to the extents that are asked for.
#include "ops/elementwise.h"
#include "ops/movement.h"

namespace dnn::center_crop_pad_ops {
namespace {

std::vector<int64_t> crop_axes(const Node& node, size_t rank) {
  std::vector<int64_t> axes = ints_attribute(node, "axes");
  if (!node.has_attribute("axes")) {
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  }
  return checked_axes(node, std::move(axes), rank);
}

std::vector<Dim> cropped_dims(const Node& node, std::vector<Dim> dims, const std::vector<int64_t>& wanted) {
  const std::vector<int64_t> axes = crop_axes(node, dims.size());
  if (axes.size() != wanted.size())
    fail_malformed(node.label(), ": shape ", shape_text(wanted), " for ", axes.size(), " axes");
  element_count(wanted);  // refuses negative extents
  for (size_t i = 0; i < axes.size(); ++i) dims[axes[i]] = Dim(wanted[i]);
  return dims;
}

void infer(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  if (context.has_shape(0)) {
    std::vector<Dim> dims = context.shape(0);
    if (const auto wanted = known_ints(context, 1)) {
      dims = cropped_dims(context.node, std::move(dims), *wanted);
    } else {
      for (int64_t axis : crop_axes(context.node, dims.size())) dims[axis] = Dim();
    }
    type.shape = std::move(dims);
  }
  context.set_output(0, std::move(type));
}

// The input index that output index 0 shows; negative in padding.
int64_t origin(int64_t in, int64_t out) { return in >= out ? (in - out) / 2 : -((out - in) / 2); }

void reference(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  const Shape shape =
      to_shape(cropped_dims(context.node, to_dims(x.shape()), int_values(context.node, context.input(1))));
  const std::vector<int64_t> stride = row_major_strides(x.shape());
  context.outputs[0] = pick(x, shape, [&](size_t axis, int64_t i) {
    const int64_t at = i + origin(x.shape()[axis], shape[axis]);
    return at < 0 || at >= x.shape()[axis] ? kFill : at * stride[axis];
  });
}

void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], y = context.outputs[0];
  if (!has_loops(y) || element_count(x->shape) == 0) return;
  emit_map(context, y, [&](const std::vector<Expr>& d) {
    std::vector<Expr> source;
    Expr inside;
    for (size_t i = 0; i < d.size(); ++i) {
      const int64_t from = origin(x->shape[i], y->shape[i]);
      const Expr at = from == 0 ? d[i] : d[i] + from;
      source.push_back(at);
      if (y->shape[i] <= x->shape[i]) continue;
      const Expr within = at >= 0 && at < x->shape[i];
      inside = inside.defined() ? inside && within : within;
    }
    const Expr value = load(x, source);
    return inside.defined() ? loops::select(inside, value, constant(x->dtype, 0)) : value;
  });
}

}  // namespace

OpDef define_CenterCropPad() {
  OpDef op;
  op.name = "CenterCropPad";
  op.since = 18;
  op.min_inputs = op.max_inputs = 2;
  op.traits = {Trait::Moves};
  op.attributes = {{"axes", optional(AttributeType::Ints), "axes that the shape lists; left out: all"}};
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  return op;
}

}  // namespace dnn::center_crop_pad_ops
