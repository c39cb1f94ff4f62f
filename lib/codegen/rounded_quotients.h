// Rounded quotients by constants, as quantising makes of real numbers, without divisions, which take vectors many times as long as
// multiplications.
#pragma once
#include <optional>

#include "loops/ir.h"

namespace dnn::codegen {

// round(min(max(x / divisor, a), b)), halves to even, of a float32 x, with whole numbers a < b. It is the same as
//   v = min(max(x, low), high);  round(fma(v, reciprocal, v * rest))
// for each x, a NaN (a) and infinities among them.
struct RoundedQuotient {
  loops::Expr dividend;
  float divisor, reciprocal, rest, low, high;  // 1 / divisor is reciprocal + rest
};

// The quotient that is about to be rounded; nothing where there is no such quotient, or where the two differ for an x.
std::optional<RoundedQuotient> rounded_quotient(const loops::Expr& real);

// The same of x / divisor where the integer becomes a byte that saturates, zero point added: round(fma(x, reciprocal, x * rest)). Beyond what a byte
// holds the two may differ, but both lie beyond it.
std::optional<RoundedQuotient> saturated_quotient(const loops::Expr& real);

}  // namespace dnn::codegen
