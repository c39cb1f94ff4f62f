// The dip, with figures of the R package diptest's code (by its Python port 0.12), and how often draws from one mode and from two
// are told to have two.
#include "metrics/modes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace dnn::metrics {
namespace {

std::vector<Counted> series(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::vector<Counted> counted;
  for (const double v : values) counted.push_back({v, 1});
  return counted;
}

TEST(Dip, IsHartigans) {
  EXPECT_NEAR(dip(series({1, 2, 3, 4, 6, 7, 9, 12})), 0.08333333333333333, 1e-15);
  EXPECT_NEAR(dip(series({1, 1.1, 1.2, 1.25, 3, 3.1, 3.3, 3.6, 3.7, 4})), 0.175, 1e-15);
  EXPECT_NEAR(dip(series({1, 1, 1, 2, 3, 3, 5, 5, 5, 5, 6})), 0.13636363636363635, 1e-15);
  EXPECT_NEAR(dip(series({0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.9, 1.4, 2.2, 5})), 0.050000000000000024, 1e-15);
  std::vector<double> residues;
  for (int i = 0; i < 200; ++i) residues.push_back(i * i % 101 + 0.5 * (i % 3));
  EXPECT_NEAR(dip(series(residues)), 0.05015873015873016, 1e-15);
}

TEST(Dip, CountsAreRepeatedValues) {
  const std::vector<double> values = {1, 1, 1, 2, 3, 3, 5, 5, 5, 5, 6};
  EXPECT_DOUBLE_EQ(dip(std::vector<Counted>{{1, 3}, {2, 1}, {3, 2}, {5, 4}, {6, 1}}), dip(series(values)));
  EXPECT_EQ(dip({}), 0);
  EXPECT_DOUBLE_EQ(dip(std::vector<Counted>{{4, 10}}), 0.05) << "no less than half a step";
}

// Draws of n latencies, made by hand from uniform numbers, as the library's distributions differ between standard libraries.
class Draws {
 public:
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  double exponential() { return -std::log1p(-uniform()); }
  double normal() { return std::sqrt(2 * exponential()) * std::cos(2 * std::acos(-1.0) * uniform()); }

  using Draw = std::function<double(Draws&)>;
  // Of `times` series, the percentage that has two modes.
  double two_modes_percent(int n, int times, const Draw& draw) {
    int found = 0;
    for (int t = 0; t < times; ++t) {
      std::vector<double> values;
      for (int i = 0; i < n; ++i) values.push_back(draw(*this));
      found += two_modes(series(values), n) ? 1 : 0;
    }
    return 100.0 * found / times;
  }

 private:
  std::mt19937_64 random_{20};
};

// At most one in a hundred, and what chance adds to that in a thousand draws of the flattest.
TEST(TwoModes, OneModeWithAnyTailIsOne) {
  const std::vector<std::pair<const char*, Draws::Draw>> kinds = {
      {"normal", [](Draws& d) { return 1 + 0.03 * d.normal(); }},
      {"narrow lognormal", [](Draws& d) { return std::exp(0.05 * d.normal()); }},
      {"wide lognormal", [](Draws& d) { return std::exp(0.5 * d.normal()); }},
      {"exponential tail", [](Draws& d) { return 1 + 0.2 * d.exponential(); }},
      {"flat", [](Draws& d) { return 1 + d.uniform(); }},
      {"one in a hundred slow", [](Draws& d) { return (1 + 0.03 * d.normal()) * (d.uniform() < 0.01 ? 20 : 1); }},
      {"one in twenty slow", [](Draws& d) { return (1 + 0.03 * d.normal()) * (d.uniform() < 0.05 ? 1.5 : 1); }}};
  Draws draws;
  for (const auto& [name, draw] : kinds) {
    for (const int n : {20, 100, 1000})
      EXPECT_LE(draws.two_modes_percent(n, n < 1000 ? 1000 : 50, draw), 1.5) << name << n;
  }
}

TEST(TwoModes, TwoAreFoundWithTheirShares) {
  Draws draws;
  const Draws::Draw thirty = [](Draws& d) { return (1 + 0.03 * d.normal()) * (d.uniform() < 0.3 ? 1.5 : 1); };
  const Draws::Draw seventy = [](Draws& d) { return (1 + 0.03 * d.normal()) * (d.uniform() < 0.7 ? 1.5 : 1); };
  const Draws::Draw with_outliers = [&](Draws& d) { return thirty(d) * (d.uniform() < 0.01 ? 20 : 1); };
  EXPECT_GE(draws.two_modes_percent(20, 100, thirty), 30);  // six against fourteen may be chance
  EXPECT_GE(draws.two_modes_percent(50, 100, thirty), 80);
  EXPECT_GE(draws.two_modes_percent(100, 100, thirty), 99);
  EXPECT_GE(draws.two_modes_percent(100, 100, seventy), 99);
  EXPECT_GE(draws.two_modes_percent(1000, 20, with_outliers), 99);

  std::vector<double> values;
  for (int i = 0; i < 61; ++i) values.push_back(2.3 + 0.001 * i);
  for (int i = 0; i < 39; ++i) values.push_back(3.9 + 0.001 * i);
  values[99] = 1e6;  // one outlier moves nothing
  const std::optional<Modes> modes = two_modes(series(values), 100);
  ASSERT_TRUE(modes.has_value());
  EXPECT_NEAR(modes->low, 2.33, 1e-9);
  EXPECT_NEAR(modes->high, 3.919, 1e-9);
  EXPECT_NEAR(modes->high_share, 0.39, 1e-9);
}

TEST(TwoModes, WhatIsNotWorthAWarningIsOne) {
  std::vector<double> close, few;
  for (int i = 0; i < 100; ++i) {
    close.push_back(i < 50 ? 1 + 1e-5 * i : 1.05 + 1e-5 * i);  // 5 % apart
    few.push_back(i < 93 ? 1 + 1e-5 * i : 2 + 1e-5 * i);       // 7 %
  }
  EXPECT_FALSE(two_modes(series(close), 100).has_value());
  EXPECT_FALSE(two_modes(series(few), 100).has_value());
  EXPECT_FALSE(two_modes({}, 100).has_value());
  EXPECT_FALSE(two_modes(std::vector<Counted>{{0, 50}, {2, 50}}, 100).has_value()) << "no logarithm";
  EXPECT_FALSE(two_modes(std::vector<Counted>{{3, 100}}, 100).has_value());
}

// Beyond Quantiles::kExact, values come as buckets: steps of 0.1 %, which are no modes.
TEST(TwoModes, BucketsAreNoModes) {
  Draws draws;
  Quantiles narrow, wide, two;
  for (size_t i = 0; i < Quantiles::kExact + 10'000; ++i) {
    narrow.add(1 + 0.0005 * draws.normal());
    wide.add(1 + 0.05 * draws.normal());
    two.add((1 + 0.03 * draws.normal()) * (i % 3 == 0 ? 1.5 : 1));
  }
  const auto n = static_cast<double>(two.count());
  EXPECT_LT(two.counted().size(), 10'000u);
  EXPECT_FALSE(two_modes(narrow.counted(), n).has_value());
  EXPECT_FALSE(two_modes(wide.counted(), n).has_value());
  const std::optional<Modes> modes = two_modes(two.counted(), n);
  ASSERT_TRUE(modes.has_value());
  EXPECT_NEAR(modes->high, 1.5, 0.003);
  EXPECT_NEAR(modes->high_share, 1 / 3.0, 0.003);
}

}  // namespace
}  // namespace dnn::metrics
