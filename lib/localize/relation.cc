// Telling how constants relate; see relation.h.
#include "localize/relation.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "localize/parameters.h"

namespace dnn {
namespace {

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

using Numbers = std::vector<double>;

template <class Round>
bool rounded_by(const Numbers& a, const Numbers& b, Round round) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (round(a[i]) != b[i]) return false;
  }
  return true;
}

double as_half(double x) { return static_cast<double>(static_cast<float>(Half(static_cast<float>(x)))); }
double as_bfloat16(double x) { return static_cast<double>(static_cast<float>(BFloat16(static_cast<float>(x)))); }

// How many different magnitudes, up to a limit.
size_t levels(const Numbers& values, double step) {
  std::vector<int64_t> seen;
  for (double x : values) {
    const double level = x / step;
    if (!(std::abs(level - std::nearbyint(level)) < 1e-3) || std::abs(level) > 40000) return 0;
    seen.push_back(std::llabs(std::llround(level)));
  }
  return *std::max_element(seen.begin(), seen.end());
}

// Symmetric integers of `bits` with one scale for all.
bool is_quantized(const Numbers& a, const Numbers& b, int bits) {
  double largest = 0;
  for (double x : b) largest = std::max(largest, std::abs(x));
  const double most = std::ldexp(1.0, bits - 1) - 1, step = largest / most;
  if (largest == 0 || levels(b, step) == 0) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(a[i] - b[i]) <= 1.01 * step)) return false;
  }
  return true;
}

std::string factor(const Numbers& a, const Numbers& b) {
  double up = 0, down = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    up += a[i] * b[i];
    down += a[i] * a[i];
  }
  if (down == 0 || up == 0) return "";
  const double k = up / down;
  double largest = 0;
  for (double x : b) largest = std::max(largest, std::abs(x));
  for (size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(k * a[i] - b[i]) <= 1e-5 * largest)) return "";
  }
  return short_number(k);
}

}  // namespace

std::string constant_relation(const Tensor& source, const Tensor& target) {
  const auto numeric = [](const Tensor& t) { return is_float(t.dtype()) || is_integer(t.dtype()); };
  if (!numeric(source) || !numeric(target)) return source.identical(target) ? "" : "different";
  if (source.size() != target.size())
    return cat("of another size, ", shape_text(target.shape()), " for ", shape_text(source.shape()));
  const Numbers a = to_doubles(source), b = to_doubles(target);
  size_t differing = 0, not_numbers = 0;
  double largest = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    ++differing;
    if (!std::isfinite(b[i])) ++not_numbers;
    largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  for (double x : a) size = std::max(size, std::abs(x));
  if (differing == 0) return "";
  if (not_numbers > 0) return cat(not_numbers, " of ", b.size(), " elements not finite");
  if (a.size() == 1) return cat(short_number(b[0]), " in place of ", short_number(a[0]));
  const auto all = [&](double value) { return std::all_of(b.begin(), b.end(), [&](double x) { return x == value; }); };
  if (all(0)) return "zero";
  if (all(1)) return "one throughout";
  if (rounded_by(a, b, as_half)) return "rounded to float16";
  if (rounded_by(a, b, as_bfloat16)) return "rounded to bfloat16";
  for (int bits : {8, 4}) {
    if (is_float(source.dtype()) && is_quantized(a, b, bits)) return cat("rounded to int", bits);
  }
  if (const std::string k = factor(a, b); !k.empty()) return "scaled by " + k;
  std::string of_layout = parameter_relation(source, target, {.atol = 0, .rtol = 1e-6});
  if (!of_layout.empty() && of_layout != "different") return of_layout;
  if (differing * 4 <= a.size())
    return cat(differing, " of ", a.size(), " elements differ, by at most ", short_number(largest));
  Numbers x = a, y = b;
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  if (x == y) return "the same numbers in another order";
  const std::string apart = cat("by at most ", short_number(largest), " of ", short_number(size));
  return largest <= 1e-5 * size ? "rounded otherwise, " + apart : "other numbers, apart " + apart;
}

}  // namespace dnn
