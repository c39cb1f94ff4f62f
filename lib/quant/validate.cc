// Validation; see validate.h.
#include "quant/validate.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "metrics/scores.h"
#include "tensor/compare.h"

namespace dnn::quant {

std::unique_ptr<Session> open_to_validate(const Graph& graph, const CalibrateOptions& options) {
  CompileOptions compile = options.compile;
  compile.device = "cpu";
  compile.opt = 3;
  compile.pass_changes.clear();
  return open_session("cpu", std::make_shared<const Package>(dnn::compile(graph, compile)),
                      {.threads = options.threads, .isa = {}});
}

namespace {

constexpr size_t kClasses = 8;
// Less probable classes than this are never first and cost nothing. A quantised Softmax has no smaller numbers.
constexpr double kLeastProbability = 1e-3;

// The probabilities of an output's classes; what is not finite counts as 0.
std::vector<double> probabilities_of(const Tensor& output, bool probabilities) {
  const Tensor row = convert(output, DType::Float64).reshaped({output.size()});
  std::vector<double> result = to_doubles(probabilities ? row : metrics::softmax(row));
  for (double& p : result) p = std::isfinite(p) ? p : 0;
  return result;
}

bool holds_probabilities(const Tensor& output) {
  metrics::ScoreScale scale;
  scale.add(convert(output, DType::Float64).reshaped({output.size()}));
  return scale.probabilities();
}

}  // namespace

Ranking::Ranking(const Tensor& output) {
  const int64_t first = top_label(output);
  if (first < 0) return;
  probabilities_ = holds_probabilities(output);
  const std::vector<double> all = probabilities_of(output, probabilities_);
  best_.push_back({first, all[first]});
  for (size_t i = 0; i < all.size(); ++i) {
    if (static_cast<int64_t>(i) != first) best_.push_back({static_cast<int64_t>(i), all[i]});
  }
  const auto kept = best_.begin() + static_cast<std::ptrdiff_t>(std::min(kClasses, best_.size()));
  std::partial_sort(best_.begin() + 1, kept, best_.end(),
                    [](const Class& a, const Class& b) { return a.probability > b.probability; });
  best_ = {best_.begin(), kept};
}

double Ranking::expected_loss(const Tensor& after) const {
  if (top_label(after) < 0) return best_.front().probability;
  const std::vector<double> now = probabilities_of(after, probabilities_);
  // The noise of a class is what its logarithm moves by, less what all move by: their variance, weighted by probability.
  std::vector<double> logarithm, moved;
  double weight = 0, mean = 0, variance = 0;
  for (const Class& c : best_) {
    logarithm.push_back(std::log(std::max(c.probability, kLeastProbability)));
    moved.push_back(std::log(std::max(now[c.label], kLeastProbability)) - logarithm.back());
    weight += c.probability;
    mean += c.probability * moved.back();
  }
  if (weight <= 0) return 0;
  mean /= weight;
  for (size_t i = 0; i < best_.size(); ++i)
    variance += best_[i].probability / weight * (moved[i] - mean) * (moved[i] - mean);
  if (variance <= 0) return 0;
  // Two classes differ by twice the variance, and normal noise passes x of its deviations half of erfc(x / sqrt(2)) of the time.
  const double scale = 1 / std::sqrt(2 * variance) / std::sqrt(2.0);
  double loss = 0;
  for (size_t i = 1; i < best_.size(); ++i) {
    const double less = best_.front().probability - best_[i].probability;
    loss += std::max(less, 0.0) * std::erfc((logarithm[0] - logarithm[i]) * scale) / 2;
  }
  return loss;
}

void Validation::add(const Ranking& before, const Tensor& after, const std::optional<int64_t>& truth,
                     int64_t label_offset) {
  const int64_t label = top_label(after);
  ++samples;
  same_label += before.label() == label ? 1 : 0;
  const double loss = before.expected_loss(after);
  losses += loss;
  loss_squares += loss * loss;
  if (!truth) return;
  const bool right_a = before.label() - label_offset == *truth, right_b = label - label_offset == *truth;
  ++with_truth;
  ++(right_a ? right_b ? right.both : right.only_a : right_b ? right.only_b : right.none);
}

void Validation::add(const Validation& other) {
  samples += other.samples;
  same_label += other.same_label;
  losses += other.losses;
  loss_squares += other.loss_squares;
  with_truth += other.with_truth;
  right.both += other.right.both;
  right.only_a += other.right.only_a;
  right.only_b += other.right.only_b;
  right.none += other.right.none;
}

double Validation::drop() const {
  if (with_truth > 0)
    return 100.0 * static_cast<double>(right_before() - right_after()) / static_cast<double>(with_truth);
  return samples == 0 ? 0 : 100.0 * static_cast<double>(samples - same_label) / static_cast<double>(samples);
}

double Validation::expected_drop() const { return samples == 0 ? 0 : 100 * losses / static_cast<double>(samples); }

double Validation::worst_drop() const { return with_truth > 0 ? std::max(drop(), expected_drop()) : drop(); }

double Validation::expected_error() const {
  if (samples < 2) return 0;
  const auto n = static_cast<double>(samples);
  const double variance = std::max(0.0, loss_squares - losses * losses / n) / (n - 1);
  return 100 * std::sqrt(variance / n);
}

metrics::Interval Validation::interval() const {
  if (with_truth == 0) {
    if (samples == 0) return {};
    const metrics::Interval share = metrics::wilson_interval(samples - same_label, samples);
    return {100 * share.low, 100 * share.high};
  }
  const metrics::Interval gain = metrics::bootstrap_difference(right, 0);
  return {-100 * gain.high, -100 * gain.low};
}

Validation validate(const Graph& before, const Graph& after, SampleSource& samples, int64_t label_offset,
                    const CalibrateOptions& options) {
  const std::unique_ptr<Session> first = open_to_validate(before, options), second = open_to_validate(after, options);
  Validation result;
  while (const std::optional<SampleSource::Load> load = samples.next()) {
    const LoadedSample sample = (*load)();
    if (sample.error) {
      if (options.warn) options.warn(cat(sample.error->what(), "; skipped"));
      continue;
    }
    const Ranking a(first->run(sample.inputs)[0]);
    if (a.label() < 0) fail_unsupported("the first output has no classes, so that there are no labels to compare");
    result.add(a, second->run(sample.inputs)[0], sample.truth, label_offset);
    if (options.done) options.done(result.samples);
  }
  if (result.samples == 0) throw Error(ErrorKind::Negative, "no validation sample could be read");
  return result;
}

}  // namespace dnn::quant
