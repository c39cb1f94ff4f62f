// Distances on values small enough to check by hand, and at the edges of the number line.
#include "tensor/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "special_floats.h"

namespace dnn {
namespace {

TEST(Compare, ByHand) {
  const Distance d = compare(Tensor::of<float>({3}, {3, -4, 0}), Tensor::of<float>({3, 1}, {3, -3.5f, 1}));
  EXPECT_EQ(d.n, 3);
  EXPECT_EQ(d.n_different, 2);
  EXPECT_EQ(d.max_abs, 1);
  EXPECT_EQ(d.max_abs_index, 2);
  EXPECT_EQ(d.largest, 4);
  EXPECT_EQ(d.relative(), 0.25);
  EXPECT_EQ(d.difference_sum, 1.5);
  EXPECT_DOUBLE_EQ(d.l2(), std::sqrt(1.25));
  EXPECT_DOUBLE_EQ(d.cosine(), 23 / (5 * std::sqrt(9 + 12.25 + 1)));
}

TEST(Compare, NothingDiffers) {
  const Tensor t = Tensor::of<float>({3}, {kNan, kInf, -0.0f});
  const Distance d = compare(t, Tensor::of<float>({3}, {kNan, kInf, 0.0f}));
  EXPECT_EQ(d.n_different, 0);
  EXPECT_EQ(d.max_abs, 0);
  EXPECT_EQ(d.max_abs_index, -1);
  EXPECT_EQ(d.relative(), 0);
  EXPECT_EQ(d.max_ulp, 0u);
}

TEST(Compare, NanAndInfinityAgainstNumbersAreInfinitelyFar) {
  for (float odd : {kNan, kInf, -kInf}) {
    EXPECT_EQ(compare(Tensor::of<float>({2}, {1, odd}), Tensor::of<float>({2}, {1, 2})).max_abs, kInf);
    EXPECT_EQ(compare(Tensor::of<float>({2}, {1, 2}), Tensor::of<float>({2}, {1, odd})).max_abs_index, 1);
  }
  EXPECT_EQ(compare(Tensor::of<float>({1}, {kInf}), Tensor::of<float>({1}, {-kInf})).max_abs, kInf);
}

TEST(Compare, ZeroReference) {
  const Distance d = compare(Tensor::of<float>({1}, {0}), Tensor::of<float>({1}, {1e-9f}));
  EXPECT_EQ(d.relative(), kInf);
  EXPECT_EQ(d.cosine(), 0);
}

TEST(Compare, UlpsOnlyBetweenEqualFloatTypes) {
  EXPECT_EQ(compare(Tensor::of<float>({1}, {1}), Tensor::of<double>({1}, {1})).max_ulp, std::nullopt);
  EXPECT_EQ(compare(Tensor::of<int32_t>({1}, {1}), Tensor::of<int32_t>({1}, {2})).max_ulp, std::nullopt);
  EXPECT_EQ(compare(Tensor::of<Half>({1}, {Half(1.0f)}), Tensor::of<Half>({1}, {Half(1.0f + 0x1p-9f)})).max_ulp, 2u);
}

// A NaN is no number of steps away from a number: it is counted, in every type.
TEST(Compare, NaNOnOneSideIsCounted) {
  const Tensor a = Tensor::of<float>({4}, {kNan, kNan, 1, 2}), b = Tensor::of<float>({4}, {kNan, 0, kNan, 2});
  for (const DType dtype : {DType::Float16, DType::BFloat16, DType::Float32, DType::Float64}) {
    const Distance d = compare(convert(a, dtype), convert(b, dtype));
    EXPECT_EQ(d.n_nan, 2) << dtype_name(dtype);
    EXPECT_EQ(d.n_different, 2);
    EXPECT_EQ(d.max_ulp, std::nullopt);
    EXPECT_EQ(compare(convert(b, dtype), convert(b, dtype)).n_nan, 0);
    EXPECT_EQ(compare(convert(b, dtype), convert(b, dtype)).max_ulp, 0u);
  }
  EXPECT_EQ(compare(a, convert(b, DType::Float64)).n_nan, 2);
  EXPECT_EQ(compare(a, Tensor::of<int32_t>({4}, {0, 1, 1, 2})).n_nan, 2);
  const Distance infinite = compare(Tensor::of<float>({2}, {kInf, 1}), Tensor::of<float>({2}, {1, 1}));
  EXPECT_EQ(infinite.n_nan, 0);
  EXPECT_EQ(infinite.max_ulp, 0x7f800000u - 0x3f800000u);
}

TEST(Compare, SizesMustBeEqual) {
  EXPECT_THROW(compare(Tensor::of<float>({1}, {1}), Tensor::of<float>({2}, {1, 1})), Error);
}

TEST(Ulp, CountsRepresentableValues) {
  EXPECT_EQ(ulp_distance(1.0f, std::nextafter(1.0f, 2.0f)), 1u);
  EXPECT_EQ(ulp_distance(-0.0f, 0.0f), 0u);
  const float tiny = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(ulp_distance(-tiny, tiny), 2u);
  EXPECT_EQ(ulp_distance(std::numeric_limits<float>::max(), kInf), 1u);
  EXPECT_EQ(ulp_distance(-kInf, kInf), 2u * 0x7f800000u);
  EXPECT_EQ(ulp_distance(-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()),
            2 * 0x7ff0000000000000u);
  EXPECT_EQ(ulp_distance(kNan, kNan), 0u);
  EXPECT_EQ(ulp_distance(kNan, 1.0f), std::numeric_limits<uint64_t>::max());
}

// Long tensors are compared in blocks; what is not finite, and the ends, one by one.
template <class T>
void check_blocks() {
  const int64_t n = 5 * 1024 + 77;
  std::vector<T> a, b;
  uint64_t state = 1;
  for (int64_t i = 0; i < n; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double x = static_cast<double>(static_cast<int64_t>(state >> 20)) * 0x1p-40 - 8;
    a.push_back(static_cast<T>(x));
    b.push_back(static_cast<T>(i % 3 == 0 ? x : x * (1 + 1e-6 * static_cast<double>(i % 7))));
  }
  b[4000] = -a[4000];  // another sign: most units apart of all that is finite
  a[100] = b[100] = 0;
  b[100] = -b[100];
  for (const bool odd : {false, true}) {
    if (odd) a[2048] = static_cast<T>(kNan);
    Distance by_hand;
    double largest = 0;
    for (int64_t i = 0; i < n; ++i) {
      const auto x = static_cast<double>(a[static_cast<size_t>(i)]), y = static_cast<double>(b[static_cast<size_t>(i)]);
      if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
      const double d = std::isnan(x) ? std::numeric_limits<double>::infinity() : std::abs(x - y);
      by_hand.n_different += x != y ? 1 : 0;
      by_hand.difference_sum += d;
      by_hand.difference_squares += d * d;
      if (!std::isnan(x)) by_hand.product += x * y;
      if (d > by_hand.max_abs) {
        by_hand.max_abs = d;
        by_hand.max_abs_index = i;
      }
    }
    const Distance d = compare(Tensor::of<T>({n}, a), Tensor::of<T>({n}, b));
    EXPECT_EQ(d.n, n);
    EXPECT_EQ(d.n_different, by_hand.n_different);
    EXPECT_EQ(d.max_abs, by_hand.max_abs);
    EXPECT_EQ(d.max_abs_index, by_hand.max_abs_index);
    EXPECT_EQ(d.max_abs_index, odd ? 2048 : 4000);
    EXPECT_EQ(d.largest, largest);
    EXPECT_TRUE(odd || std::abs(d.difference_sum - by_hand.difference_sum) <= 1e-12 * by_hand.difference_sum);
    EXPECT_TRUE(odd ||
                std::abs(d.difference_squares - by_hand.difference_squares) <= 1e-12 * by_hand.difference_squares);
    EXPECT_EQ(std::isinf(d.difference_sum), odd);
    EXPECT_NEAR(d.product, by_hand.product, 1e-12 * std::abs(by_hand.product));
    EXPECT_EQ(d.n_nan, odd ? 1 : 0);
    EXPECT_EQ(d.max_ulp, odd ? std::nullopt : std::optional(ulp_distance(a[4000], b[4000])));
  }
}
TEST(Compare, InBlocksAsOneByOne) {
  check_blocks<float>();
  check_blocks<double>();
}

}  // namespace
}  // namespace dnn
