// Quantiles: order statistics of a long series in bounded memory, exact while the series is short.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dnn::metrics {

// A value and how often it came.
struct Counted {
  double value = 0;
  int64_t count = 0;
};

// Up to kExact values, quantiles are exact (linear between the two nearest order statistics, as numpy does by default).
// Beyond, values are counted in buckets, and a quantile is off by at most 1/1024 of itself. Values must be finite and
// not negative. The result depends on the values only, not on their order.
class Quantiles {
 public:
  static constexpr size_t kExact = 65536;

  void add(double value);
  int64_t count() const { return count_; }
  // The q-quantile, q in [0, 1]; 0 when nothing was added.
  double at(double q) const;
  // All values, ascending; beyond kExact the middles of the buckets.
  std::vector<Counted> counted() const;

 private:
  static constexpr int kSubBuckets = 1024;  // for each power of two
  static constexpr int kLowest = -32, kHighest = 64;

  static size_t bucket_of(double value);
  static double bucket_middle(size_t bucket);
  void sort() const;
  double order_statistic(int64_t i) const;  // the i-th smallest; values_ must be sorted

  int64_t count_ = 0;
  mutable std::vector<double> values_;  // while exact; sorted by at()
  mutable bool sorted_ = true;
  std::vector<int64_t> buckets_;  // empty while exact; the first is for everything below 2^kLowest
};

}  // namespace dnn::metrics
