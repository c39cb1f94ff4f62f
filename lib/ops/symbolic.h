// Symbolic elements and dual numbers: a functor of elementwise.h, called on these, adds the nodes of its own derivative to
// a graph. So an element-wise operator states its formula once, and has its gradient.
//
// At ties max and min take the derivative of their first operand, select that of the branch its condition picks. NaN has none.
#pragma once
#include "ops/build.h"

namespace dnn::elementwise {

// A tensor of a graph under construction, or one number for all its elements.
struct Symbol {
  GraphBuilder* build = nullptr;
  DType dtype = DType::Undefined;
  ValueId value = kNoValue;  // kNoValue: the number
  double number = 0;

  bool is(double wanted) const { return value == kNoValue && number == wanted; }
  ValueId id() const { return value != kNoValue ? value : build->number(number, dtype); }
};

// Whether something holds, by element; or for all of them.
struct Condition {
  GraphBuilder* build = nullptr;
  ValueId value = kNoValue;  // kNoValue: `always`
  bool always = false;
};

Symbol operator+(const Symbol& a, const Symbol& b);
Symbol operator-(const Symbol& a, const Symbol& b);
Symbol operator*(const Symbol& a, const Symbol& b);
Symbol operator/(const Symbol& a, const Symbol& b);
Symbol operator-(const Symbol& a);
// The node of that operator over `a`.
Symbol apply(const char* op, const Symbol& a);
Condition compare(const char* op, const Symbol& a, const Symbol& b);
Condition operator||(const Condition& a, const Condition& b);
Symbol select(const Condition& c, const Symbol& a, const Symbol& b);

// A value and its derivative along one direction.
struct Dual {
  Symbol value, slope;
};

inline Dual operator+(const Dual& a, const Dual& b) { return {a.value + b.value, a.slope + b.slope}; }
inline Dual operator-(const Dual& a, const Dual& b) { return {a.value - b.value, a.slope - b.slope}; }
inline Dual operator*(const Dual& a, const Dual& b) {
  return {a.value * b.value, a.slope * b.value + a.value * b.slope};
}
Dual operator/(const Dual& a, const Dual& b);
inline Dual operator-(const Dual& a) { return {-a.value, -a.slope}; }
inline Condition operator<(const Dual& a, const Dual& b) { return compare("Less", a.value, b.value); }
inline Condition operator>(const Dual& a, const Dual& b) { return compare("Greater", a.value, b.value); }
inline Condition operator==(const Dual& a, const Dual& b) { return compare("Equal", a.value, b.value); }
inline Dual select(const Condition& c, const Dual& a, const Dual& b) {
  return {select(c, a.value, b.value), select(c, a.slope, b.slope)};
}
Dual like(const Dual& x, double value);
inline Condition is_nan(const Dual& x) { return {x.value.build, kNoValue, false}; }
Dual max(const Dual& a, const Dual& b);
Dual min(const Dual& a, const Dual& b);
Dual abs(const Dual& x);  // 0 at 0
Dual exp(const Dual& x);
Dual log(const Dual& x);
Dual sqrt(const Dual& x);
Dual sin(const Dual& x);
Dual cos(const Dual& x);
Dual tan(const Dual& x);
Dual asin(const Dual& x);
Dual acos(const Dual& x);
Dual atan(const Dual& x);
Dual sinh(const Dual& x);
Dual cosh(const Dual& x);
Dual tanh(const Dual& x);
Dual asinh(const Dual& x);
Dual acosh(const Dual& x);
Dual atanh(const Dual& x);
Dual erf(const Dual& x);
Dual floor(const Dual& x);       // 0 everywhere
Dual ceil(const Dual& x);        // 0 everywhere
Dual round_even(const Dual& x);  // 0 everywhere
// Forms that do not overflow where the formulas in elementwise.h would divide infinities.
Dual sigmoid(const Dual& x);
Dual silu(const Dual& x);
Dual softplus(const Dual& x);

}  // namespace dnn::elementwise

namespace dnn {
struct GradientContext;

namespace internal {
// Input i of the node as a dual number whose slope is the output's gradient where `active`, else 0.
elementwise::Dual dual_input(const GradientContext& context, size_t i, bool active);
// Sets the gradient of input i to the slope, summed over the axes along which the input was broadcast.
void set_slope(GradientContext& context, size_t i, const elementwise::Symbol& slope);
}  // namespace internal

}  // namespace dnn
