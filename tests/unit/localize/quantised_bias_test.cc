// Biases beside the others of their network: which numbers are wrong, and whether they are only in another order.
#include "localize/quantised_bias.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "graph/tensor_text.h"

namespace dnn {
namespace {

constexpr double kStep = 0.001;

// Rounded, with noise as large as this share of what is allowed.
HeldBias bias_with(uint64_t seed, double noise, double allowed) {
  HeldBias held;
  held.source_bias = to_doubles(random_tensor(DType::Float32, {10}, seed));
  const std::vector<double> shifts = to_doubles(random_tensor(DType::Float32, {10}, seed + 100));
  double largest = 0;
  for (double s : shifts) largest = std::max(largest, std::abs(s));
  for (size_t c = 0; c < held.source_bias.size(); ++c) {
    const double wanted = held.source_bias[c] + shifts[c] / largest * noise * allowed;
    held.bias.push_back(std::nearbyint(wanted / kStep) * kStep);
  }
  held.bias_steps.assign(10, kStep);
  held.allowed.assign(10, allowed);
  return held;
}

HeldBias rolled(HeldBias held) {
  std::rotate(held.bias.begin(), held.bias.end() - 1, held.bias.end());
  return held;
}
const std::vector<size_t> kBack = {1, 2, 3, 4, 5, 6, 7, 8, 9, 0};

// Each number may be its quantiser's choice, and all together are not.
TEST(QuantisedBias, NumbersInAnotherOrderAreAFaultWithinWhatIsAllowed) {
  for (const double noise : {0.0, 0.02}) {
    const HeldBias one = bias_with(1, noise, 10), two = bias_with(2, noise, 10), healthy = bias_with(3, noise, 10);
    const SettledBias right = settle_bias(healthy, {&one, &two}, false);
    EXPECT_FALSE(right.sure) << noise;
    const SettledBias wrong = settle_bias(rolled(healthy), {&one, &two}, false);
    EXPECT_TRUE(wrong.sure) << noise;
    EXPECT_EQ(wrong.order, kBack) << noise;
  }
}

TEST(QuantisedBias, TwoThatChangedPlacesArePutBack) {
  const HeldBias one = bias_with(1, 0, 10), two = bias_with(2, 0, 10);
  HeldBias held = bias_with(3, 0, 10);
  std::swap(held.bias[2], held.bias[7]);
  const SettledBias settled = settle_bias(held, {&one, &two}, false);
  EXPECT_EQ(settled.wrong, (std::vector<size_t>{2, 7}));
  EXPECT_EQ(settled.order, (std::vector<size_t>{0, 1, 7, 3, 4, 5, 6, 2, 8, 9}));
  EXPECT_TRUE(settled.sure);
}

// Larger shifts than the others' are no order.
TEST(QuantisedBias, OneThatMakesUpForMoreThanTheOthersIsNoFault) {
  const HeldBias one = bias_with(1, 0.02, 10), two = bias_with(2, 0.02, 10);
  for (uint64_t seed = 3; seed < 200; ++seed) {
    for (const double noise : {0.05, 0.2, 0.9})
      EXPECT_FALSE(settle_bias(bias_with(seed, noise, 10), {&one, &two}, false).sure) << seed << ", " << noise;
  }
}

TEST(QuantisedBias, ANumberThatIsWrongIsToldFromThoseThatAreUsual) {
  const HeldBias one = bias_with(1, 0, 10), two = bias_with(2, 0, 10);
  HeldBias held = bias_with(3, 0, 10);
  held.bias[4] += 9;
  held.bias[5] += 2 * kStep;
  const SettledBias settled = settle_bias(held, {&one, &two}, false);
  EXPECT_EQ(settled.wrong, (std::vector<size_t>{4, 5}));
  EXPECT_TRUE(settled.order.empty());
  EXPECT_FALSE(settled.sure);
}

}  // namespace
}  // namespace dnn
