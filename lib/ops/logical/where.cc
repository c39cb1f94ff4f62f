// Where: elements of the second or the third operand, by a condition; any dtype.
#include "ops/elementwise.h"
#include "ops/gradient.h"

namespace dnn::where_ops {
namespace {

void infer(InferContext& context) {
  const DType condition = context.input(0).dtype, x = context.input(1).dtype, y = context.input(2).dtype;
  if (condition != DType::Undefined && condition != DType::Bool)
    context.fail("the condition is ", dtype_name(condition), ", not bool");
  if (x != DType::Undefined && y != DType::Undefined && x != y)
    context.fail("operands of ", dtype_name(x), " and ", dtype_name(y));
  infer_elementwise(context);
  context.outputs[0].dtype = x != DType::Undefined ? x : y;
}

template <class T>
void choose(const bool* condition, const T* x, const T* y, const std::vector<std::vector<int64_t>>& offsets, T* out) {
  for (size_t i = 0; i < offsets[0].size(); ++i)
    out[i] = condition[offsets[0][i]] ? x[offsets[1][i]] : y[offsets[2][i]];
}

template <size_t n>
struct Element {
  std::byte bytes[n];
};

void reference(ReferenceContext& context) {
  const Tensor &condition = context.input(0), &x = context.input(1), &y = context.input(2);
  if (condition.dtype() != DType::Bool) context.fail("the condition is ", dtype_name(condition.dtype()), ", not bool");
  if (x.dtype() != y.dtype()) context.fail("operands of ", dtype_name(x.dtype()), " and ", dtype_name(y.dtype()));
  const Shape shape =
      broadcast_shape(context.node, broadcast_shape(context.node, condition.shape(), x.shape()), y.shape());
  const auto offsets = broadcast_offsets(shape, {condition.shape(), x.shape(), y.shape()});
  const bool* test = condition.data<bool>();
  Tensor result(x.dtype(), shape);
  const auto move_bytes = [&](auto element) {
    using E = decltype(element);
    choose(test, reinterpret_cast<const E*>(x.bytes().data()), reinterpret_cast<const E*>(y.bytes().data()), offsets,
           reinterpret_cast<E*>(result.mutable_bytes()));
  };
  switch (dtype_size(x.dtype())) {
    case 0: choose(test, x.strings().data(), y.strings().data(), offsets, result.mutable_strings().data()); break;
    case 1: move_bytes(Element<1>()); break;
    case 2: move_bytes(Element<2>()); break;
    case 4: move_bytes(Element<4>()); break;
    case 8: move_bytes(Element<8>()); break;
    default: move_bytes(Element<16>()); break;
  }
  context.outputs[0] = std::move(result);
}

loops::Expr element(const Node&, const std::vector<loops::Expr>& inputs) {
  return loops::select(inputs[0], inputs[1], inputs[2]);
}

void gradient(GradientContext& context) {
  GraphBuilder& build = context.build;
  const ValueId zero = build.number(0, build.dtype(context.dy()));
  for (size_t i : {1, 2}) {
    if (!context.wants(i)) continue;
    const ValueId part =
        build.emit("Where", {context.input(0), i == 1 ? context.dy() : zero, i == 1 ? zero : context.dy()});
    context.set(i, sum_to(build, part, build.shape(context.input(i))));
  }
}

}  // namespace

OpDef define_Where() {
  OpDef op;
  op.name = "Where";
  op.since = 16;
  op.min_inputs = op.max_inputs = 3;
  op.traits = {Trait::Moves};
  op.infer = infer;
  op.reference = reference;
  op.lower = lower_elementwise;
  op.element = element;
  op.gradient = gradient;
  return op;
}

}  // namespace dnn::where_ops
