// dnn.FakeQuantize: real numbers as integers of a scale stand for them, still real. Inputs x and scale, which is broadcast to x; attributes
// `low` and `high`, the ends of the integers less the zero point. Made by training with quantisation (lib/train/quantize.h).
//
//   y = min(max(round(x / scale), low), high) * scale
//
// round() takes halves to the even number. Gradient of x: straight through where x rounds to an integer between the ends, 0 where it is cut
// off; the scale gets none.
//
// dnn.StopGradient: its input, of which no gradient is asked.
#include "ops/elementwise.h"
#include "ops/gradient.h"

namespace dnn::fake_quantize_ops {
namespace {

struct Through {
  explicit Through(const Node& node)
      : low(static_cast<double>(int_attribute(node, "low"))), high(static_cast<double>(int_attribute(node, "high"))) {}
  template <class T>
  T operator()(T x, T scale) const {
    using namespace elementwise;
    return min(max(round_even(x / scale), like(x, low)), like(x, high)) * scale;
  }
  double low, high;
};

struct Same {
  template <class T>
  T operator()(T x) const {
    return x;
  }
};

void gradient(GradientContext& context) {
  if (!context.wants(0)) return;
  GraphBuilder& build = context.build;
  const DType dtype = build.dtype(context.dy());
  const Through ends(context.node);
  const ValueId steps = build.emit("Div", {context.input(0), context.input(1)});
  const auto number = [&](double value) { return build.number(value, dtype); };
  context.set(0, gate(build, context.dy(), steps, number(ends.low - 0.5), number(ends.high + 0.5), true));
}

}  // namespace

OpDef define_FakeQuantize() {
  OpDef op;
  op.name = "FakeQuantize";
  op.domain = kInternalDomain;
  op.min_inputs = op.max_inputs = 2;
  op.traits = kNoTraits;
  op.attributes = {{"low", required(AttributeType::Int), "the least integer less the zero point"},
                   {"high", required(AttributeType::Int), "the largest"}};
  op.infer = infer_elementwise;
  op.reference = reference_binary<Through, Domain::Floats>;
  op.lower = lower_elementwise;
  op.element = element_binary<Through>;
  op.gradient = gradient;
  return op;
}

OpDef define_StopGradient() {
  OpDef op = unary_op<Same, Domain::Floats>("StopGradient", 1, {Trait::Moves});
  op.domain = kInternalDomain;
  op.gradient = nullptr;
  op.no_gradient = true;
  return op;
}

}  // namespace dnn::fake_quantize_ops
