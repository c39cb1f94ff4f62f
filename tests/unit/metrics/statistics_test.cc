// Tests, intervals and effect sizes, with figures computed by scipy 1.17.1 (exact ones by hand).
#include "metrics/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace dnn::metrics {
namespace {

using Series = std::vector<int64_t>;

void expect_test(const std::optional<RankTest>& test, double statistic, double p, double effect) {
  ASSERT_TRUE(test.has_value());
  EXPECT_DOUBLE_EQ(test->statistic, statistic);
  EXPECT_NEAR(test->p, p, 1e-12 * p);
  ASSERT_TRUE(test->effect.has_value());
  EXPECT_NEAR(*test->effect, effect, 1e-12);
}

TEST(Statistics, McNemarIsTheBinomialTest) {
  EXPECT_NEAR(mcnemar_p({100, 3, 11, 7}), 0.057373046875, 1e-12);
  EXPECT_NEAR(mcnemar_p({0, 900, 1100, 0}), 8.45708953550381e-06, 1e-12);
  EXPECT_DOUBLE_EQ(mcnemar_p({1, 0, 5, 1}), 2.0 / 32);
  EXPECT_EQ(mcnemar_p({1, 4, 4, 1}), 1);
  EXPECT_EQ(mcnemar_p({8, 0, 0, 1}), 1);
}

TEST(Statistics, WilsonStaysWithinTheShares) {
  const Interval some = wilson_interval(97, 100);
  EXPECT_NEAR(some.low, 0.9154806357094724, 1e-12);
  EXPECT_NEAR(some.high, 0.9897454759759611, 1e-12);
  EXPECT_EQ(wilson_interval(0, 3).low, 0);
  EXPECT_EQ(wilson_interval(3, 3).high, 1);
  EXPECT_GT(wilson_interval(3, 3).low, 0.4);
}

TEST(Statistics, BootstrapIsSeededAndHoldsTheDifference) {
  const FourCounts counts{9000, 300, 500, 200};
  const Interval one = bootstrap_difference(counts, 1), again = bootstrap_difference(counts, 1);
  EXPECT_EQ(one.low, again.low);
  EXPECT_EQ(one.high, again.high);
  // The normal approximation: 0.02 +- 1.96 sqrt((0.08 - 0.02^2) / 10,000); 10,000 draws leave each end 2.7 % of half the width.
  const double half = 1.959963984540054 * std::sqrt((0.08 - 0.0004) / 1e4);
  EXPECT_NEAR(one.low, 0.02 - half, 0.06 * half);
  EXPECT_NEAR(one.high, 0.02 + half, 0.06 * half);
  const Interval sure = bootstrap_difference({7, 0, 0, 2}, 1), all = bootstrap_difference({0, 0, 4, 0}, 1);
  EXPECT_EQ(sure.low, 0);
  EXPECT_EQ(sure.high, 0);
  EXPECT_EQ(all.low, 1);
}

TEST(Statistics, MannWhitneyIsExactForSmallSeriesWithoutTies) {
  expect_test(mann_whitney(Series{3, 5, 9, 14, 20}, Series{4, 10, 11, 30, 31, 32, 33}), 27.0, 0.148989898989899,
              2 * 27.0 / 35.0 - 1);
  expect_test(mann_whitney(Series{1, 2, 2, 3, 3, 3, 4, 5, 6, 7}, Series{2, 3, 3, 5, 6, 7, 7, 8, 9}), 66.0,
              0.08983166390214142, 2 * 66.0 / 90.0 - 1);
  expect_test(mann_whitney(Series{1, 1, 1}, Series{1, 1}), 3, 1, 0);  // all tied
  EXPECT_FALSE(mann_whitney(Series{}, Series{1}).has_value());
}

TEST(Statistics, KruskalWallisHeedsTies) {
  const Series a = {1, 2, 2, 3, 3, 3, 4, 5, 6, 7}, b = {2, 3, 3, 5, 6, 7, 7, 8, 9}, c = {5, 9, 11};
  const std::optional<RankTest> test = kruskal_wallis({a, b, c});
  ASSERT_TRUE(test.has_value());
  EXPECT_NEAR(test->statistic, 6.427144502014963, 1e-12);
  EXPECT_NEAR(test->p, 0.0402127065081852, 1e-12);
  EXPECT_DOUBLE_EQ(*test->effect, test->statistic / 21);
  EXPECT_FALSE(kruskal_wallis({a}).has_value());
  EXPECT_FALSE(kruskal_wallis({a, Series{}}).has_value());
  EXPECT_FALSE(kruskal_wallis({Series{4, 4}, Series{4}}).has_value());
}

TEST(Statistics, WilcoxonIsExactWhereItCanBe) {
  expect_test(wilcoxon(Series{5, -3, 8, 1, -2, 13, 7}), 5.0, 0.15625, 18.0 / 28);
  expect_test(wilcoxon(Series{5, -3, 5, 0, -3, 8}), 3.0, 0.25, 9.0 / 15);  // ties and a zero: over all signs
  expect_test(wilcoxon(Series{1, -2, 2, 3, 3, -3, 4, 4, -5, 6, 6, 0, 7, 7, 8}), 16.5, 0.02354831533625708,
              1 - 2 * 16.5 / 105);
  const std::optional<RankTest> nothing = wilcoxon(Series{0, 0, 0});
  ASSERT_TRUE(nothing.has_value());
  EXPECT_EQ(nothing->p, 1);
  EXPECT_FALSE(nothing->effect.has_value());
  EXPECT_FALSE(wilcoxon(Series{}).has_value());
  EXPECT_FALSE(wilcoxon(Series(14, 0)).has_value());
}

// scipy 1.17.1's f_oneway.
TEST(Statistics, AnovaEqualsScipy) {
  const auto anova = [](const std::vector<double>& a, const std::vector<double>& b) { return one_way_anova(a, b); };
  EXPECT_NEAR(anova({0.002, 0.004}, {0.0015, 0.0015})->statistic, 2.25, 1e-9);
  EXPECT_NEAR(anova({0.002, 0.004}, {0.0015, 0.0015})->p, 0.2723931248910011, 1e-12);
  EXPECT_EQ(anova({1, 2, 3}, {3, 1, 2})->p, 1);
  EXPECT_TRUE(std::isinf(anova({0.1, 0.1, 0.1}, {0.3, 0.3})->statistic));
  EXPECT_EQ(anova({0.1, 0.1, 0.1}, {0.3, 0.3})->p, 0);
  EXPECT_EQ(anova({0.1, 0.1, 0.1}, {0.1}), std::nullopt);
  EXPECT_EQ(anova({}, {1, 2, 3}), std::nullopt);
  EXPECT_EQ(anova({1}, {2}), std::nullopt);
}

TEST(Statistics, HolmByHand) {
  // 3 x 0.01; 2 x 0.02; 1 x 0.03, but not below the one before.
  EXPECT_EQ(holm({0.03, 0.01, 0.02}), (std::vector<double>{0.04, 0.03, 0.04}));
  EXPECT_EQ(holm({0.5, 0.9}), (std::vector<double>{1, 1}));
  EXPECT_TRUE(holm({}).empty());
}

}  // namespace
}  // namespace dnn::metrics
