// Histograms; see histogram.h.
#include "quant/histogram.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "base/error.h"

namespace dnn::quant {
namespace {

// The smallest e with |x| < 2^e; smaller numbers than 2^kLeastExponent share the bins around 0.
constexpr int kLeastExponent = -100;
int exponent_of(double x) { return x == 0 ? kLeastExponent : std::max(std::ilogb(x) + 1, kLeastExponent); }

}  // namespace

int64_t added(int64_t a, int64_t b) {
  if (a < 0 || b < 0 || a > kMostCount || b > kMostCount - a) fail_malformed("a count is out of range");
  return a + b;
}

double Histogram::width() const { return std::ldexp(1.0, exponent_) / kHalf; }

void Histogram::widen(int exponent) {
  if (bins_.empty()) bins_.assign(size_t{2} * kHalf, 0);
  if (count_ == 0) exponent_ = exponent;
  for (; exponent_ < exponent; ++exponent_) {
    std::vector<int64_t> wider(bins_.size(), 0);
    for (size_t i = 0; i < bins_.size(); ++i) wider[bins_.size() / 4 + i / 2] += bins_[i];
    bins_ = std::move(wider);
  }
}

std::pair<double, double> Histogram::add(std::span<const float> values) {
  if (values.empty()) return {0, 0};
  float low = values[0], high = values[0];
  bool finite = true;
  for (const float x : values) {
    low = std::min(low, x);
    high = std::max(high, x);
    finite = finite && std::isfinite(x);
  }
  if (!finite) {
    std::vector<float> kept;
    std::copy_if(values.begin(), values.end(), std::back_inserter(kept), [](float x) { return std::isfinite(x); });
    not_finite_ += static_cast<int64_t>(values.size() - kept.size());
    return add(kept);
  }
  widen(exponent_of(std::max(std::abs(static_cast<double>(low)), std::abs(static_cast<double>(high)))));
  // A power of two: the product is exact, so that no rounding decides between two bins.
  const auto factor = static_cast<float>(std::ldexp(static_cast<double>(kHalf), -exponent_));
  int64_t zeros = 0, at_low = 0, at_high = 0;
  for (const float x : values) {
    const int64_t bin = static_cast<int64_t>(std::floor(x * factor)) + kHalf;
    ++bins_[bin];
    zeros += static_cast<int64_t>(x == 0);
    at_low += static_cast<int64_t>(x == low);
    at_high += static_cast<int64_t>(x == high);
  }
  count_points(static_cast<double>(low), at_low, static_cast<double>(high), at_high, zeros);
  count_ += static_cast<int64_t>(values.size());
  return {static_cast<double>(low), static_cast<double>(high)};
}

void Histogram::add(const Histogram& other) {
  not_finite_ = added(not_finite_, other.not_finite_);
  if (other.empty()) return;
  const int64_t total = added(count_, other.count_);
  widen(other.exponent_);
  Histogram same = other;
  same.widen(exponent_);
  for (size_t i = 0; i < bins_.size(); ++i) bins_[i] += same.bins_[i];
  count_points(other.low_, other.at_low_, other.high_, other.at_high_, other.zeros_);
  count_ = total;
}

// Adds those of other numbers, before count_ has them.
void Histogram::count_points(double low, int64_t at_low, double high, int64_t at_high, int64_t zeros) {
  const bool first = count_ == 0;
  at_low_ = first || low < low_ ? at_low : low == low_ ? at_low_ + at_low : at_low_;
  at_high_ = first || high > high_ ? at_high : high == high_ ? at_high_ + at_high : at_high_;
  low_ = first ? low : std::min(low_, low);
  high_ = first ? high : std::max(high_, high);
  zeros_ += zeros;
}

std::vector<Histogram::Bin> Histogram::bins() const {
  std::vector<Bin> result;
  for (int i = 0; i < static_cast<int>(bins_.size()); ++i) {
    const int64_t n = bins_[i];
    if (n == 0) continue;
    const double from = std::max((i - kHalf) * width(), low_), to = std::min((i - kHalf + 1) * width(), high_);
    result.push_back({(from + std::max(from, to)) / 2, n});
  }
  return result;
}

std::vector<Histogram::Bin> Histogram::points() const {
  std::vector<Bin> result;
  const auto add = [&](double x, int64_t n) {
    if (n > 0 && (result.empty() || result.back().centre != x)) result.push_back({x, n});
  };
  add(low_, at_low_);
  if (low_ <= 0 && high_ >= 0) add(0, zeros_);
  add(high_, at_high_);
  return result;
}

std::vector<Histogram::Bin> Histogram::bins_between() const {
  std::map<int64_t, int64_t> at_points;  // by bin
  for (const Bin& point : points())
    at_points[static_cast<int64_t>(std::floor(point.centre / width())) + kHalf] += point.count;
  std::vector<Bin> result = bins();
  for (Bin& bin : result) {
    const auto at = at_points.find(static_cast<int64_t>(std::floor(bin.centre / width())) + kHalf);
    if (at != at_points.end()) bin.count = std::max<int64_t>(bin.count - at->second, 0);
  }
  return result;
}

Histogram::Parts Histogram::parts() const {
  Parts parts = {exponent_, low_, high_, not_finite_, zeros_, at_low_, at_high_, 0, {}};
  const auto filled = [](int64_t n) { return n != 0; };
  const auto first = std::find_if(bins_.begin(), bins_.end(), filled);
  const auto last = std::find_if(bins_.rbegin(), bins_.rend(), filled).base();
  if (first == bins_.end()) return parts;
  parts.first = first - bins_.begin();
  parts.counts.assign(first, last);
  return parts;
}

Histogram Histogram::of(const Parts& parts) {
  Histogram histogram;
  histogram.not_finite_ = added(parts.not_finite, 0);
  if (parts.counts.empty()) return histogram;
  constexpr int64_t kBins = 2 * int64_t{kHalf};
  const auto n = static_cast<int64_t>(parts.counts.size());
  if (parts.first < 0 || parts.first >= kBins || n > kBins - parts.first)
    fail_malformed("a histogram has more bins than there are");
  if (parts.exponent < kLeastExponent || parts.exponent > std::numeric_limits<float>::max_exponent)
    fail_malformed("a histogram's exponent is not one of float32's");
  if (parts.counts.front() == 0 || parts.counts.back() == 0) fail_malformed("a histogram ends in an empty bin");
  histogram.widen(parts.exponent);  // while it is empty: only then does it take a smaller exponent than its own
  for (const int64_t count : parts.counts) histogram.count_ = added(histogram.count_, count);
  std::copy(parts.counts.begin(), parts.counts.end(), histogram.bins_.begin() + parts.first);
  // The extremes lie in the outer bins; a number so small that it is 0 beside the width may be in the next one.
  const auto outer = [&](double extreme, int64_t bin) {
    const double at = extreme / histogram.width() + kHalf - static_cast<double>(bin);
    return std::abs(extreme) <= std::numeric_limits<float>::max() && at >= -1 && at <= 2;
  };
  if (!(parts.low <= parts.high) || !outer(parts.low, parts.first) || !outer(parts.high, parts.first + n - 1))
    fail_malformed("a histogram's extremes do not fit its bins");
  for (const int64_t n : {parts.zeros, parts.at_low, parts.at_high}) {
    if (n < 0 || n > histogram.count_) fail_malformed("a histogram has more numbers at a point than there are");
  }
  histogram.low_ = parts.low;
  histogram.high_ = parts.high;
  histogram.zeros_ = parts.zeros;
  histogram.at_low_ = parts.at_low;
  histogram.at_high_ = parts.at_high;
  return histogram;
}

}  // namespace dnn::quant
