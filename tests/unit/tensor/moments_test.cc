// Moments against numbers computed by hand, in parts and at once, and what is not finite.
#include "tensor/moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "special_floats.h"

namespace dnn {
namespace {

Moments of(const std::vector<std::vector<float>>& parts) {
  Moments moments;
  for (const std::vector<float>& part : parts)
    moments.add(Tensor::of<float>({static_cast<int64_t>(part.size())}, part));
  return moments;
}

TEST(Moments, ByHandInAnyParts) {
  // Mean 5; squares of the distances 9 1 1 1 0 0 4 16, 32 in all.
  for (const auto& parts : std::vector<std::vector<std::vector<float>>>{
           {{2, 4, 4, 4, 5, 5, 7, 9}}, {{2, 4, 4, 4}, {5, 5, 7, 9}}, {{2}, {4, 4}, {}, {4, 5, 5, 7, 9}}}) {
    const Moments m = of(parts);
    EXPECT_EQ(m.count(), 8);
    EXPECT_DOUBLE_EQ(m.mean(), 5);
    EXPECT_DOUBLE_EQ(m.deviation(), 2);
    EXPECT_EQ(m.largest(), 9);
  }
  EXPECT_EQ(of({{-3, 1}}).largest(), 3);
  Moments integers;
  integers.add(Tensor::of<int8_t>({2}, {-128, 0}));
  EXPECT_EQ(integers.mean(), -64);
  EXPECT_EQ(integers.deviation(), 64);
}

// Squares summed as they are would leave nothing of the deviation: 1e9 squared has no room for 1.
TEST(Moments, LargeMeansAndManyPartsCostNoDigits) {
  Moments moments;
  for (int i = 0; i < 1000; ++i) moments.add(Tensor::of<double>({3}, {1e9 - 1, 1e9, 1e9 + 1}));
  EXPECT_EQ(moments.mean(), 1e9);
  EXPECT_NEAR(moments.deviation(), std::sqrt(2.0 / 3), 1e-12);
  // Of 0.1 added a million times in float64, a plain sum is off by 1e-6.
  const std::vector<double> tenths(1000000, 0.1);
  Moments many;
  many.add(Tensor::of<double>({1000000}, tenths));
  EXPECT_EQ(many.mean(), 0.1);
  EXPECT_EQ(many.deviation(), 0);
}

TEST(Moments, WhatIsNotFinite) {
  EXPECT_EQ(of({{1, 2}, {kInf}}).mean(), kInf);
  EXPECT_EQ(of({{-kInf}, {3}}).mean(), -kInf);
  EXPECT_TRUE(std::isnan(of({{kInf}, {-kInf}}).mean()));
  EXPECT_TRUE(std::isnan(of({{kInf}, {3}}).deviation()));
  EXPECT_EQ(of({{-kInf}, {3}}).largest(), kInf);
  for (const auto& parts : std::vector<std::vector<std::vector<float>>>{{{kNan}, {3}}, {{3}, {kInf, kNan}}}) {
    EXPECT_TRUE(std::isnan(of(parts).mean()));
    EXPECT_TRUE(std::isnan(of(parts).deviation()));
    EXPECT_TRUE(std::isnan(of(parts).largest()));
  }
  const Moments none;
  EXPECT_EQ(none.count(), 0);
  EXPECT_TRUE(std::isnan(none.mean()));
  EXPECT_TRUE(std::isnan(none.deviation()));
  EXPECT_EQ(none.largest(), 0);
}

}  // namespace
}  // namespace dnn
