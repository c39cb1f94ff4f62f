// TFLite's fixed-point arithmetic: real factors as an integer of 31 bits and a power of two, products that are rounded twice. Written
// once, on numbers and as loops, so that interpreter and kernels give the same bits.
#pragma once
#include <cstdint>

#include "loops/ir.h"

namespace dnn {

// multiplier * 2^(shift - 31); the multiplier is 0 or at least 2^30, the shift lies between -31 and 30.
struct FixedPoint {
  int32_t multiplier = 0;
  int shift = 0;

  // The nearest to a factor that is not negative, as TFLite's QuantizeMultiplier; 0 where it is below 2^-32.
  static FixedPoint of(double factor);
};

// x times the factor, as TFLite's MultiplyByQuantizedMultiplier with two roundings: x shifted left wraps in 32 bits, the high half of
// the doubled product is rounded up at the middle, and what is shifted right is rounded away from zero there.
int32_t multiplied(int32_t x, FixedPoint factor);
// The same of an expression of int32.
loops::Expr multiplied(const loops::Expr& x, FixedPoint factor);
loops::Expr multiplied(const loops::Expr& x, const loops::Expr& multiplier, const loops::Expr& shift);

// The nearest integer, halves away from zero: C's round().
int64_t rounded_away(float value);
// The same of an expression of float32 or float64, as a real number.
loops::Expr rounded_away(const loops::Expr& value);

}  // namespace dnn
