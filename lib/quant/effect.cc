// Effects of a change on outputs; see effect.h.
#include "quant/effect.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "metrics/scores.h"
#include "tensor/compare.h"

namespace dnn::quant {

void Effect::add(const Effect& other) {
  samples += other.samples;
  relabelled += other.relabelled;
  divergence += other.divergence;
  difference += other.difference;
  reference += other.reference;
}

double Effect::error() const {
  if (difference == 0) return 0;
  return reference == 0 ? std::numeric_limits<double>::infinity() : std::sqrt(difference / reference);
}

double divergence_of(const Tensor& before, const Tensor& after, bool probabilities) {
  if (top_label(before) < 0) {
    const Distance d = compare(before, after);
    return d.difference_squares == 0 ? 0 : d.difference_squares / std::max(d.reference_squares, 1e-30);
  }
  constexpr double kNever = 1e-12;  // the least probability, so that no logarithm is infinite
  const std::vector<double> p = to_doubles(probabilities ? before : metrics::softmax(before));
  const std::vector<double> q = to_doubles(probabilities ? after : metrics::softmax(after));
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] > kNever) sum += p[i] * std::log(p[i] / std::max(q[i], kNever));
  }
  return std::max(sum, 0.0);
}

Effect effect_of(const std::vector<Tensor>& before, const std::vector<Tensor>& after, bool probabilities) {
  Effect effect;
  effect.samples = 1;
  const int64_t label = top_label(before[0]);
  effect.relabelled = label >= 0 && label != top_label(after[0]) ? 1 : 0;
  effect.divergence = divergence_of(before[0], after[0], probabilities);
  for (size_t i = 0; i < before.size(); ++i) {
    if (!is_float(before[i].dtype())) continue;
    const Distance d = compare(before[i], after[i]);
    effect.difference += d.difference_squares;
    effect.reference += d.reference_squares;
  }
  return effect;
}

}  // namespace dnn::quant
