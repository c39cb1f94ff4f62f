// The arithmetic of functions in their stated form (docs/explanation/integers.md), on single values. Codes print the same sums and products
// (codegen/stated_text.h); each is rounded by itself.
#pragma once

namespace dnn::loops {

// exp(-x / 32) as a polynomial of degree 4, lowest term last: a fit of our own, weighted by what an error does to the sigmoid. So it is close where
// that is steep, and 1.2e-3 of itself off at the bounds, where the sigmoid is 0 or 1.
inline constexpr double kStatedTerms[] = {0x1.534e46p-25, -0x1.55bbdp-18, 0x1.000074p-11, -0x1p-5, 1.0};
inline constexpr double kStatedBound = 20;  // beyond it x counts as the bound
inline constexpr int kStatedSquares = 5;    // of exp(-x / 32)

// 1 + exp(-x): its reciprocal is within 9e-7 of the sigmoid. Itself it is up to 1.5 % off, at -20.
template <class T>
T stated_divisor(T x) {
  const T high = static_cast<T>(kStatedBound), low = static_cast<T>(-kStatedBound);
  const T below = high < x ? high : x, c = low > below ? low : below;
  T power = static_cast<T>(kStatedTerms[0]);
  for (int i = 1; i < 5; ++i) power = power * c + static_cast<T>(kStatedTerms[i]);
  for (int i = 0; i < kStatedSquares; ++i) power = power * power;
  return static_cast<T>(1) + power;
}

}  // namespace dnn::loops
