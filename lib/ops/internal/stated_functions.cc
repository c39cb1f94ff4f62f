// dnn.StatedSigmoid, StatedTanh, StatedSwish, StatedErf and StatedGelu: the functions of those names out of sums, products and one quotient, each rounded to float32
// by itself, so that every level, instruction set and device gives the same bits (docs/explanation/integers.md). Made by the pass
// integer-functions, where 8 bits or 16 are kept of what they give, or ("relative") where it leaves the integers.
//
// The divisors are operations of loops (loops/stated.h), so that no text holds an operand more than twice. The sigmoid is within 1e-6, Tanh and
// Swish are within 2e-6, Gelu is within 4e-6, Erf within 1.5e-5. Beyond 20 the sigmoid stays as it is there.
#include "loops/stated.h"

#include <numbers>

#include "ops/elementwise.h"

namespace dnn::stated_functions_ops {
namespace {

using namespace elementwise;

template <class T>
T stated_divisor(T x) {
  return loops::stated_divisor(x);
}
loops::Expr stated_divisor(loops::Expr x) { return loops::unary(loops::Op::StatedDivisor, std::move(x)); }
template <class T>
T stated_normal(T x) {
  return loops::stated_normal(x);
}
loops::Expr stated_normal(loops::Expr x) { return loops::unary(loops::Op::StatedNormal, std::move(x)); }
template <class T>
T stated_exponential(T x) {
  return loops::stated_exponential(x);
}
loops::Expr stated_exponential(loops::Expr x) { return loops::unary(loops::Op::StatedExponential, std::move(x)); }

struct StatedErfOf {
  template <class T>
  T operator()(T x) const {
    return like(x, 2) / stated_normal(x * like(x, std::numbers::sqrt2)) - like(x, 1);
  }
};

struct StatedGeluOf {
  template <class T>
  T operator()(T x) const {
    return x / stated_normal(x);
  }
};

struct StatedSigmoidOf {
  bool relative = false;
  StatedSigmoidOf() = default;
  explicit StatedSigmoidOf(const Node& node) : relative(int_attribute(node, "relative") != 0) {}
  template <class T>
  T operator()(T x) const {
    return like(x, 1) / (relative ? stated_exponential(like(x, 0) - x) + like(x, 1) : stated_divisor(x));
  }
};

struct StatedTanhOf {
  template <class T>
  T operator()(T x) const {
    return like(x, 2) / stated_divisor(x + x) - like(x, 1);
  }
};

struct StatedSwishOf {
  double alpha = 1;
  StatedSwishOf() = default;
  explicit StatedSwishOf(const Node& node) : alpha(float_attribute(node, "alpha")) {}
  template <class T>
  T operator()(T x) const {
    return x / stated_divisor(alpha == 1 ? x : like(x, alpha) * x);
  }
};

template <class Functor>
OpDef stated(std::string name) {
  OpDef op;
  op.name = std::move(name);
  op.domain = kInternalDomain;
  op.traits = {Trait::Activates};
  op.infer = infer_elementwise;
  op.reference = reference_unary<Functor, Domain::Floats>;
  op.lower = lower_elementwise;
  op.element = element_unary<Functor>;
  op.no_gradient = true;
  return op;
}

}  // namespace

OpDef define_StatedErf() { return stated<StatedErfOf>("StatedErf"); }
OpDef define_StatedGelu() { return stated<StatedGeluOf>("StatedGelu"); }
OpDef define_StatedSigmoid() {
  return with_attributes(stated<StatedSigmoidOf>("StatedSigmoid"),
                         {{"relative", 0, "1: errors are small beside each number, not beside 1"}});
}
OpDef define_StatedSwish() {
  return with_attributes(stated<StatedSwishOf>("StatedSwish"), {{"alpha", 1.0F, "factor within the sigmoid"}});
}
OpDef define_StatedTanh() { return stated<StatedTanhOf>("StatedTanh"); }

}  // namespace dnn::stated_functions_ops
