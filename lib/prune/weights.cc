// Weights with zeros and in clusters; see weights.h.
#include "prune/weights.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"

namespace dnn::prune {
namespace {

constexpr int kMostSteps = 100;  // of Lloyd's; one-dimensional clusters settle in far fewer

// k-means of numbers in rising order.
class Clusters {
 public:
  Clusters(std::vector<float> sorted, uint64_t seed) : numbers_(std::move(sorted)), seed_(seed) {
    sums_.assign(numbers_.size() + 1, 0);
    for (size_t i = 0; i < numbers_.size(); ++i) sums_[i + 1] = sums_[i] + static_cast<double>(numbers_[i]);
  }

  std::vector<double> centres(size_t k) {
    std::vector<double> centres = first_centres(k);
    for (int step = 0; step < kMostSteps; ++step) {
      std::vector<double> next;
      size_t from = 0;
      for (size_t c = 0; c < centres.size(); ++c) {
        const size_t to = c + 1 == centres.size() ? numbers_.size() : end_of(centres[c], centres[c + 1]);
        if (to > from) next.push_back((sums_[to] - sums_[from]) / static_cast<double>(to - from));
        from = to;
      }
      if (next == centres) break;
      centres = std::move(next);
    }
    return centres;
  }

  // The first place that is nearer to the second of two neighbouring centres.
  size_t end_of(double centre, double next) const {
    const double border = (centre + next) / 2;
    return std::lower_bound(numbers_.begin(), numbers_.end(), border,
                            [](float x, double b) { return static_cast<double>(x) < b; }) -
           numbers_.begin();
  }

 private:
  // Each drawn with a probability that grows with the squared distance from those before it.
  std::vector<double> first_centres(size_t k) {
    std::vector<double> centres = {static_cast<double>(numbers_[random_number(seed_, 0) % numbers_.size()])};
    std::vector<double> distances(numbers_.size(), INFINITY);
    while (centres.size() < k) {
      double total = 0;
      for (size_t i = 0; i < numbers_.size(); ++i) {
        const double d = static_cast<double>(numbers_[i]) - centres.back();
        distances[i] = std::min(distances[i], d * d);
        total += distances[i];
      }
      if (total <= 0) break;  // there are no more different numbers
      const double drawn = total * static_cast<double>(random_number(seed_, centres.size()) >> 11) * 0x1p-53;
      double sum = 0;
      size_t at = 0;
      while (at + 1 < numbers_.size() && (sum += distances[at]) <= drawn) ++at;
      centres.push_back(static_cast<double>(numbers_[at]));
    }
    std::sort(centres.begin(), centres.end());
    centres.erase(std::unique(centres.begin(), centres.end()), centres.end());
    return centres;
  }

  std::vector<float> numbers_;
  std::vector<double> sums_;
  uint64_t seed_;
};

}  // namespace

Tensor with_zeros(const Tensor& weights, size_t axis, size_t columns, double share,
                  const std::vector<double>& importance) {
  const auto strides = row_major_strides(weights.shape());
  const size_t rows = weights.dim(static_cast<int>(axis));
  const auto row_step = static_cast<size_t>(strides[axis]), column_step = static_cast<size_t>(strides[columns]);
  const std::span<const float> w = weights.values<float>();
  std::vector<std::vector<std::pair<double, size_t>>> by_row(rows);
  for (size_t i = 0; i < w.size(); ++i) {
    const double of_input = importance.empty() ? 1 : importance[i / column_step % importance.size()];
    by_row[i / row_step % rows].emplace_back(static_cast<double>(std::abs(w[i])) * of_input, i);
  }
  Tensor result(DType::Float32, weights.shape());
  float* out = result.mutable_data<float>();
  std::copy(w.begin(), w.end(), out);
  for (auto& row : by_row) {
    const auto gone = static_cast<std::ptrdiff_t>(std::floor(share * static_cast<double>(row.size()) + 1e-9));
    if (gone <= 0) continue;
    std::nth_element(row.begin(), row.begin() + (gone - 1), row.end());  // of equals the first ones
    for (auto at = row.begin(); at != row.begin() + gone; ++at) out[at->second] = 0;
  }
  return result;
}

Tensor clustered(const Tensor& weights, int64_t clusters, bool keep_zeros, uint64_t seed) {
  const std::span<const float> w = weights.values<float>();
  std::vector<float> sorted;
  for (const float x : w) {
    if (!keep_zeros || x != 0) sorted.push_back(x);
  }
  Tensor result(DType::Float32, weights.shape());
  float* out = result.mutable_data<float>();
  const int64_t others = clusters - (keep_zeros ? 1 : 0);
  if (sorted.empty() || others < 1) {
    std::fill(out, out + w.size(), 0.0F);
    return result;
  }
  std::sort(sorted.begin(), sorted.end());
  Clusters found(std::move(sorted), seed);
  const std::vector<double> centres = found.centres(others);
  for (size_t i = 0; i < w.size(); ++i) {
    if (keep_zeros && w[i] == 0) {
      out[i] = 0;
      continue;
    }
    const auto x = static_cast<double>(w[i]);
    auto after = std::lower_bound(centres.begin(), centres.end(), x);
    if (after == centres.end() || (after != centres.begin() && x - *(after - 1) < *after - x)) --after;
    out[i] = static_cast<float>(*after);
  }
  return result;
}

int64_t zeros_in(const Tensor& weights) {
  const std::span<const float> w = weights.values<float>();
  return std::count(w.begin(), w.end(), 0.0F);
}

}  // namespace dnn::prune
