// TFLite's fixed-point products; see fixed_point.h.
#include "ops/fixed_point.h"

#include <algorithm>
#include <cmath>

namespace dnn {
namespace {

// All but the first shift is done in 64 bits, where nothing overflows. With h = (x * multiplier + 2^30) >> 31, dividing by 2^right with
// halves away from zero is (2 h + 2^right - (x < 0)) >> (right + 1), for right = 0 too; where h is 0 the sign of x changes nothing.
constexpr int kFraction = 31;

}  // namespace

FixedPoint FixedPoint::of(double factor) {
  if (factor == 0) return {};
  FixedPoint result;
  const double mantissa = std::frexp(factor, &result.shift);
  int64_t fixed = std::llround(mantissa * static_cast<double>(int64_t{1} << kFraction));
  if (fixed == int64_t{1} << kFraction) {
    fixed /= 2;
    ++result.shift;
  }
  if (result.shift < -kFraction) return {};
  result.multiplier = static_cast<int32_t>(fixed);
  return result;
}

int32_t multiplied(int32_t x, FixedPoint factor) {
  const int left = std::max(factor.shift, 0), right = std::max(-factor.shift, 0);
  const auto moved = static_cast<int32_t>(static_cast<uint32_t>(x) << left);
  const int64_t high = (int64_t{moved} * factor.multiplier + (int64_t{1} << (kFraction - 1))) >> kFraction;
  return static_cast<int32_t>((2 * high + (int64_t{1} << right) + (moved >> kFraction)) >> (right + 1));
}

loops::Expr multiplied(const loops::Expr& x, const loops::Expr& multiplier, const loops::Expr& shift) {
  using loops::Op;
  const auto wide = [](const loops::Expr& e) { return loops::cast(DType::Int64, e); };
  const auto number = [](int64_t n) { return loops::constant_int(DType::Int64, n); };
  const loops::Expr none = loops::constant_int(DType::Int32, 0);
  const loops::Expr left = loops::max(shift, none), right = wide(loops::max(none - shift, none));
  const loops::Expr moved = wide(loops::binary(Op::ShiftLeft, x, left));
  const loops::Expr high = loops::binary(
      Op::ShiftRight, moved * wide(multiplier) + number(int64_t{1} << (kFraction - 1)), number(kFraction));
  const loops::Expr half = loops::binary(Op::ShiftLeft, number(1), right),
                    sign = loops::binary(Op::ShiftRight, moved, number(kFraction));
  return loops::cast(DType::Int32, loops::binary(Op::ShiftRight, high * number(2) + half + sign, right + number(1)));
}

loops::Expr multiplied(const loops::Expr& x, FixedPoint factor) {
  return multiplied(x, loops::constant_int(DType::Int32, factor.multiplier),
                    loops::constant_int(DType::Int32, factor.shift));
}

int64_t rounded_away(float value) { return std::llround(value); }

// Half a step is exact, and so is what is left over: one more where an even number was nearer to zero.
loops::Expr rounded_away(const loops::Expr& value) {
  const auto number = [&](double x) { return loops::constant(value->dtype, x); };
  const loops::Expr even = loops::unary(loops::Op::RoundEven, value), rest = value - even;
  return loops::select(value > number(0) && rest == number(0.5), even + number(1),
                       loops::select(value < number(0) && rest == number(-0.5), even - number(1), even));
}

}  // namespace dnn
