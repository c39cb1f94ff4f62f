// Max, Min, Sum, Mean of any number of operands, and Clip.
#include "ops/elementwise.h"
#include "ops/gradient.h"

namespace dnn::extrema_ops {
namespace {

struct Largest {
  template <class T>
  T operator()(T a, T b) const {
    return elementwise::maximum(a, b);
  }
  template <class T>
  T finish(T all, double) const {
    return all;
  }
};

struct Smallest : Largest {
  template <class T>
  T operator()(T a, T b) const {
    return elementwise::minimum(a, b);
  }
};

struct Total : Largest {
  template <class T>
  T operator()(T a, T b) const {
    return elementwise::add(a, b);
  }
};

struct Average : Total {
  template <class T>
  T finish(T all, double n) const {
    return all / elementwise::like(all, n);
  }
};

// min(high, max(low, x)), as numpy orders it: where low > high the result is high; a NaN in x stays.
void infer_clip(InferContext& context) {
  for (size_t i = 1; i < 3; ++i) {
    if (!context.has_input(i)) continue;
    const Type& bound = context.input(i);
    if (bound.dtype != DType::Undefined && context.input(0).dtype != DType::Undefined &&
        bound.dtype != context.input(0).dtype) {
      context.fail("bounds of ", dtype_name(bound.dtype), " for ", dtype_name(context.input(0).dtype));
    }
    if (bound.shape && bound.shape->size() > 1) context.fail("bound ", bound.text(), " is not a scalar");
  }
  context.set_output(0, context.input(0));
}

void reference_clip(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  for (size_t i = 1; i < 3; ++i) {
    if (context.has_input(i) && (context.input(i).dtype() != x.dtype() || context.input(i).size() != 1))
      context.fail("a bound is not one ", dtype_name(x.dtype()));
  }
  internal::dispatch_domain<Domain::Numbers>(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const bool has_low = context.has_input(1), has_high = context.has_input(2);
    const Compute<T> low = has_low ? widen(context.input(1).data<T>()[0]) : Compute<T>(),
                     high = has_high ? widen(context.input(2).data<T>()[0]) : Compute<T>();
    Tensor y(x.dtype(), x.shape());
    const T* in = x.data<T>();
    T* out = y.mutable_data<T>();
    for (int64_t i = 0; i < x.size(); ++i) {
      Compute<T> value = widen(in[i]);
      if (has_low) value = elementwise::max(low, value);
      if (has_high) value = elementwise::min(high, value);
      out[i] = static_cast<T>(value);
    }
    context.outputs[0] = std::move(y);
  });
}

loops::Expr element_clip(const Node&, const std::vector<loops::Expr>& inputs) {
  loops::Expr value = inputs[0];
  if (inputs.size() > 1 && inputs[1].defined()) value = loops::max(inputs[1], value);
  if (inputs.size() > 2 && inputs[2].defined()) value = loops::min(inputs[2], value);
  return value;
}

// 1 strictly between the bounds, 0 at and outside them, which the result shows as the operand does; bounds get none.
void gradient_clip(GradientContext& context) {
  if (!context.wants(0)) return;
  context.set(0, gate(context.build, context.dy(), context.output(0), context.input(1), context.input(2)));
}

}  // namespace

OpDef define_Max() {
  OpDef op = variadic_op<Largest, Domain::Numbers>("Max", 13, {Trait::Commutes, Trait::Moves});
  op.lower = lower_elementwise;
  return op;
}
OpDef define_Min() {
  OpDef op = variadic_op<Smallest, Domain::Numbers>("Min", 13, {Trait::Commutes, Trait::Moves});
  op.lower = lower_elementwise;
  return op;
}
OpDef define_Sum() { return variadic_op<Total, Domain::Floats>("Sum", 13, {Trait::Commutes}); }
OpDef define_Mean() { return variadic_op<Average, Domain::Floats>("Mean", 13, {Trait::Commutes}); }

OpDef define_Clip() {
  OpDef op;
  op.name = "Clip";
  op.since = 13;
  op.max_inputs = 3;
  op.traits = {Trait::Activates, Trait::Moves};
  op.infer = infer_clip;
  op.reference = reference_clip;
  op.lower = lower_elementwise;
  op.element = element_clip;
  op.gradient = gradient_clip;
  return op;
}

}  // namespace dnn::extrema_ops
