// Distribution functions, by Boost.Math; the only file that pays for its headers.
#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>

#include "metrics/statistics.h"

namespace dnn::metrics {

double coins_at_most(int64_t k, int64_t n) {
  if (k < 0) return 0;
  if (k >= n) return 1;
  return boost::math::ibetac(static_cast<double>(k + 1), static_cast<double>(n - k), 0.5);
}

double chi_square_above(double x, double degrees) { return boost::math::gamma_q(degrees / 2, std::max(x, 0.0) / 2); }

double normal_above(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }

double f_above(double f, double degrees_between, double degrees_within) {
  if (std::isinf(f)) return 0;
  const double x = degrees_within / (degrees_within + degrees_between * std::max(f, 0.0));
  return boost::math::ibeta(degrees_within / 2, degrees_between / 2, x);
}

}  // namespace dnn::metrics
