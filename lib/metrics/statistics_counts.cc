// Statistics over counts of right and wrong samples; see statistics.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "metrics/statistics.h"

namespace dnn::metrics {
namespace {

constexpr double kTwoSided95 = 1.959963984540054;  // the normal distribution's 97.5 % quantile

// Draws from binomial distributions. std::binomial_distribution differs between standard libraries.
class Binomial {
 public:
  explicit Binomial(uint64_t seed) : random_(seed) {}

  int64_t draw(int64_t n, double p) {
    if (n <= 0 || p <= 0) return 0;
    if (p >= 1) return n;
    if (p > 0.5) return n - draw(n, 1 - p);
    return static_cast<double>(n) * p < 10 ? by_inversion(n, p) : by_rejection(n, p);
  }

 private:
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

  // Algorithm BINV of Kachitvichyanukul, Schmeiser: Binomial random variate generation, CACM 1988.
  int64_t by_inversion(int64_t n, double p) {
    const double odds = p / (1 - p);
    double mass = std::exp(static_cast<double>(n) * std::log1p(-p));
    double u = uniform();
    int64_t k = 0;
    while (u > mass && k < n) {
      u -= mass;
      ++k;
      mass *= odds * static_cast<double>(n - k + 1) / static_cast<double>(k);
    }
    return k;
  }

  // log(k!) less Stirling's formula.
  static double stirling_rest(double k) {
    static constexpr std::array<double, 10> kSmall = {
        0.08106146679532726, 0.04134069595540929, 0.02767792568499834, 0.02079067210376509,  0.01664469118982119,
        0.01387612882307075, 0.01189670994589177, 0.01041126526197209, 0.009255462182712733, 0.008330563433362871};
    if (k <= 9) return kSmall[k];
    const double square = (k + 1) * (k + 1);
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
  }

  // Algorithm BTRS of Hoermann: The generation of binomial random variates, J. Stat. Comput. Simul. 1993.
  int64_t by_rejection(int64_t n_draws, double p) {
    const auto n = static_cast<double>(n_draws);
    const double deviation = std::sqrt(n * p * (1 - p));
    const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p, c = n * p + 0.5;
    const double squeeze = 0.92 - 4.2 / b;
    for (;;) {
      const double u = uniform() - 0.5;
      double v = uniform();
      const double us = 0.5 - std::abs(u);
      const double k = std::floor((2 * a / us + b) * u + c);
      if (us >= 0.07 && v <= squeeze) return static_cast<int64_t>(k);
      if (!(k >= 0 && k <= n)) continue;
      const double odds = p / (1 - p), alpha = (2.83 + 5.1 / b) * deviation, m = std::floor((n + 1) * p);
      v = std::log(v * alpha / (a / (us * us) + b));
      const double bound = (m + 0.5) * std::log((m + 1) / (odds * (n - m + 1))) +
                           (n + 1) * std::log((n - m + 1) / (n - k + 1)) +
                           (k + 0.5) * std::log(odds * (n - k + 1) / (k + 1)) + stirling_rest(m) +
                           stirling_rest(n - m) - stirling_rest(k) - stirling_rest(n - k);
      if (v <= bound) return static_cast<int64_t>(k);
    }
  }

  std::mt19937_64 random_;
};

// The q-quantile, linear between the two nearest order statistics.
double quantile(std::vector<int64_t>* values, double q) {
  const double at = q * static_cast<double>(values->size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(at);
  const auto middle = values->begin() + below;
  std::nth_element(values->begin(), middle, values->end());
  const auto low = static_cast<double>(*middle);
  if (middle + 1 == values->end()) return low;
  const auto high = static_cast<double>(*std::min_element(middle + 1, values->end()));
  return low + (high - low) * (at - static_cast<double>(below));
}

}  // namespace

double mcnemar_p(const FourCounts& counts) {
  const int64_t n = counts.only_a + counts.only_b;
  return std::min(1.0, 2 * coins_at_most(std::min(counts.only_a, counts.only_b), n));
}

Interval wilson_interval(int64_t successes, int64_t n_samples) {
  const auto n = static_cast<double>(n_samples);
  const double p = static_cast<double>(successes) / n, z = kTwoSided95;
  const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  // The ends of the two extremes are exactly 0 and 1.
  return {successes == 0 ? 0 : middle - half, successes == n_samples ? 1 : middle + half};
}

Interval bootstrap_difference(const FourCounts& counts, uint64_t seed) {
  const int64_t total = counts.total();
  const auto n = static_cast<double>(total);
  const double share_b = static_cast<double>(counts.only_b) / n;
  const double share_a = static_cast<double>(counts.only_a) / static_cast<double>(total - counts.only_b);
  Binomial binomial(seed);
  std::vector<int64_t> differences;
  differences.reserve(kBootstrapDraws);
  for (int i = 0; i < kBootstrapDraws; ++i) {
    const int64_t only_b = binomial.draw(total, share_b);
    const int64_t only_a = counts.only_a == 0 ? 0 : binomial.draw(total - only_b, share_a);
    differences.push_back(only_b - only_a);
  }
  const double low = quantile(&differences, 0.025);
  return {low / n, quantile(&differences, 0.975) / n};
}

}  // namespace dnn::metrics
