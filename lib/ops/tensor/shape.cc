// Identity, Shape, Size: what a tensor is, without looking at its elements.
#include <algorithm>

#include "ops/elementwise.h"

namespace dnn::shape_ops {
namespace {

// Shape's attributes start and end, negative ones counted from the back, clamped to [0, rank].
std::pair<int64_t, int64_t> span_of(const Node& node, int64_t rank) {
  const auto clamp = [rank](int64_t i) { return std::clamp<int64_t>(i < 0 && i >= -rank ? i + rank : i, 0, rank); };
  const int64_t start = clamp(int_attribute(node, "start"));
  return {start, std::max(start, clamp(node.has_attribute("end") ? int_attribute(node, "end") : rank))};
}

Tensor int64_vector(const std::vector<int64_t>& values) {
  return Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values);
}

void infer_shape(InferContext& context) {
  Type type(DType::Int64, {Dim()});
  if (context.has_shape(0)) {
    const std::vector<Dim>& shape = context.shape(0);
    const auto [start, end] = span_of(context.node, static_cast<int64_t>(shape.size()));
    type.shape = std::vector<Dim>{end - start};
    const auto first = shape.begin() + start, last = shape.begin() + end;
    if (std::all_of(first, last, [](const Dim& dim) { return dim.fixed(); })) {
      std::vector<int64_t> extents;
      std::transform(first, last, std::back_inserter(extents), [](const Dim& dim) { return dim.size; });
      context.known_outputs[0] = int64_vector(extents);
    }
  }
  context.set_output(0, std::move(type));
}

void reference_shape(ReferenceContext& context) {
  const Shape& shape = context.input(0).shape();
  const auto [start, end] = span_of(context.node, static_cast<int64_t>(shape.size()));
  context.outputs[0] = int64_vector({shape.begin() + start, shape.begin() + end});
}

void infer_size(InferContext& context) {
  if (context.input(0).fixed())
    context.known_outputs[0] = Tensor::scalar<int64_t>(element_count(context.input(0).fixed_shape()));
  context.set_output(0, Type(DType::Int64, {}));
}

void lower_identity(LowerContext& context) {
  const loops::BufferRef x = context.inputs[0];
  if (!loops::has_arithmetic(x->dtype)) return;
  emit_map(context, context.outputs[0],
           [&](const std::vector<loops::Expr>& indices) { return loops::load(x, indices); });
}

}  // namespace

OpDef define_Identity() {
  OpDef op;
  op.name = "Identity";
  op.since = 25;
  op.traits = {Trait::Moves};
  op.picks = picks_from_first;
  op.infer = [](InferContext& context) {
    context.set_output(0, context.input(0));
    if (const Tensor* value = context.known_input(0)) context.known_outputs[0] = *value;
  };
  op.reference = [](ReferenceContext& context) { context.outputs[0] = context.input(0); };
  op.lower = lower_identity;
  op.element = [](const Node&, const std::vector<loops::Expr>& inputs) { return inputs[0]; };
  op.gradient = [](GradientContext& context) { context.set(0, context.dy()); };
  return op;
}

OpDef define_Shape() {
  OpDef op;
  op.name = "Shape";
  op.since = 25;
  op.traits = kNoTraits;
  op.attributes = {{"end", optional(AttributeType::Int), "axis behind the last that counts; left out: all"},
                   {"start", 0, "first axis that counts"}};
  op.no_gradient = true;
  op.infer = infer_shape;
  op.reference = reference_shape;
  return op;
}

OpDef define_Size() {
  OpDef op;
  op.name = "Size";
  op.since = 25;
  op.traits = kNoTraits;
  op.no_gradient = true;
  op.infer = infer_size;
  op.reference = [](ReferenceContext& context) {
    context.outputs[0] = Tensor::scalar<int64_t>(context.input(0).size());
  };
  return op;
}

}  // namespace dnn::shape_ops
