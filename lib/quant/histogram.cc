// Histograms; see histogram.h.
#include "quant/histogram.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/error.h"

namespace dnn::quant {
namespace {

// The smallest e with |x| < 2^e; smaller numbers than 2^kLeastExponent share the bins around 0.
constexpr int kLeastExponent = -100;
int exponent_of(double x) { return x == 0 ? kLeastExponent : std::max(std::ilogb(x) + 1, kLeastExponent); }

}  // namespace

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
  for (const float x : values) {
    const int64_t bin = static_cast<int64_t>(std::floor(x * factor)) + kHalf;
    ++bins_[bin];
  }
  low_ = count_ == 0 ? static_cast<double>(low) : std::min(low_, static_cast<double>(low));
  high_ = count_ == 0 ? static_cast<double>(high) : std::max(high_, static_cast<double>(high));
  count_ += static_cast<int64_t>(values.size());
  return {static_cast<double>(low), static_cast<double>(high)};
}

void Histogram::add(const Histogram& other) {
  not_finite_ += other.not_finite_;
  if (other.empty()) return;
  widen(other.exponent_);
  Histogram same = other;
  same.widen(exponent_);
  for (size_t i = 0; i < bins_.size(); ++i) bins_[i] += same.bins_[i];
  low_ = count_ == 0 ? other.low_ : std::min(low_, other.low_);
  high_ = count_ == 0 ? other.high_ : std::max(high_, other.high_);
  count_ += other.count_;
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

Histogram::Parts Histogram::parts() const {
  Parts parts = {exponent_, low_, high_, not_finite_, 0, {}};
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
  histogram.not_finite_ = parts.not_finite;
  if (parts.counts.empty()) return histogram;
  constexpr int64_t kBins = 2 * int64_t{kHalf};
  if (parts.first < 0 || parts.first >= kBins || static_cast<int64_t>(parts.counts.size()) > kBins - parts.first)
    fail_malformed("a histogram has more bins than there are");
  histogram.widen(parts.exponent);
  std::copy(parts.counts.begin(), parts.counts.end(), histogram.bins_.begin() + parts.first);
  constexpr int64_t kMost = INT64_MAX / kBins;
  for (const int64_t n : parts.counts) {
    if (n < 0 || n > kMost) fail_malformed("a histogram's count is out of range");
    histogram.count_ += n;
  }
  const double end = std::ldexp(1.0, parts.exponent);
  if (!(parts.low <= parts.high) || parts.low < -end || parts.high > end || histogram.count_ == 0)
    fail_malformed("a histogram's extremes do not fit its bins");
  histogram.low_ = parts.low;
  histogram.high_ = parts.high;
  return histogram;
}

}  // namespace dnn::quant
