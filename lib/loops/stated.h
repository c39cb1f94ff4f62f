// The arithmetic of functions in their stated form (docs/explanation/integers.md), on single values. Codes print the same sums and products
// (codegen/stated_text.h); each is rounded by itself.
#pragma once

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

}  // namespace dnn::loops
