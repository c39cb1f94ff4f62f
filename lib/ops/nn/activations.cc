// Activations: element-wise functions of one operand with constants as attributes; PRelu and SwiGLU have a second operand.
#include "ops/elementwise.h"
#include "ops/gradient.h"

namespace dnn::activations_ops {
namespace {

struct Rectify {
  template <class T>
  T operator()(T x) const {
    using elementwise::max;
    return max(elementwise::like(x, 0), x);  // a NaN stays a NaN
  }
};

struct LeakyRectify {
  double alpha = 0;
  LeakyRectify() = default;
  explicit LeakyRectify(const Node& node) : alpha(float_attribute(node, "alpha")) {}
  template <class T>
  T operator()(T x) const {
    using namespace elementwise;
    return select(x < like(x, 0), like(x, alpha) * x, x);
  }
};

struct Exponential {  // Elu
  double alpha = 0;
  Exponential() = default;
  explicit Exponential(const Node& node) : alpha(float_attribute(node, "alpha")) {}
  template <class T>
  T operator()(T x) const {
    using namespace elementwise;
    return select(x < like(x, 0), like(x, alpha) * (exp(x) - like(x, 1)), x);
  }
};

struct ScaledExponential {  // Selu
  double alpha = 0, gamma = 0;
  ScaledExponential() = default;
  explicit ScaledExponential(const Node& node)
      : alpha(float_attribute(node, "alpha")), gamma(float_attribute(node, "gamma")) {}
  template <class T>
  T operator()(T x) const {
    using namespace elementwise;
    return select(x > like(x, 0), like(x, gamma) * x, like(x, gamma) * (like(x, alpha) * exp(x) - like(x, alpha)));
  }
};

struct ContinuousExponential {  // Celu
  double alpha = 1;
  ContinuousExponential() = default;
  explicit ContinuousExponential(const Node& node) : alpha(float_attribute(node, "alpha")) {}
  template <class T>
  T operator()(T x) const {
    using namespace elementwise;
    const T a = like(x, alpha), zero = like(x, 0);
    return max(zero, x) + min(zero, a * (exp(x / a) - like(x, 1)));
  }
};

struct Threshold {
  double alpha = 0;
  Threshold() = default;
  explicit Threshold(const Node& node) : alpha(float_attribute(node, "alpha")) {}
  template <class T>
  T operator()(T x) const {
    using namespace elementwise;
    return select(x > like(x, alpha), x, like(x, 0));
  }
};

// A line clipped to [0, 1]; a NaN stays a NaN.
template <class T>
T clipped_line(T x, double slope, double offset) {
  using namespace elementwise;
  return max(like(x, 0), min(like(x, 1), like(x, slope) * x + like(x, offset)));
}

struct HardSigmoidOf {
  double alpha = 0, beta = 0;
  HardSigmoidOf() = default;
  explicit HardSigmoidOf(const Node& node)
      : alpha(float_attribute(node, "alpha")), beta(float_attribute(node, "beta")) {}
  template <class T>
  T operator()(T x) const {
    return clipped_line(x, alpha, beta);
  }
};

struct HardSwishOf {
  template <class T>
  T operator()(T x) const {
    return x * clipped_line(x, 1.0 / 6, 0.5);
  }
};

struct SigmoidOf {
  template <class T>
  T operator()(T x) const {
    return elementwise::sigmoid(x);
  }
};

struct SoftplusOf {
  template <class T>
  T operator()(T x) const {
    return elementwise::softplus(x);
  }
};

struct SoftsignOf {
  template <class T>
  T operator()(T x) const {
    using namespace elementwise;
    return x / (like(x, 1) + abs(x));
  }
};

struct GeluOf {
  bool tanh_form = false;
  GeluOf() = default;
  explicit GeluOf(const Node& node) {
    const std::string approximate = string_attribute(node, "approximate");
    if (approximate != "none" && approximate != "tanh")
      fail_malformed(node.label(), ": approximate is ", quoted(approximate), ", not none or tanh");
    tanh_form = approximate == "tanh";
  }
  template <class T>
  T operator()(T x) const {
    using namespace elementwise;
    constexpr double kSqrtHalf = 0.70710678118654752440, kSqrtTwoOverPi = 0.79788456080286535588;
    const T one = like(x, 1), half = like(x, 0.5);
    if (tanh_form) {
      const T inner = like(x, kSqrtTwoOverPi) * (x + like(x, 0.044715) * x * x * x);
      return half * x * (one + tanh(inner));
    }
    return half * x * (one + erf(x * like(x, kSqrtHalf)));
  }
};

struct MishOf {
  template <class T>
  T operator()(T x) const {
    using namespace elementwise;
    return x * tanh(softplus(x));
  }
};

struct SwishOf {
  double alpha = 1;
  SwishOf() = default;
  explicit SwishOf(const Node& node) : alpha(float_attribute(node, "alpha")) {}
  template <class T>
  T operator()(T x) const {
    using namespace elementwise;
    return alpha == 1 ? silu(x) : x * sigmoid(like(x, alpha) * x);
  }
};

struct GatedSwish {  // SwiGLU
  SwishOf swish;
  GatedSwish() = default;
  explicit GatedSwish(const Node& node) : swish(node) {}
  template <class T>
  T operator()(T gate, T value) const {
    return swish(gate) * value;
  }
};

struct ShrinkOf {
  double bias = 0, lambd = 0;
  ShrinkOf() = default;
  explicit ShrinkOf(const Node& node) : bias(float_attribute(node, "bias")), lambd(float_attribute(node, "lambd")) {}
  template <class T>
  T operator()(T x) const {
    using namespace elementwise;
    return select(x < like(x, -lambd), x + like(x, bias), select(x > like(x, lambd), x - like(x, bias), like(x, 0)));
  }
};

struct ParametricRectify {
  template <class T>
  T operator()(T x, T slope) const {
    using namespace elementwise;
    return select(x < like(x, 0), multiply(slope, x), x);
  }
};

// The second operand may be broadcast to the first one's shape, not beyond it.
void infer_first_shape(InferContext& context) {
  Type type = context.input(0);
  if (context.has_shape(0) && context.has_shape(1)) {
    const std::vector<Dim>& dims = context.shape(0);
    const std::vector<Dim> both = broadcast_dims(context.node, dims, context.shape(1));
    bool fits = both.size() == dims.size();
    for (size_t i = 0; fits && i < dims.size(); ++i)
      fits = !dims[i].fixed() || !both[i].fixed() || dims[i].size == both[i].size;
    if (!fits) context.fail(context.input(1).text(), " does not broadcast to ", context.input(0).text());
  }
  context.set_output(0, std::move(type));
}

template <class Functor, Domain domain, bool same_shape>
OpDef first_shape_op(std::string name, int since, Traits traits) {
  OpDef op = binary_op<Functor, domain>(std::move(name), since, traits);
  op.infer = infer_first_shape;
  op.reference = [](ReferenceContext& context) {
    const Shape &x = context.input(0).shape(), &y = context.input(1).shape();
    if (same_shape ? x != y : broadcast_shape(context.node, x, y) != x)
      context.fail(shape_text(y), " does not fit ", shape_text(x));
    reference_binary<Functor, domain>(context);
  };
  return op;
}

}  // namespace

OpDef define_Celu() {
  return with_attributes(
      unary_op<ContinuousExponential, Domain::Floats>("Celu", 28, {Trait::Activates, Trait::Float32}),
      {{"alpha", 1.0F, "scale of the exponential"}});
}
OpDef define_Elu() {
  return with_attributes(unary_op<Exponential, Domain::Floats>("Elu", 22, {Trait::Activates}),
                         {{"alpha", 1.0F, "factor of exp(x) - 1"}});
}
OpDef define_Gelu() {
  return with_attributes(unary_op<GeluOf, Domain::Floats>("Gelu", 20, {Trait::Activates}),
                         {{"approximate", "none", "none or tanh"}});
}
OpDef define_HardSigmoid() {
  return with_attributes(unary_op<HardSigmoidOf, Domain::Floats>("HardSigmoid", 22, {Trait::Activates}),
                         {{"alpha", 0.2F, "slope"}, {"beta", 0.5F, "value at 0"}});
}
OpDef define_HardSwish() { return unary_op<HardSwishOf, Domain::Floats>("HardSwish", 22, {Trait::Activates}); }
OpDef define_LeakyRelu() {
  return with_attributes(unary_op<LeakyRectify, Domain::Floats>("LeakyRelu", 16, {Trait::Activates}),
                         {{"alpha", 0.01F, "slope below 0"}});
}
OpDef define_Mish() { return unary_op<MishOf, Domain::Floats>("Mish", 22, {Trait::Activates}); }
OpDef define_PRelu() {
  return first_shape_op<ParametricRectify, Domain::Numbers, false>("PRelu", 16, {Trait::Activates});
}
OpDef define_Relu() {
  OpDef op = unary_op<Rectify, Domain::Numbers>("Relu", 14, {Trait::Activates, Trait::Moves});
  op.gradient = [](GradientContext& context) {
    GraphBuilder& build = context.build;
    const ValueId y = context.output(0);
    // By its result, so that nothing needs what it was made of.
    if (context.wants(0)) context.set(0, gate(build, context.dy(), y, build.number(0, build.dtype(y)), kNoValue));
  };
  return op;
}
OpDef define_Selu() {
  return with_attributes(unary_op<ScaledExponential, Domain::Floats>("Selu", 22, {Trait::Activates}),
                         {{"alpha", 1.67326319217681884765625F, "factor of exp(x) - 1"},
                          {"gamma", 1.05070102214813232421875F, "factor of the whole"}});
}
OpDef define_Shrink() {
  return with_attributes(
      unary_op<ShrinkOf, Domain::Floats>("Shrink", 9, {Trait::Moves}),
      {{"bias", 0.0F, "what values move towards 0 by"}, {"lambd", 0.5F, "values within it become 0"}});
}
OpDef define_Sigmoid() { return unary_op<SigmoidOf, Domain::Floats>("Sigmoid", 13, {Trait::Activates}); }
OpDef define_Softplus() { return unary_op<SoftplusOf, Domain::Floats>("Softplus", 22, {Trait::Activates}); }
OpDef define_Softsign() { return unary_op<SoftsignOf, Domain::Floats>("Softsign", 22, {Trait::Activates}); }
OpDef define_SwiGLU() {
  return with_attributes(first_shape_op<GatedSwish, Domain::Floats, true>("SwiGLU", 28, kNoTraits),
                         {{"alpha", 1.0F, "factor within the sigmoid"}});
}
OpDef define_Swish() {
  return with_attributes(unary_op<SwishOf, Domain::Floats>("Swish", 24, {Trait::Activates}),
                         {{"alpha", 1.0F, "factor within the sigmoid"}});
}
OpDef define_ThresholdedRelu() {
  return with_attributes(unary_op<Threshold, Domain::Floats>("ThresholdedRelu", 22, {Trait::Moves}),
                         {{"alpha", 1.0F, "values up to it become 0"}});
}

}  // namespace dnn::activations_ops
