// StringConcat: two string tensors joined element by element, with broadcasting.
#include "ops/elementwise.h"

namespace dnn::string_concat_ops {
namespace {

void reference(ReferenceContext& context) {
  const Tensor &a = context.input(0), &b = context.input(1);
  if (a.dtype() != DType::String || b.dtype() != DType::String) context.fail("the inputs are not strings");
  const Shape shape = broadcast_shape(context.node, a.shape(), b.shape());
  const auto offsets = broadcast_offsets(shape, {a.shape(), b.shape()});
  Tensor y(DType::String, shape);
  std::vector<std::string>& out = y.mutable_strings();
  for (size_t i = 0; i < out.size(); ++i) out[i] = a.strings()[offsets[0][i]] + b.strings()[offsets[1][i]];
  context.outputs[0] = std::move(y);
}

}  // namespace

OpDef define_StringConcat() {
  OpDef op;
  op.name = "StringConcat";
  op.since = 20;
  op.min_inputs = op.max_inputs = 2;
  op.traits = kNoTraits;
  op.infer = infer_elementwise;
  op.reference = reference;
  return op;
}

}  // namespace dnn::string_concat_ops
