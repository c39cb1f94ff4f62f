// dnn.Gate: what of a gradient goes through a function that cuts off. Inputs dy, y of the same shape, and bounds, one number each, of
// which either may be absent. One node instead of comparisons and a selection, so that no kernel stores a truth value.
//
//   dx = dy where low < y and y < high, else 0; with `closed` also where y is a bound
#include "ops/elementwise.h"
#include "ops/outputs.h"

namespace dnn::gate_ops {
namespace {

void infer(InferContext& context) {
  for (size_t i = 1; i < context.node.inputs.size(); ++i) {
    if (context.has_input(i)) expect_dtype(context, i, context.input(0).dtype);
  }
  context.set_output(0, context.input(0));
}

// The order of two numbers of which one is a bound.
template <class T>
auto inside(const T& low, const T& high, bool closed) {
  return closed ? low <= high : low < high;
}

template <class T>
void gate(ReferenceContext& context) {
  const Tensor &dy = context.input(0), &y = context.input(1);
  if (dy.shape() != y.shape()) context.fail("dy is ", Type(dy).text(), ", y ", Type(y).text());
  const bool closed = flag_attribute(context.node, "closed");
  Tensor dx = allocate_output(context, infer);
  const T *from = dy.data<T>(), *at = y.data<T>();
  T* to = dx.mutable_data<T>();
  const T *low = context.has_input(2) ? context.input(2).data<T>() : nullptr,
          *high = context.has_input(3) ? context.input(3).data<T>() : nullptr;
  share(context.pool, dy.size(), static_cast<double>(dy.size()), [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto value = widen(at[i]);
      const bool in = (low == nullptr || inside(widen(*low), value, closed)) &&
                      (high == nullptr || inside(value, widen(*high), closed));
      to[i] = in ? from[i] : T();
    }
  });
  context.outputs[0] = std::move(dx);
}

void reference(ReferenceContext& context) {
  dispatch_float(context.input(0).dtype(), [&](auto tag) { gate<typename decltype(tag)::type>(context); });
}

loops::Expr element(const Node& node, const std::vector<loops::Expr>& inputs) {
  const bool closed = flag_attribute(node, "closed");
  loops::Expr value = inputs[0];
  const loops::Expr zero = loops::constant(value->dtype, 0);
  if (inputs.size() > 2 && inputs[2].defined())
    value = loops::select(inside(inputs[2], inputs[1], closed), value, zero);
  if (inputs.size() > 3 && inputs[3].defined())
    value = loops::select(inside(inputs[1], inputs[3], closed), value, zero);
  return value;
}

}  // namespace

OpDef define_Gate() {
  OpDef op;
  op.name = "Gate";
  op.domain = kInternalDomain;
  op.min_inputs = 2;
  op.max_inputs = 4;
  op.traits = kNoTraits;
  op.attributes = {{"closed", 0, "the bounds count as inside"}};
  op.infer = infer;
  op.reference = reference;
  op.lower = lower_elementwise;
  op.element = element;
  return op;
}

}  // namespace dnn::gate_ops
