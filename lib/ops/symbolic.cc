// Derivatives by nodes; see symbolic.h.
#include "ops/symbolic.h"

#include "ops/gradient.h"
#include "ops/op.h"

namespace dnn::elementwise {
namespace {

Symbol node(const char* op, const Symbol& a, const Symbol& b) {
  return {a.build, a.dtype, a.build->emit(op, {a.id(), b.id()}), 0};
}
Symbol number_like(const Symbol& a, double value) { return {a.build, a.dtype, kNoValue, value}; }
bool both_numbers(const Symbol& a, const Symbol& b) { return a.value == kNoValue && b.value == kNoValue; }
bool same(const Symbol& a, const Symbol& b) {
  return a.value == b.value && (a.value != kNoValue || a.number == b.number);
}

}  // namespace

Symbol operator+(const Symbol& a, const Symbol& b) {
  if (both_numbers(a, b)) return number_like(a, a.number + b.number);
  return a.is(0) ? b : b.is(0) ? a : node("Add", a, b);
}
Symbol operator-(const Symbol& a, const Symbol& b) {
  if (both_numbers(a, b)) return number_like(a, a.number - b.number);
  return b.is(0) ? a : a.is(0) ? -b : node("Sub", a, b);
}
Symbol operator*(const Symbol& a, const Symbol& b) {
  if (both_numbers(a, b)) return number_like(a, a.number * b.number);
  if (a.is(0) || b.is(0)) return number_like(a, 0);
  return a.is(1) ? b : b.is(1) ? a : node("Mul", a, b);
}
Symbol operator/(const Symbol& a, const Symbol& b) {
  if (both_numbers(a, b)) return number_like(a, a.number / b.number);
  return a.is(0) || b.is(1) ? a : node("Div", a, b);
}
Symbol operator-(const Symbol& a) { return a.value == kNoValue ? number_like(a, -a.number) : apply("Neg", a); }

Symbol apply(const char* op, const Symbol& a) { return {a.build, a.dtype, a.build->emit(op, {a.id()}), 0}; }

Condition compare(const char* op, const Symbol& a, const Symbol& b) {
  return {a.build, a.build->emit(op, {a.id(), b.id()}), false};
}

Condition operator||(const Condition& a, const Condition& b) {
  if (a.value == kNoValue) return a.always ? a : b;
  if (b.value == kNoValue) return b.always ? b : a;
  return {a.build, a.build->emit("Or", {a.value, b.value}), false};
}

Symbol select(const Condition& c, const Symbol& a, const Symbol& b) {
  if (c.value == kNoValue) return c.always ? a : b;
  if (same(a, b)) return a;
  return {a.build, a.dtype, a.build->emit("Where", {c.value, a.id(), b.id()}), 0};
}

Dual operator/(const Dual& a, const Dual& b) {
  const Symbol quotient = a.value / b.value;
  return {quotient, (a.slope - quotient * b.slope) / b.value};
}

Dual like(const Dual& x, double value) { return {number_like(x.value, value), number_like(x.value, 0)}; }

Dual max(const Dual& a, const Dual& b) { return select(compare("GreaterOrEqual", a.value, b.value), a, b); }
Dual min(const Dual& a, const Dual& b) { return select(compare("LessOrEqual", a.value, b.value), a, b); }
Dual abs(const Dual& x) { return {apply("Abs", x.value), apply("Sign", x.value) * x.slope}; }
Dual exp(const Dual& x) {
  const Symbol y = apply("Exp", x.value);
  return {y, y * x.slope};
}
Dual log(const Dual& x) { return {apply("Log", x.value), x.slope / x.value}; }
Dual sqrt(const Dual& x) {
  const Symbol y = apply("Sqrt", x.value);
  return {y, x.slope / (number_like(y, 2) * y)};
}
Dual sin(const Dual& x) { return {apply("Sin", x.value), apply("Cos", x.value) * x.slope}; }
Dual cos(const Dual& x) { return {apply("Cos", x.value), -(apply("Sin", x.value) * x.slope)}; }
Dual tan(const Dual& x) {
  const Symbol y = apply("Tan", x.value);
  return {y, (number_like(y, 1) + y * y) * x.slope};
}
namespace {
Symbol one_minus_square(const Symbol& x) { return number_like(x, 1) - x * x; }
}  // namespace
Dual asin(const Dual& x) { return {apply("Asin", x.value), x.slope / apply("Sqrt", one_minus_square(x.value))}; }
Dual acos(const Dual& x) { return {apply("Acos", x.value), -(x.slope / apply("Sqrt", one_minus_square(x.value)))}; }
Dual atan(const Dual& x) { return {apply("Atan", x.value), x.slope / (number_like(x.value, 1) + x.value * x.value)}; }
Dual sinh(const Dual& x) { return {apply("Sinh", x.value), apply("Cosh", x.value) * x.slope}; }
Dual cosh(const Dual& x) { return {apply("Cosh", x.value), apply("Sinh", x.value) * x.slope}; }
Dual tanh(const Dual& x) {
  const Symbol y = apply("Tanh", x.value);
  return {y, one_minus_square(y) * x.slope};
}
Dual asinh(const Dual& x) {
  return {apply("Asinh", x.value), x.slope / apply("Sqrt", number_like(x.value, 1) + x.value * x.value)};
}
Dual acosh(const Dual& x) {
  return {apply("Acosh", x.value), x.slope / apply("Sqrt", x.value * x.value - number_like(x.value, 1))};
}
Dual atanh(const Dual& x) { return {apply("Atanh", x.value), x.slope / one_minus_square(x.value)}; }
Dual erf(const Dual& x) {
  constexpr double kTwoOverRootPi = 1.1283791670955125739;
  return {apply("Erf", x.value), number_like(x.value, kTwoOverRootPi) * apply("Exp", -(x.value * x.value)) * x.slope};
}
Dual floor(const Dual& x) { return {apply("Floor", x.value), number_like(x.value, 0)}; }
Dual ceil(const Dual& x) { return {apply("Ceil", x.value), number_like(x.value, 0)}; }
Dual round_even(const Dual& x) { return {apply("Round", x.value), number_like(x.value, 0)}; }
Dual sigmoid(const Dual& x) {
  const Symbol y = apply("Sigmoid", x.value);
  return {y, y * (number_like(y, 1) - y) * x.slope};
}
Dual silu(const Dual& x) {
  const Symbol gate = apply("Sigmoid", x.value), one = number_like(gate, 1);
  return {x.value * gate, gate * (one + x.value * (one - gate)) * x.slope};
}
Dual softplus(const Dual& x) { return {apply("Softplus", x.value), apply("Sigmoid", x.value) * x.slope}; }

}  // namespace dnn::elementwise

namespace dnn::internal {

elementwise::Dual dual_input(const GradientContext& context, size_t i, bool active) {
  const ValueId x = context.input(i);
  const DType dtype = context.build.dtype(x);
  const elementwise::Symbol slope = {&context.build, dtype, active ? context.dy() : kNoValue, 0};
  return {{&context.build, dtype, x, 0}, slope};
}

void set_slope(GradientContext& context, size_t i, const elementwise::Symbol& slope) {
  if (slope.is(0)) return;
  context.set(i, sum_to(context.build, slope.id(), context.build.shape(context.input(i))));
}

}  // namespace dnn::internal
