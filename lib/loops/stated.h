// The arithmetic of functions in their stated form (docs/explanation/integers.md), on single values. Codes print the same sums and products
// (codegen/stated_text.h); each is rounded by itself.
#pragma once
#include <cstdint>

namespace dnn::loops {

// A polynomial of degree 4, highest power first, in the order that waits least for one result with the next: (a x^2 + (b x + c)) x^2 + (d x + e) (Estrin,
// Organization of computer systems: the fixed plus variable structure computer, 1960).
template <class T>
T stated_polynomial(const double (&terms)[5], T x) {
  const auto term = [&](int i) { return static_cast<T>(terms[i]); };
  const T square = x * x, high = x * term(1) + term(2), low = x * term(3) + term(4);
  return (square * term(0) + high) * square + low;
}

// exp(-x / 32): a fit of our own, weighted by what an error does to the sigmoid. So it is close where that is steep, and 1.2e-3 of itself off at the
// bounds, where the sigmoid is 0 or 1.
inline constexpr double kStatedTerms[] = {0x1.534e46p-25, -0x1.55bbdp-18, 0x1.000074p-11, -0x1p-5, 1.0};
inline constexpr double kStatedBound = 20;  // beyond it x counts as the bound
inline constexpr int kStatedSquares = 5;    // of exp(-x / 32)

// x within bounds.
template <class T>
T stated_clamp(T x, double bound) {
  const T high = static_cast<T>(bound), low = static_cast<T>(-bound);
  const T below = high < x ? high : x;
  return low > below ? low : below;
}

// 1 + exp(-x) of an x within the bound.
template <class T>
T stated_power(T x) {
  T power = stated_polynomial(kStatedTerms, x);
  for (int i = 0; i < kStatedSquares; ++i) power = power * power;
  return static_cast<T>(1) + power;
}

// 1 + exp(-x): its reciprocal is within 1e-6 of the sigmoid. Itself it is up to 1.5 % off, at -20.
template <class T>
T stated_divisor(T x) {
  return stated_power(stated_clamp(x, kStatedBound));
}

// The logarithm of P / (1 - P), where P is the standard normal distribution's integral up to x, as an odd polynomial: a fit of our own, weighted by what
// an error does to x P. Beyond the bound x counts as the bound, where P is within 3e-9 of 0 or 1.
inline constexpr double kStatedNormalTerms[] = {0x1.2aad8ap-19, -0x1.ff2abp-15, -0x1.072212p-12, 0x1.2ac2f8p-4,
                                                0x1.987cdcp+0};
inline constexpr double kStatedNormalBound = 5.84375;

// 1 / P: x divided by it is within 4e-6 of Gelu.
template <class T>
T stated_normal(T x) {
  const T c = stated_clamp(x, kStatedNormalBound);
  return stated_power(stated_polynomial(kStatedNormalTerms, c * c) * c);
}

// exp(x) with an error that is small beside it, for what leaves the integers. Reduction by multiples of ln 2 in two parts (Cody and Waite, Software Manual
// for the Elementary Functions, 1980, chapter 6). The power of two is the product of its bits' powers, each of which is exact: so sums and
// products are all that it takes, where each language has other words for the bits of a number.
inline constexpr double kStatedExponent = 80;  // beyond it, above and below, x counts as the bound
inline constexpr double kStatedPerLog2 = 0x1.715476p+0, kStatedLog2High = 0x1.63p-1, kStatedLog2Low = -0x1.bd0106p-13;
// (exp(r) - 1 - r) / r^2 is 1 / 2 and r times this polynomial.
inline constexpr double kStatedExpTerms[] = {0x1.a1a42ep-13, 0x1.6d97ecp-10, 0x1.11108cp-7, 0x1.55547ep-5,
                                             0x1.555556p-3};
inline constexpr double kStatedLeast = 116;                               // 2^-116 is below exp(-80)
inline constexpr int kStatedPowers[] = {64, 64, 64, 32, 16, 8, 4, 2, 1};  // together more than twice that

inline double stated_power_less_1(int bits) { return static_cast<double>(uint64_t{1} << (bits - 1)) * 2 - 1; }

// A number that rounds to an integer as it is added and taken off again.
template <class T>
inline constexpr double kStatedRounder = sizeof(T) == sizeof(double) ? 0x1.8p52 : 0x1.8p23;

template <class T>
T stated_exponential(T x) {
  const auto number = [](double value) { return static_cast<T>(value); };
  const T c = stated_clamp(x, kStatedExponent), rounder = number(kStatedRounder<T>);
  const T n = (c * number(kStatedPerLog2) + rounder) - rounder;
  const T r = (c + n * number(-kStatedLog2High)) + n * number(-kStatedLog2Low);
  const T q = stated_polynomial(kStatedExpTerms, r) * r + number(0.5);
  T power = ((q * (r * r) + r) + number(1)) * number(0x1p-116), left = n + number(kStatedLeast);
  for (const int bits : kStatedPowers) {
    const T reach = left + number(1 - bits), positive = number(0) > reach ? number(0) : reach;
    const T has = number(1) < positive ? number(1) : positive;  // 1 or 0
    power = power * (has * number(stated_power_less_1(bits)) + number(1));
    left = left + has * number(-bits);
  }
  return power;
}

}  // namespace dnn::loops
