// The comparison that judges conformance cases: what it accepts and what it must not.
#include "onnx/compare.h"

#include <gtest/gtest.h>

#include <limits>

namespace dnn::conformance {
namespace {

constexpr double kRtol = 1e-3, kAtol = 1e-7;
constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

bool same(const Tensor& actual, const Tensor& expected) { return difference(actual, expected, kRtol, kAtol).empty(); }
Tensor one(float value) { return Tensor::of<float>({1}, {value}); }

TEST(Compare, ToleranceIsRelativeToTheExpected) {
  EXPECT_TRUE(same(one(1000.9f), one(1000.0f)));
  EXPECT_FALSE(same(one(1001.1f), one(1000.0f)));
  EXPECT_TRUE(same(one(5e-8f), one(0.0f)));
  EXPECT_FALSE(same(one(2e-7f), one(0.0f)));
}

TEST(Compare, NanAndInfinityAreValues) {
  EXPECT_TRUE(same(one(kNan), one(kNan)));
  EXPECT_FALSE(same(one(kNan), one(0)));
  EXPECT_FALSE(same(one(0), one(kNan)));
  EXPECT_TRUE(same(one(kInf), one(kInf)));
  EXPECT_FALSE(same(one(-kInf), one(kInf)));
  EXPECT_FALSE(same(one(3e38f), one(kInf)));
}

TEST(Compare, DtypeAndShapeMustMatch) {
  EXPECT_FALSE(same(Tensor::of<double>({1}, {1}), one(1)));
  EXPECT_FALSE(same(Tensor::scalar<float>(1), one(1)));
  EXPECT_FALSE(same(Tensor(), one(1)));
}

TEST(Compare, IntegersAndStringsAreExact) {
  EXPECT_FALSE(same(Tensor::of<int64_t>({1}, {100001}), Tensor::of<int64_t>({1}, {100000})));
  EXPECT_TRUE(same(Tensor::of<uint64_t>({1}, {~uint64_t{0}}), Tensor::of<uint64_t>({1}, {~uint64_t{0}})));
  Tensor a(DType::String, {2}), b(DType::String, {2});
  a.mutable_strings()[1] = "x";
  EXPECT_FALSE(same(a, b));
  b.mutable_strings()[1] = "x";
  EXPECT_TRUE(same(a, b));
}

TEST(Compare, NamesTheFirstDifference) {
  const Tensor a = Tensor::of<float>({2, 2}, {1, 2, 3, 4}), b = Tensor::of<float>({2, 2}, {1, 2, 5, 6});
  EXPECT_EQ(difference(a, b, kRtol, kAtol), "element [1,0] is 3, expected 5");
}

}  // namespace
}  // namespace dnn::conformance
