// Scores of hypotheses; see preprocess_scores.h.
#include "localize/preprocess_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/error.h"
#include "localize/preprocess_candidates.h"
#include "tensor/compare.h"

namespace dnn {
namespace {

ClassScores softmax_of(const ClassScores& row) {
  const double largest = row.empty() ? 0 : *std::max_element(row.begin(), row.end());
  ClassScores result;
  double sum = 0;
  for (const double v : row) sum += result.emplace_back(std::exp(v - largest));
  for (double& v : result) v /= sum;
  return result;
}

int64_t top_class(const ClassScores& row) {
  int64_t best = -1;
  for (size_t i = 0; i < row.size(); ++i) {
    if (!std::isnan(row[i]) && (best < 0 || row[i] > row[best])) best = static_cast<int64_t>(i);
  }
  return best;
}

// The squared difference of two scores: 0 where they are the same, NaN and infinities too.
double squared_difference(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b)) ? 0 : (a - b) * (a - b);
}

double relative_distance(double difference, double whole) {
  if (difference == 0) return 0;
  if (!std::isfinite(difference)) return std::numeric_limits<double>::infinity();
  return whole > 0 ? std::sqrt(difference / whole) : 1;
}

}  // namespace

bool are_probabilities(const std::vector<ClassScores>& rows) {
  for (const ClassScores& row : rows) {
    double sum = 0;
    for (const double v : row) {
      if (!(v >= 0 && v <= 1)) return false;
      sum += v;
    }
    if (std::abs(sum - 1) > 1e-2) return false;
  }
  return !rows.empty();
}

Nearness nearness(const std::vector<ScorePair>& images, const LabelMap& labels) {
  Nearness result;
  result.n_images = images.size();
  double difference = 0, whole = 0;
  for (const auto& [a, b] : images) {
    for (size_t c = 0; c < a.size(); ++c) {
      const int64_t to = labels.at(static_cast<int64_t>(c));
      if (std::isfinite(a[c])) whole += a[c] * a[c];
      if (to < 0 || to >= static_cast<int64_t>(b.size())) continue;
      difference += squared_difference(a[c], b[to]);
    }
    if (labels.at(top_class(a)) != top_class(b)) ++result.n_relabelled;
  }
  result.distance = relative_distance(difference, whole);
  return result;
}

double sorted_distance(const std::vector<ScorePair>& images) {
  const auto falling = [](double x, double y) { return std::isnan(y) ? !std::isnan(x) : x > y; };  // NaN last
  double difference = 0, whole = 0;
  for (auto [a, b] : images) {
    std::sort(a.begin(), a.end(), falling);
    std::sort(b.begin(), b.end(), falling);
    for (size_t c = 0; c < std::min(a.size(), b.size()); ++c) difference += squared_difference(a[c], b[c]);
    for (const double v : a) whole += std::isfinite(v) ? v * v : 0;
  }
  return relative_distance(difference, whole);
}

LabelMap nearest_classes(const std::vector<ScorePair>& images) {
  struct Pair {
    float distance;
    uint32_t from, to;
  };
  const size_t n = images[0].source.size(), m = images[0].target.size();
  std::vector<Pair> pairs;
  pairs.reserve(n * m);
  for (size_t c = 0; c < n; ++c) {
    for (size_t d = 0; d < m; ++d) {
      double sum = 0;
      for (const ScorePair& image : images) sum += squared_difference(image.source[c], image.target[d]);
      // NaN has no place in an order.
      pairs.push_back({std::isnan(sum) ? std::numeric_limits<float>::infinity() : static_cast<float>(sum),
                       static_cast<uint32_t>(c), static_cast<uint32_t>(d)});
    }
  }
  std::sort(pairs.begin(), pairs.end(), [](const Pair& x, const Pair& y) {
    return std::tie(x.distance, x.from, x.to) < std::tie(y.distance, y.from, y.to);
  });
  LabelMap map;
  map.listed.assign(n, -1);
  std::vector<bool> taken(m, false);
  for (const Pair& pair : pairs) {
    if (map.listed[pair.from] >= 0 || taken[pair.to]) continue;
    map.listed[pair.from] = pair.to;
    taken[pair.to] = true;
  }
  return map;
}

PreprocessOutputs::PreprocessOutputs(const std::vector<Image>& images,
                                     const std::function<Tensor(const Tensor& input)>& target,
                                     std::vector<ClassScores> source)
    : images_(images), run_target_(target), source_(std::move(source)) {}

void PreprocessOutputs::set_probabilities(bool source, bool target) {
  source_probabilities_ = source;
  target_probabilities_ = target;
}

const ClassScores& PreprocessOutputs::target(const Hypothesis& h, size_t image) {
  const std::string key = cat(to_json(h.preprocess), static_cast<int>(h.handling), " ", image);
  const auto found = targets_.find(key);
  if (found != targets_.end()) return found->second;
  ++n_runs_;
  const Tensor input = to_tensor(images_[image], h.preprocess);
  ClassScores output = to_doubles(run_target_(handled(input, h.preprocess.layout, h.handling)));
  if (!targets_.empty() && target_classes() != output.size())
    throw Error(ErrorKind::Negative, "the target's output is no list of classes: its extents differ by image");
  return targets_[key] = std::move(output);
}

std::vector<ScorePair> PreprocessOutputs::scores(const Hypothesis& h, const std::vector<size_t>& images) {
  std::vector<ScorePair> pairs;
  for (size_t i : images) {
    ScorePair& pair = pairs.emplace_back(ScorePair{source_[i], target(h, i)});
    if (source_probabilities_ && !target_probabilities_) pair.target = softmax_of(pair.target);
    if (target_probabilities_ && !source_probabilities_) pair.source = softmax_of(pair.source);
  }
  return pairs;
}

Nearness PreprocessOutputs::nearness_of(const Hypothesis& h, const std::vector<size_t>& images) {
  return nearness(scores(h, images), h.labels);
}

}  // namespace dnn
