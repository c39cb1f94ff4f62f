// Rounded quotients by constants: which are made without a division, and that these give its numbers.
#include "codegen/rounded_quotients.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace dnn::codegen {
namespace {

using namespace loops;

Expr real(double divisor, double low, double high) {
  const auto number = [](double v) { return constant(DType::Float32, v); };
  const Expr x = load(local_buffer("x", DType::Float32), {});
  return min(max(x / number(divisor), number(low)), number(high));
}

float by_division(float x, float divisor, float low, float high) {
  const float q = x / divisor, above = q > low ? q : low;
  return std::nearbyint(above < high ? above : high);
}

float by_products(float x, const RoundedQuotient& r) {
  const float above = x > r.low ? x : r.low, v = above < r.high ? above : r.high;
  return std::nearbyint(std::fma(v, r.reciprocal, v * r.rest));
}

TEST(RoundedQuotients, GiveTheNumbersOfADivision) {
  uint64_t drawn = 0;
  const auto uniform = [&] { return static_cast<double>(random_number(7, drawn++) >> 11) * 0x1p-53; };
  int made = 0;
  for (int i = 0; i < 400; ++i) {
    const auto divisor = static_cast<float>(std::exp(uniform() * 20 - 12));
    const double low = std::floor(uniform() * -256);
    const auto r = rounded_quotient(real(divisor, low, low + 255));
    if (!r) continue;
    ++made;
    for (int k = 0; k < 2000; ++k) {
      const auto x = static_cast<float>((uniform() * 600 - 300) * divisor);
      ASSERT_EQ(by_division(x, divisor, static_cast<float>(low), static_cast<float>(low + 255)), by_products(x, *r))
          << x << " / " << divisor;
    }
    for (const float x : {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1e-45f, 3e38f, -3e38f})
      ASSERT_EQ(by_division(x, divisor, static_cast<float>(low), static_cast<float>(low + 255)), by_products(x, *r))
          << x;
  }
  EXPECT_GE(made, 398);
}

// Kept between 0 and 255 behind the zero point, whatever x is.
TEST(RoundedQuotients, GiveTheBytesOfADivisionThatSaturate) {
  uint64_t drawn = 0;
  const auto uniform = [&] { return static_cast<double>(random_number(11, drawn++) >> 11) * 0x1p-53; };
  int made = 0;
  for (int i = 0; i < 400; ++i) {
    const auto divisor = static_cast<float>(std::exp(uniform() * 20 - 12));
    const auto number = [](double v) { return constant(DType::Float32, v); };
    const auto r = saturated_quotient(load(local_buffer("x", DType::Float32), {}) / number(divisor));
    if (!r) continue;
    ++made;
    const double zero_point = std::floor(uniform() * 256);
    const auto byte = [&](double rounded) { return std::min(std::max(rounded + zero_point, 0.0), 255.0); };
    for (int k = 0; k < 2000; ++k) {
      const double reach = k % 2 == 0 ? 600 : k % 3 == 0 ? 0x1p29 : 3000;
      const auto x = static_cast<float>((uniform() * 2 - 1) * reach * divisor);
      ASSERT_EQ(byte(std::nearbyint(x / divisor)), byte(std::nearbyint(std::fma(x, r->reciprocal, x * r->rest))))
          << x << " / " << divisor;
    }
  }
  EXPECT_GE(made, 398);
}

TEST(RoundedQuotients, LeaveOthersAlone) {
  EXPECT_TRUE(rounded_quotient(real(0.1, 0, 255)));
  EXPECT_FALSE(rounded_quotient(real(0.1, 0, 255.5)));
  EXPECT_FALSE(rounded_quotient(real(0.1, 0, 1e6)));
  EXPECT_FALSE(rounded_quotient(real(0.1, 7, 7)));
  EXPECT_FALSE(rounded_quotient(real(0, 0, 255)));
  EXPECT_FALSE(rounded_quotient(real(-0.1, 0, 255)));
  EXPECT_FALSE(rounded_quotient(real(1e-40, 0, 255)));
  EXPECT_FALSE(rounded_quotient(real(NAN, 0, 255)));
  EXPECT_FALSE(rounded_quotient(real(0.1, 0, 255)->args[0]));
}

}  // namespace
}  // namespace dnn::codegen
