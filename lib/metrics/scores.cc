// Scores; see scores.h.
#include "metrics/scores.h"

#include <algorithm>
#include <cmath>

namespace dnn::metrics {
namespace {

bool has_rows(const Tensor& tensor) {
  return tensor.rank() > 0 && tensor.size() > 0 && tensor.shape().back() > 1 && is_float(tensor.dtype());
}

bool is_distribution(const Tensor& tensor) {
  const Tensor values = convert(tensor, DType::Float64);
  const size_t width = tensor.shape().back();
  const double* all = values.data<double>();
  for (size_t at = 0; at < static_cast<size_t>(values.size()); at += width) {
    double sum = 0;
    for (size_t i = 0; i < width; ++i) {
      const double value = all[at + i];
      if (!(value >= 0 && value <= 1)) return false;
      sum += value;
    }
    if (std::abs(sum - 1) > 1e-2) return false;
  }
  return true;
}

}  // namespace

bool is_near_tie(std::span<const Scored> best_first) {
  if (best_first.size() < 2) return false;
  const double first = best_first[0].score, second = best_first[1].score;
  return first - second <= kNearTie * std::max(std::abs(first), std::abs(second));
}

void ScoreScale::add(const Tensor& output) {
  if (!has_rows(output)) return;
  any_ = true;
  probabilities_ = probabilities_ && is_distribution(output);
}

Tensor softmax(const Tensor& tensor) {
  if (!has_rows(tensor)) return tensor;
  Tensor result = convert(tensor, DType::Float64);
  const size_t width = tensor.shape().back();
  double* all = result.mutable_data<double>();
  for (size_t at = 0; at < static_cast<size_t>(result.size()); at += width) {
    const std::span<double> row(all + at, width);
    const double largest = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (double& value : row) sum += value = std::exp(value - largest);
    for (double& value : row) value /= sum;
  }
  return result;
}

}  // namespace dnn::metrics
