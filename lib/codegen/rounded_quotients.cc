// Rounded quotients by constants; see rounded_quotients.h.
//
// 1 / divisor is a sum of two floats, its rounded value and the rest, so that a product by it, added up in one instruction that rounds once,
// is nearly always the quotient rounded correctly, and is off by one unit in the last place at most. Both grow with x. So the integers that
// they are rounded to can differ only where x / divisor lies within a few units in the last place of a number half way between two integers;
// all such x are tried.
#include "codegen/rounded_quotients.h"

#include <cmath>

namespace dnn::codegen {
namespace {

using namespace loops;

// Integers beyond these are none of 8 bits. Divisors whose reciprocal and its rest are far from overflow and underflow.
constexpr double kMostInteger = 1024, kMostDivisor = 0x1p60;
// Zero points are 8-bit integers, so that such integers are beyond a byte with any of them.
constexpr double kMostSaturated = 512;
// Floats on each side of a number half way that are tried.
constexpr int kNear = 8;

bool is_constant(const Expr& e) { return e->op == Op::Constant && e->dtype == DType::Float32; }

float divided(const RoundedQuotient& r, float x, double low, double high) {
  const float q = x / r.divisor;
  const auto least = static_cast<float>(low), most = static_cast<float>(high);
  const float above = q > least ? q : least;
  return std::nearbyint(above < most ? above : most);
}

float multiplied(const RoundedQuotient& r, float x) {
  const float above = x > r.low ? x : r.low, v = above < r.high ? above : r.high;
  return std::nearbyint(std::fma(v, r.reciprocal, v * r.rest));
}

bool same(const RoundedQuotient& r, double low, double high) {
  for (double k = low - 1; k <= high; ++k) {
    auto x = static_cast<float>((k + 0.5) * static_cast<double>(r.divisor));
    for (int i = 0; i < kNear; ++i) x = std::nextafter(x, -INFINITY);
    for (int i = 0; i <= 2 * kNear; ++i, x = std::nextafter(x, INFINITY)) {
      if (divided(r, x, low, high) != multiplied(r, x)) return false;
    }
  }
  return true;
}

// The quotient by the constant `divisor`, kept between whole numbers low and high.
std::optional<RoundedQuotient> quotient_of(const Expr& quotient, double low, double high) {
  if (quotient->op != Op::Div || quotient->dtype != DType::Float32 || !is_constant(quotient->args[1]))
    return std::nullopt;
  const double divisor = quotient->args[1]->f;
  if (!(low < high) || std::abs(low) > kMostInteger || std::abs(high) > kMostInteger || std::nearbyint(low) != low ||
      std::nearbyint(high) != high || !(divisor > 1 / kMostDivisor && divisor < kMostDivisor))
    return std::nullopt;
  const auto c = static_cast<float>(divisor);
  const float reciprocal = 1 / c;
  const auto rest = static_cast<float>(1 / static_cast<double>(c) - static_cast<double>(reciprocal));
  const RoundedQuotient result = {quotient->args[0],           c, reciprocal, rest, static_cast<float>(low) * c,
                                  static_cast<float>(high) * c};
  return same(result, low, high) ? std::optional(result) : std::nullopt;
}

}  // namespace

std::optional<RoundedQuotient> rounded_quotient(const Expr& real) {
  if (real->op != Op::Min || real->args[0]->op != Op::Max || !is_constant(real->args[1])) return std::nullopt;
  const Expr& kept = real->args[0];
  return is_constant(kept->args[1]) ? quotient_of(kept->args[0], kept->args[1]->f, real->args[1]->f) : std::nullopt;
}

std::optional<RoundedQuotient> saturated_quotient(const Expr& real) {
  return quotient_of(real, -kMostSaturated, kMostSaturated);
}

}  // namespace dnn::codegen
