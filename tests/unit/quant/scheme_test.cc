// Scales and zero points, histograms and ranges: by hand, and that neither order nor threads matter.
#include "quant/scheme.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "quant/histogram.h"
#include "quant/range.h"

namespace dnn::quant {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Affine, HoldsZeroExactly) {
  for (const auto& [low, high] : {std::pair{-1.0, 2.0}, {0.3, 2.0}, {-3.0, -1.0}, {-0.013, 7.7}, {0.0, 6.0}}) {
    for (DType dtype : {DType::Int8, DType::UInt8, DType::Int16}) {
      const Affine a = affine_of(low, high, dtype, dtype == DType::Int16);
      EXPECT_LE(a.lowest(), std::min(low, 0.0) + static_cast<double>(a.scale));
      EXPECT_GE(a.highest(), std::max(high, 0.0) - static_cast<double>(a.scale));
      const Tensor zero = quantize_tensor(Tensor::of<float>({1}, {0}), a);
      EXPECT_EQ(to_int64s(zero)[0], a.zero_point);
    }
  }
}

TEST(Affine, OfAByteRange) {
  // ONNX QuantizeLinear of -1, 0, 2 with these: scale 3 / 255, zero point round(-128 + 85).
  const Affine a = affine_of(-1, 2, DType::Int8, false);
  EXPECT_EQ(a.scale, static_cast<float>(3.0 / 255));
  EXPECT_EQ(a.zero_point, -43);
  EXPECT_EQ(to_int64s(quantize_tensor(Tensor::of<float>({4}, {-1, 0, 2, 100}), a)),
            (std::vector<int64_t>{-128, -43, 127, 127}));
  EXPECT_EQ(affine_of(0, 6, DType::UInt8, false).zero_point, 0);
  EXPECT_EQ(affine_of(0, 0, DType::Int8, false).scale, 1);
}

TEST(Weights, EachChannelHasItsScale) {
  const Tensor w = Tensor::of<float>({2, 2}, {127, 0.5F, -254, 3});
  const QuantizedWeights q = quantize_weights(w, 0);
  EXPECT_EQ(q.scales, (std::vector<float>{1, 2}));
  EXPECT_EQ(to_int64s(q.values), (std::vector<int64_t>{127, 0, -127, 2}));  // 0.5 and 1.5 to even
  const QuantizedWeights columns = quantize_weights(w, 1);
  EXPECT_EQ(columns.scales, (std::vector<float>{2, static_cast<float>(3.0 / 127)}));
  const QuantizedWeights wider = quantize_weights(w, 0, {4, 0});
  EXPECT_EQ(wider.scales, (std::vector<float>{4, 2}));
  const QuantizedWeights reduced = quantize_weights(w, 0, {}, kReducedWeight);
  EXPECT_EQ(reduced.scales, (std::vector<float>{127.0F / 64, 254.0F / 64}));
  EXPECT_EQ(to_int64s(reduced.values), (std::vector<int64_t>{64, 0, -64, 1}));
  EXPECT_EQ(quantize_weights(Tensor(DType::Float32, {1, 3}), 0).scales, (std::vector<float>{1}));
  EXPECT_THROW(quantize_weights(Tensor::of<float>({1, 1}, {kInf}), 0), Error);
}

TEST(Histogram, OrderDoesNotMatter) {
  const std::vector<float> small = {0.001F, -0.002F, 0, 0.5F}, large = {300, -7, 1e-30F, kInf, 300, NAN};
  Histogram one, other, third;
  one.add(small);
  one.add(large);
  other.add(large);
  other.add(small);
  Histogram part;
  part.add(large);
  third.add(small);
  third.add(part);
  for (const Histogram* h : {&one, &other, &third}) {
    EXPECT_EQ(h->count(), 8);
    EXPECT_EQ(h->not_finite(), 2);
    EXPECT_EQ(h->lowest(), -7);
    EXPECT_EQ(h->highest(), 300);
    ASSERT_EQ(h->bins().size(), one.bins().size());
    for (size_t i = 0; i < one.bins().size(); ++i) {
      EXPECT_EQ(h->bins()[i].count, one.bins()[i].count);
      EXPECT_EQ(h->bins()[i].centre, one.bins()[i].centre);
    }
    const Histogram::Parts parts = h->parts();
    EXPECT_EQ(parts.zeros, 1);
    EXPECT_EQ(parts.at_low, 1);
    EXPECT_EQ(parts.at_high, 2);
  }
}

Seen seen_of(const std::vector<std::vector<float>>& samples) {
  Seen all;
  for (const std::vector<float>& sample : samples) {
    Histogram h;
    h.add(sample);
    all.histogram.add(h);
    all.low_sum += h.lowest();
    all.high_sum += h.highest();
    ++all.samples;
  }
  return all;
}

TEST(Range, ByEachMethod) {
  // 0..999 evenly, and one number far away.
  std::vector<float> numbers;
  for (int i = 0; i < 100000; ++i) numbers.push_back(static_cast<float>(i % 1000) / 100);
  numbers.push_back(-1000);
  const Seen seen = seen_of({numbers, {-2, 4}});
  const auto range = [&](const char* name) { return method_named(name).choose(seen, DType::Int8, false); };
  EXPECT_EQ(range("minmax").low, -1000);
  EXPECT_EQ(range("mean-minmax").low, -501);
  EXPECT_NEAR(range("mean-minmax").high, (9.99 + 4) / 2, 1e-6);
  // One of 100,003 numbers is 0.001 %: half of that share lies at either end.
  EXPECT_EQ(range("percentile").low, -1000);
  const double error_all = cost_of(seen.histogram, affine_of(-1000, 9.99, DType::Int8, false)).noise;
  const Range best = range("mse");
  EXPECT_LT(cost_of(seen.histogram, affine_of(best.low, best.high, DType::Int8, false)).noise, error_all);
  EXPECT_GT(range("entropy").low, -1000);
  EXPECT_THROW(method_named("best"), Error);
}

// In int16 a step is narrower than a bin. What activations have at one number (Relu, Clip, HardSigmoid) is still no noise: the estimate is
// what each number's own rounding adds up to.
TEST(Range, NumbersOnAStepCostNothing) {
  uint32_t state = 7;
  const auto draw = [&] {
    state = state * 1664525 + 1013904223;
    return static_cast<float>(static_cast<double>(state >> 8) / (1 << 23) - 1);
  };
  for (const auto& [low, high] : {std::pair(0.0F, 1e9F), {0.0F, 6.0F}, {-3.0F, 3.0F}, {-1e9F, 1e9F}, {-0.37F, 0.91F}}) {
    std::vector<std::vector<float>> samples(4);
    for (std::vector<float>& sample : samples) {
      for (int i = 0; i < 20000; ++i) sample.push_back(std::clamp(8 * draw() + draw(), low, high));
    }
    const Seen seen = seen_of(samples);
    for (const auto& [dtype, symmetric] : {std::pair(DType::Int16, true), {DType::Int8, false}}) {
      for (const double share : {1.0, 0.7}) {
        const Affine affine =
            affine_of(share * seen.histogram.lowest(), share * seen.histogram.highest(), dtype, symmetric);
        double signal = 0, noise = 0;
        for (const std::vector<float>& sample : samples) {
          for (const float number : sample) {
            const auto x = static_cast<double>(number), scale = static_cast<double>(affine.scale);
            const double y = std::clamp(std::nearbyint(x / scale) * scale, affine.lowest(), affine.highest());
            signal += x * x;
            noise += (x - y) * (x - y);
          }
        }
        EXPECT_NEAR(cost_of(seen.histogram, affine).sqnr_db(), 10 * std::log10(signal / noise), 0.25)
            << low << " " << high << " " << dtype_name(dtype) << " " << share;
      }
    }
  }
}

TEST(Range, NothingIsClippedWhereNumbersAreEven) {
  std::vector<float> numbers;
  for (int i = -1000; i <= 1000; ++i) numbers.push_back(static_cast<float>(i));
  const Seen seen = seen_of({numbers});
  const Range best = method_named("mse").choose(seen, DType::Int8, false);
  EXPECT_LT(best.low, -950);
  EXPECT_GT(best.high, 950);
  const RangeCost cost = cost_of(seen.histogram, affine_of(-1000, 1000, DType::Int8, false));
  EXPECT_EQ(cost.clipped, 0);
  // A step of 2000 / 255 has a mean squared error of a twelfth of its square, and the numbers one of 1000^2 / 3.
  EXPECT_NEAR(cost.sqnr_db(), 10 * std::log10(1e6 / 3 / (std::pow(2000.0 / 255, 2) / 12)), 0.3);
}

}  // namespace
}  // namespace dnn::quant
