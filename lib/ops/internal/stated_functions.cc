// dnn.StatedSigmoid, StatedTanh and StatedSwish: the functions of those names out of sums, products and one quotient, each rounded to float32
// by itself, so that every level, instruction set and device gives the same bits (docs/explanation/integers.md). Made by the pass
// integer-functions, where 8 bits or 16 are kept of what they give.
//
// exp(-x) is exp(-x / 32) squared five times, by a polynomial of degree 4 below 20 / 32 (a fit of our own, closest where the sigmoid is
// steep). The sigmoid is within 9e-7, Tanh within 2e-6, Swish within 2e-6. Beyond 20 the sigmoid stays as it is there.
#include "ops/elementwise.h"

namespace dnn::stated_functions_ops {
namespace {

using namespace elementwise;

// 1 + exp(-x)
template <class T>
T stated_divisor(T x) {
  const T c = max(like(x, -20), min(like(x, 20), x));
  T power = like(x, 0x1.534e46p-25);
  for (const double term : {-0x1.55bbdp-18, 0x1.000074p-11, -0x1p-5, 1.0}) power = power * c + like(x, term);
  for (int doubled = 1; doubled < 32; doubled *= 2) power = power * power;
  return like(x, 1) + power;
}

struct StatedSigmoidOf {
  template <class T>
  T operator()(T x) const {
    return like(x, 1) / stated_divisor(x);
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
  OpDef op = unary_op<Functor, Domain::Floats>(std::move(name), 1, {Trait::Activates});
  op.domain = kInternalDomain;
  op.gradient = nullptr;
  op.no_gradient = true;
  return op;
}

}  // namespace

OpDef define_StatedSigmoid() { return stated<StatedSigmoidOf>("StatedSigmoid"); }
OpDef define_StatedSwish() {
  return with_attributes(stated<StatedSwishOf>("StatedSwish"), {{"alpha", 1.0F, "factor within the sigmoid"}});
}
OpDef define_StatedTanh() { return stated<StatedTanhOf>("StatedTanh"); }

}  // namespace dnn::stated_functions_ops
