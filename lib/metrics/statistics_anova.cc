// Analysis of variance; see statistics.h.
#include <cmath>

#include "metrics/statistics.h"

namespace dnn::metrics {
namespace {

struct Sums {
  double n = 0, mean = 0, squares = 0;  // of deviations from the mean
};

// Around the first value, so that equal values have no deviation at all.
Sums sums_of(std::span<const double> values, double origin) {
  Sums sums;
  sums.n = static_cast<double>(values.size());
  for (const double value : values) sums.mean += (value - origin) / sums.n;
  for (const double value : values) sums.squares += (value - origin - sums.mean) * (value - origin - sums.mean);
  bool equal = true;
  for (const double value : values) equal = equal && value == values[0];
  if (equal) sums = {sums.n, values[0] - origin, 0};
  return sums;
}

}  // namespace

std::optional<RankTest> one_way_anova(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty() || a.size() + b.size() < 3) return std::nullopt;
  const Sums x = sums_of(a, a[0]), y = sums_of(b, a[0]);
  const double between = x.n * y.n / (x.n + y.n) * (y.mean - x.mean) * (y.mean - x.mean);
  const double within = x.squares + y.squares;
  const double degrees = x.n + y.n - 2;
  const double f = between / (within / degrees);
  if (std::isnan(f)) return std::nullopt;
  return RankTest{f, f_above(f, 1, degrees), between / (between + within)};
}

}  // namespace dnn::metrics
