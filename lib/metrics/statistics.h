// Statistics: tests, intervals and effect sizes over counts and series, as pure functions. The choices between exact and
// approximate methods are those of scipy's method='auto', so that values can be held to scipy's.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dnn::metrics {

// How often two classifiers were right on the same samples.
struct FourCounts {
  int64_t both = 0, only_a = 0, only_b = 0, none = 0;
  int64_t total() const { return both + only_a + only_b + none; }
};

struct Interval {
  double low = 0, high = 0;
};

// Exact two-sided p of McNemar's test: of the samples that one alone is right on, each has it half of the time (McNemar,
// Psychometrika 1947, with the binomial distribution for its chi-square). 1 when there are none.
double mcnemar_p(const FourCounts& counts);

// Wilson's score interval of the share successes / n at 95 % (Wilson, JASA 1927); n > 0.
Interval wilson_interval(int64_t successes, int64_t n);

// Percentile bootstrap interval at 95 % of the share of right samples of b less that of a (Efron, Tibshirani: An
// introduction to the bootstrap, 1993, chapter 13), in its multinomial form: resampling the samples is drawing the four
// counts anew. The same counts and seed give the same interval on every machine. total() > 0.
inline constexpr int kBootstrapDraws = 10000;
Interval bootstrap_difference(const FourCounts& counts, uint64_t seed);

struct RankTest {
  double statistic = 0;
  double p = 1;                  // two-sided
  std::optional<double> effect;  // see each test
  bool operator==(const RankTest&) const = default;
};

// Mann-Whitney U test of two sorted series (Mann, Whitney, Ann. Math. Stat. 1947): exact where one has at most 8 values
// and no two values are equal, else by the normal approximation with corrections for ties and continuity. The
// statistic is U of b; the effect the rank-biserial correlation 2U / (n_a n_b) - 1 (Kerby, Compr. Psychol. 2014):
// 1 where all of b are above all of a. nullopt when a series is empty. Above 10^7 pairs it is never exact.
std::optional<RankTest> mann_whitney(std::span<const int64_t> a, std::span<const int64_t> b);

// Wilcoxon's signed-rank test of paired differences (Wilcoxon, Biometrics Bull. 1945), zeros dropped: exact for at most
// 50 differences without ties and zeros, and for at most 13 with; else by the normal approximation with correction for
// ties. The statistic is the smaller rank sum; the effect the matched-pairs rank-biserial correlation
// (R+ - R-) / (R+ + R-) (Kerby 2014). nullopt where it is not defined: no differences, or more than 13 that are all 0.
// The differences must not hold the least int64.
std::optional<RankTest> wilcoxon(std::span<const int64_t> differences);

// Kruskal-Wallis test of sorted series (Kruskal, Wallis, JASA 1952), corrected for ties, by the chi-square distribution.
// The effect is epsilon squared, H / (n - 1) (Tomczak, Tomczak, Trends Sport Sci. 2014). nullopt with fewer than two series,
// an empty one, or when all values are equal.
std::optional<RankTest> kruskal_wallis(const std::vector<std::span<const int64_t>>& groups);

// One-way analysis of variance of two series, the F test of their means: without the medians and ranks of the above it asks for normal
// distributions, which times have not; it is here for files that state it. The statistic is F; the effect eta squared. nullopt where
// F is 0 / 0; an infinite F has p 0.
std::optional<RankTest> one_way_anova(std::span<const double> a, std::span<const double> b);

// Holm's step-down correction (Holm, Scand. J. Stat. 1979): each p as adjusted for being one of all of these.
std::vector<double> holm(const std::vector<double>& p);

// Distribution functions: P(X <= k) for n fair coins, P(X > x) of chi-square, P(X > z) of the standard normal,
// P(X > f) of F.
double coins_at_most(int64_t k, int64_t n);
double chi_square_above(double x, double degrees);
double normal_above(double z);
double f_above(double f, double degrees_between, double degrees_within);

}  // namespace dnn::metrics
