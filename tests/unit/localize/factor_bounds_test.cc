// Bounds of factors over several layers: they hold the factors that were used, and their middles make every integer a rounding.
#include "localize/factor_bounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace dnn {
namespace {

class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed) {}
  double between(double low, double high) {
    state_ += kSplitMixStep;
    return low + (high - low) * static_cast<double>(splitmix(state_) >> 11) * 0x1p-53;
  }

 private:
  uint64_t state_;
};

// Three layers, the middle one with a kernel for each channel; both values between them were scaled.
struct Chain {
  std::vector<BothWeights> layers;
  std::vector<std::vector<double>> factors;  // that were used
  std::vector<std::vector<double>> estimates;
};

constexpr size_t kChannels = 8;

Chain chain(uint64_t seed) {
  Numbers random(seed);
  Chain made;
  for (int v = 0; v < 2; ++v) {
    made.factors.emplace_back();
    made.estimates.emplace_back();
    for (size_t c = 0; c < kChannels; ++c) {
      made.factors.back().push_back(std::exp(random.between(-3, 0)));
      made.estimates.back().push_back(made.factors.back().back() * (1 + random.between(-0.003, 0.003)));
    }
  }
  for (int l = 0; l < 3; ++l) {
    BothWeights layer;
    layer.n = l == 2 ? 6 : kChannels;
    layer.width = l == 0 ? 20 : l == 1 ? 9 : kChannels;
    layer.depthwise = l == 1;
    layer.in = l - 1;
    layer.out = l == 2 ? -1 : l;
    for (size_t row = 0; row < layer.n; ++row) {
      std::vector<double> scaled;
      double largest = 0;
      for (size_t i = 0; i < layer.width; ++i) {
        const size_t column = layer.depthwise ? row : i;
        layer.ours.push_back(random.between(-1, 1));
        scaled.push_back(layer.ours.back() * (l == 0 ? 1 : made.factors[l - 1][column]) /
                         (l == 2 ? 1 : made.factors[l][row]));
        largest = std::max(largest, std::abs(scaled.back()));
      }
      for (double x : scaled) {
        layer.steps.push_back(largest / 127);
        layer.theirs.push_back(std::nearbyint(x / layer.steps.back()) * layer.steps.back());
        layer.at_end.push_back(std::abs(x) == largest);
      }
    }
    made.layers.push_back(std::move(layer));
  }
  return made;
}

// By layer and row: numbers that are no rounding of ours by these factors.
std::vector<size_t> n_others(const Chain& chain, const std::vector<std::vector<double>>& factors) {
  std::vector<size_t> found;
  for (const BothWeights& layer : chain.layers) {
    size_t n = 0;
    for (size_t place = 0; place < layer.ours.size(); ++place) {
      const size_t row = place / layer.width, column = layer.depthwise ? row : place % layer.width;
      const double ours = layer.ours[place] * (layer.in < 0 ? 1 : factors[layer.in][column]) /
                          (layer.out < 0 ? 1 : factors[layer.out][row]);
      const bool beyond = layer.at_end[place] && std::abs(ours) > std::abs(layer.theirs[place]);
      n += !beyond && std::abs(ours - layer.theirs[place]) > layer.half(place) * (1 + 1e-6) ? 1 : 0;
    }
    found.push_back(n);
  }
  return found;
}

std::vector<std::vector<double>> middles(const std::vector<FactorBounds>& bounds) {
  std::vector<std::vector<double>> found;
  for (const FactorBounds& of_value : bounds) {
    found.emplace_back();
    for (size_t c = 0; c < of_value.low.size(); ++c)
      found.back().push_back(std::sqrt(of_value.low[c] * of_value.high[c]));
  }
  return found;
}

TEST(FactorBounds, HoldTheFactorsAndTheirMiddlesExplainEveryInteger) {
  size_t n_wrong_before = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const Chain made = chain(seed);
    const std::vector<FactorBounds> bounds = bound_factors(made.layers, made.estimates);
    ASSERT_EQ(bounds.size(), 2u);
    for (size_t v = 0; v < 2; ++v) {
      for (size_t c = 0; c < kChannels; ++c) {
        EXPECT_FALSE(bounds[v].contradicted[c]);
        EXPECT_LE(bounds[v].low[c], made.factors[v][c] * (1 + 1e-6)) << seed << " " << v << " " << c;
        EXPECT_GE(bounds[v].high[c], made.factors[v][c] * (1 - 1e-6)) << seed << " " << v << " " << c;
      }
    }
    for (size_t n : n_others(made, made.estimates)) n_wrong_before += n;
    EXPECT_EQ(n_others(made, middles(bounds)), (std::vector<size_t>{0, 0, 0})) << seed;
  }
  EXPECT_GT(n_wrong_before, 40u);  // or the estimates would do
}

// A row of other numbers bounds nothing; the bounds of the other layers stay.
TEST(FactorBounds, ARowThatIsWrongBoundsNothing) {
  Chain made = chain(3);
  for (size_t i = 0; i < made.layers[0].width; ++i) made.layers[0].theirs[2 * made.layers[0].width + i] *= 0.5;
  const std::vector<FactorBounds> bounds = bound_factors(made.layers, made.estimates);
  EXPECT_FALSE(bounds[0].contradicted[2]);
  EXPECT_LE(bounds[0].low[2], made.factors[0][2]);
  EXPECT_GE(bounds[0].high[2], made.factors[0][2]);
  EXPECT_EQ(n_others(made, middles(bounds))[2], 0u);
}

// Numbers by which no factor can be right, in a row that is right otherwise.
TEST(FactorBounds, AChannelThatIsContradictedLeavesTheOthersAsTheyAre) {
  Chain made = chain(5);
  BothWeights& middle = made.layers[1];
  for (size_t i = 0; i < middle.width; ++i) {
    // By three quarters of a step, up and down in turn.
    middle.theirs[3 * middle.width + i] += (i % 2 == 0 ? 0.75 : -0.75) * middle.steps[3 * middle.width + i];
    middle.at_end[3 * middle.width + i] = false;
  }
  const std::vector<FactorBounds> bounds = bound_factors(made.layers, made.factors);
  const std::vector<FactorBounds> before = bound_factors(chain(5).layers, made.factors);
  for (size_t c = 0; c < kChannels; ++c) {
    if (c == 3) continue;
    EXPECT_FALSE(bounds[0].contradicted[c]);
    EXPECT_LE(bounds[0].low[c], made.factors[0][c] * (1 + 1e-6));
    EXPECT_GE(bounds[0].high[c], made.factors[0][c] * (1 - 1e-6));
    EXPECT_LE(bounds[0].high[c] / bounds[0].low[c], before[0].high[c] / before[0].low[c] * 1.5);
  }
}

}  // namespace
}  // namespace dnn
