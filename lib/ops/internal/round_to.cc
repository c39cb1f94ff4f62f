// dnn.RoundTo: each number of a float32 tensor as the nearest number that float16 or bfloat16 has, halves to the even one; still as
// float32. Attribute `to` is that type. What float16 cannot hold becomes an infinity. Made where a network runs at reduced precision
// (compile/precision.h).
#include "ops/elementwise.h"
#include "ops/outputs.h"

namespace dnn::round_to_ops {
namespace {

DType target_of(const Node& node) {
  const DType to = dtype_from_onnx(int_attribute(node, "to"));
  if (to != DType::Float16 && to != DType::BFloat16) fail_malformed(node.label(), ": 'to' is ", dtype_name(to));
  return to;
}

void infer(InferContext& context) {
  expect_dtype(context, 0, DType::Float32);
  target_of(context.node);
  context.set_output(0, context.input(0));
}

void reference(ReferenceContext& context) {
  context.outputs[0] = convert(convert(context.input(0), target_of(context.node)), DType::Float32);
}

loops::Expr element(const Node& node, const std::vector<loops::Expr>& inputs) {
  const bool half = target_of(node) == DType::Float16;
  return loops::unary(half ? loops::Op::RoundFloat16 : loops::Op::RoundBFloat16, inputs[0]);
}

}  // namespace

OpDef define_RoundTo() {
  OpDef op;
  op.name = "RoundTo";
  op.domain = kInternalDomain;
  op.traits = {Trait::Moves};
  op.attributes = {{"to", required(AttributeType::Int), "float16 or bfloat16"}};
  op.infer = infer;
  op.reference = reference;
  op.lower = lower_elementwise;
  op.element = element;
  op.no_gradient = true;
  return op;
}

}  // namespace dnn::round_to_ops
