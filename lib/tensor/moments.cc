// Moments of numbers; see moments.h.
#include "tensor/moments.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dnn {
namespace {

class CompensatedSum {
 public:
  void add(double value) {
    const double corrected = value - lost_, sum = sum_ + corrected;
    lost_ = (sum - sum_) - corrected;
    sum_ = sum;
  }
  double value() const { return sum_; }

 private:
  double sum_ = 0, lost_ = 0;
};

}  // namespace

void Moments::add(const Tensor& tensor) {
  const std::vector<double> values = to_doubles(tensor);
  CompensatedSum sum;
  for (double value : values) {
    if (!std::isfinite(value)) odd_ += value;
    largest_ = std::isnan(value) || std::isnan(largest_) ? std::numeric_limits<double>::quiet_NaN()
                                                         : std::max(largest_, std::abs(value));
    sum.add(value);
  }
  const auto n_before = static_cast<double>(count_), n_part = static_cast<double>(values.size());
  count_ += static_cast<int64_t>(values.size());
  if (odd_ != 0 || values.empty()) return;  // NaN is not 0 either
  const double part_mean = sum.value() / n_part;
  CompensatedSum squares;
  for (double value : values) squares.add((value - part_mean) * (value - part_mean));
  const double apart = part_mean - mean_, n = n_before + n_part;
  mean_ += apart * (n_part / n);
  squares_ += squares.value() + apart * apart * (n_before * n_part / n);
}

double Moments::mean() const {
  if (count_ == 0) return std::numeric_limits<double>::quiet_NaN();
  return odd_ != 0 ? odd_ : mean_;
}

double Moments::deviation() const {
  if (count_ == 0 || odd_ != 0) return std::numeric_limits<double>::quiet_NaN();
  return std::sqrt(squares_ / static_cast<double>(count_));
}

double Moments::largest() const { return largest_; }

}  // namespace dnn
