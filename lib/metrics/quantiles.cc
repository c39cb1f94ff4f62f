// Quantiles; see quantiles.h.
#include "metrics/quantiles.h"

#include <algorithm>
#include <cmath>

namespace dnn::metrics {

size_t Quantiles::bucket_of(double value) {
  if (value < std::ldexp(1.0, kLowest)) return 0;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // [0.5, 1)
  exponent = std::min(exponent - 1, kHighest - 1);
  const int sub = std::min(static_cast<int>((2 * fraction - 1) * kSubBuckets), kSubBuckets - 1);
  return 1 + static_cast<size_t>((exponent - kLowest) * kSubBuckets + sub);
}

double Quantiles::bucket_middle(size_t bucket) {
  if (bucket == 0) return 0;
  const int index = static_cast<int>(bucket - 1);
  return std::ldexp(1 + (index % kSubBuckets + 0.5) / kSubBuckets, index / kSubBuckets + kLowest);
}

void Quantiles::add(double value) {
  ++count_;
  if (buckets_.empty() && values_.size() < kExact) {
    values_.push_back(value);
    sorted_ = false;
    return;
  }
  if (buckets_.empty()) {
    buckets_.resize(1 + static_cast<size_t>(kHighest - kLowest) * kSubBuckets);
    for (double v : values_) ++buckets_[bucket_of(v)];
    values_ = {};
  }
  ++buckets_[bucket_of(value)];
}

double Quantiles::order_statistic(int64_t i) const {
  if (buckets_.empty()) return values_[i];
  size_t bucket = 0;
  for (int64_t below = buckets_[0]; below <= i; below += buckets_[bucket]) ++bucket;
  return bucket_middle(bucket);
}

void Quantiles::sort() const {
  if (!sorted_) std::sort(values_.begin(), values_.end());
  sorted_ = true;
}

std::vector<Counted> Quantiles::counted() const {
  sort();
  std::vector<Counted> result;
  result.reserve(values_.size());
  for (const double value : values_) result.push_back({value, 1});
  for (size_t i = 0; i < buckets_.size(); ++i) {
    if (buckets_[i] > 0) result.push_back({bucket_middle(i), buckets_[i]});
  }
  return result;
}

double Quantiles::at(double q) const {
  if (count_ == 0) return 0;
  sort();
  const double position = q * static_cast<double>(count_ - 1);
  const auto low = static_cast<int64_t>(position);
  const double below = order_statistic(low);
  const double above = order_statistic(std::min(low + 1, count_ - 1));
  return below + (position - static_cast<double>(low)) * (above - below);
}

}  // namespace dnn::metrics
