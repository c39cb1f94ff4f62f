// Gathering ranges; see source_range.h.
#include "localize/source_range.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace dnn {
namespace {

constexpr size_t kMostSome = 2048;  // elements of a sample that are kept

}  // namespace

void SourceRange::add(const Tensor& tensor) {
  if (!is_float(tensor.dtype()) && !is_integer(tensor.dtype())) return;
  const std::vector<double> numbers = to_doubles(tensor);
  if (numbers.empty()) return;
  const bool image = tensor.rank() > 2;
  const size_t channels = tensor.rank() == 0 ? 1 : tensor.dim(image ? 1 : tensor.rank() - 1);
  const size_t stride = image ? static_cast<size_t>(row_major_strides(tensor.shape())[1]) : 1;
  if (sums_.size() != channels) {
    sums_.assign(channels, 0);
    means_.assign(channels, 0);
    lows_.assign(channels, numbers[0]);
    highs_.assign(channels, numbers[0]);
    n_ = 0;
  }
  const size_t step = std::max<size_t>(1, numbers.size() / kMostSome);
  std::pair<double, double> ends = {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!std::isfinite(numbers[i])) continue;
    ends = {std::min(ends.first, numbers[i]), std::max(ends.second, numbers[i])};
    low = some.empty() ? numbers[i] : std::min(low, numbers[i]);
    high = some.empty() ? numbers[i] : std::max(high, numbers[i]);
    const size_t channel = i / stride % channels;
    sums_[channel] += std::abs(numbers[i]);
    means_[channel] += numbers[i];
    lows_[channel] = std::min(lows_[channel], numbers[i]);
    highs_[channel] = std::max(highs_[channel], numbers[i]);
    if (i % step == 0 || some.empty()) some.push_back(static_cast<float>(numbers[i]));
  }
  if (ends.first <= ends.second) each.push_back(ends);
  const size_t positions = numbers.size() / channels;
  n_ += static_cast<double>(positions);
}

std::pair<double, double> SourceRange::of_channels(double share) const {
  if (lows_.empty()) return {low, high};
  std::vector<double> lows = lows_, highs = highs_;
  std::sort(lows.rbegin(), lows.rend());
  std::sort(highs.begin(), highs.end());
  const size_t last = share * static_cast<double>(lows.size() - 1);
  return {lows[last], highs[last]};
}

std::optional<double> SourceRange::mean(size_t channel) const {
  return n_ == 0 || channel >= means_.size() ? std::nullopt : std::optional(means_[channel] / n_);
}

double SourceRange::mean_abs(size_t channel) const {
  if (n_ == 0 || sums_.empty()) return 0;
  if (channel < sums_.size()) return sums_[channel] / n_;
  return std::accumulate(sums_.begin(), sums_.end(), 0.0) / n_ / static_cast<double>(sums_.size());
}

}  // namespace dnn
