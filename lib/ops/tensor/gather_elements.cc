// GatherElements and GatherND: elements or slices of a tensor, by index tensors.
#include "ops/indexing.h"
#include "ops/movement.h"

namespace dnn::gather_elements_ops {
namespace {

void infer_elements(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  type.shape = context.input(1).shape;
  context.set_output(0, std::move(type));
}

void reference_elements(ReferenceContext& context) {
  const Tensor &data = context.input(0), &indices = context.input(1);
  if (data.rank() == 0) context.fail("a scalar has no axis to gather from");
  const int64_t axis = checked_axes(context.node, {int_attribute(context.node, "axis")}, data.shape().size())[0];
  context.outputs[0] = take(data, indices.shape(), element_offsets(context.node, data.shape(), indices, axis));
}

size_t batch_dims(const Node& node) {
  const int64_t batch = int_attribute(node, "batch_dims");
  if (batch < 0) fail_malformed(node.label(), ": batch_dims ", batch);
  return batch;
}

// data: [B..., X..., S...], indices: [B..., I..., length of X] -> [B..., I..., S...]
void infer_nd(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  const size_t batch = batch_dims(context.node);
  if (context.has_shape(0) && context.has_shape(1)) {
    const auto &data = context.shape(0), &indices = context.shape(1);
    if (indices.empty() || batch >= indices.size() || batch >= data.size())
      context.fail("indices ", context.input(1).text(), " do not fit data ", context.input(0).text());
    if (indices.back().fixed()) {
      const auto first_inner = static_cast<size_t>(indices.back().size) + batch;
      if (indices.back().size < 1 || first_inner > data.size())
        context.fail("indices ", context.input(1).text(), " do not fit data ", context.input(0).text());
      std::vector<Dim> dims(indices.begin(), indices.end() - 1);
      dims.insert(dims.end(), data.begin() + static_cast<std::ptrdiff_t>(first_inner), data.end());
      type.shape = std::move(dims);
    }
  }
  context.set_output(0, std::move(type));
}

void reference_nd(ReferenceContext& context) {
  const Tensor &data = context.input(0), &indices = context.input(1);
  const size_t batch = batch_dims(context.node);
  const auto [offsets, block] = tuple_offsets(context.node, data.shape(), indices, batch);
  Shape shape(indices.shape().begin(), indices.shape().end() - 1);
  const auto inner = static_cast<std::ptrdiff_t>(batch) + static_cast<std::ptrdiff_t>(indices.shape().back());
  shape.insert(shape.end(), data.shape().begin() + inner, data.shape().end());
  context.outputs[0] = take(data, shape, offsets, block);
}

OpDef define(std::string name, void (*infer)(InferContext&), void (*reference)(ReferenceContext&)) {
  OpDef op;
  op.name = std::move(name);
  op.since = 13;
  op.min_inputs = op.max_inputs = 2;
  op.traits = {Trait::Moves};
  op.infer = infer;
  op.reference = reference;
  return op;
}

}  // namespace

OpDef define_GatherElements() {
  return with_attributes(define("GatherElements", infer_elements, reference_elements),
                         {{"axis", 0, "axis that is indexed"}});
}
OpDef define_GatherND() {
  return with_attributes(define("GatherND", infer_nd, reference_nd),
                         {{"batch_dims", 0, "leading axes that data and indices share"}});
}

}  // namespace dnn::gather_elements_ops
