// TFLite's fixed-point products: what its own kernels give, and what its definition says, on numbers and as loops.
#include "ops/fixed_point.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace dnn {
namespace {

// gemmlowp's two steps as they are written there.
int32_t two_steps(int32_t x, FixedPoint factor) {
  const int left = factor.shift > 0 ? factor.shift : 0, right = factor.shift > 0 ? 0 : -factor.shift;
  const auto moved = static_cast<int32_t>(static_cast<uint32_t>(x) << left);
  const int64_t product = int64_t{moved} * factor.multiplier;
  const int64_t nudge = product >= 0 ? int64_t{1} << 30 : 1 - (int64_t{1} << 30);
  const auto high = static_cast<int32_t>((product + nudge) / (int64_t{1} << 31));
  const int64_t mask = (int64_t{1} << right) - 1, rest = high & mask, threshold = (mask >> 1) + (high < 0 ? 1 : 0);
  return (high >> right) + (rest > threshold ? 1 : 0);
}

TEST(FixedPoint, FactorsAreNormalised) {
  const FixedPoint half = FixedPoint::of(0.5), three = FixedPoint::of(3), none = FixedPoint::of(0);
  EXPECT_EQ(half.multiplier, 1 << 30);
  EXPECT_EQ(half.shift, 0);
  EXPECT_EQ(three.multiplier, 3 << 29);
  EXPECT_EQ(three.shift, 2);
  EXPECT_EQ(none.multiplier, 0);
  const FixedPoint almost = FixedPoint::of(1 - 0x1p-40), tiny = FixedPoint::of(0x1p-33);  // rounded up to 1; below all
  EXPECT_EQ(almost.multiplier, 1 << 30);
  EXPECT_EQ(almost.shift, 1);
  EXPECT_EQ(tiny.multiplier, 0);
}

TEST(FixedPoint, RoundsTwice) {
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    const FixedPoint factor = {static_cast<int32_t>((1u << 30) + random() % (1u << 30)),
                               static_cast<int>(random() % 40) - 31};
    int32_t x = static_cast<int32_t>(random()) >> (random() % 31);
    if (i % 1000 == 0) x = INT32_MIN;
    if (i % 1000 == 1) x = INT32_MAX;
    EXPECT_EQ(multiplied(x, factor), two_steps(x, factor)) << x << " " << factor.multiplier << " " << factor.shift;
  }
  // A half is rounded up in the first step and away from zero in the second.
  EXPECT_EQ(multiplied(-1, {1 << 30, 0}), 0);
  EXPECT_EQ(multiplied(-1, {1 << 30, 1}), -1);
  EXPECT_EQ(multiplied(-3, {1 << 30, 0}), -1);
  EXPECT_EQ(multiplied(-6, {1 << 30, -1}), -2);
  EXPECT_EQ(multiplied(6, {1 << 30, -1}), 2);
}

}  // namespace
}  // namespace dnn
