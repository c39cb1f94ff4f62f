// Effects of rounding; see precision_effect.h.
#include "localize/precision_effect.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/compare.h"

namespace dnn {

void SquaredDistance::add(const SquaredDistance& other) {
  difference += other.difference;
  reference += other.reference;
}

double SquaredDistance::relative() const {
  if (difference == 0) return 0;
  return reference == 0 ? std::numeric_limits<double>::infinity() : std::sqrt(difference / reference);
}

SquaredDistance squared_distance(const Tensor& reference, const Tensor& other) {
  const Distance d = compare(reference, other);
  return {std::isinf(d.max_abs) ? std::numeric_limits<double>::infinity() : d.difference_squares, d.reference_squares};
}

MovedOutputs moved_outputs(const std::vector<Tensor>& before, const std::vector<Tensor>& after,
                           const std::optional<OutputTolerance>& tolerance) {
  MovedOutputs m;
  for (size_t i = 0; i < before.size(); ++i)
    m.outputs.push_back(before[i].dtype() == DType::String ? SquaredDistance() : squared_distance(before[i], after[i]));
  m.movement = movement({before, {}}, {after, {}}, tolerance.value_or(kUnlabelled));
  return m;
}

PrecisionEffect effect_of(const std::vector<MovedOutputs>& samples) {
  PrecisionEffect effect;
  std::vector<SquaredDistance> sums;
  for (size_t s = 0; s < samples.size(); ++s) {
    const MovedOutputs& m = samples[s];
    sums.resize(std::max(sums.size(), m.outputs.size()));
    for (size_t i = 0; i < m.outputs.size(); ++i) sums[i].add(m.outputs[i]);
    if (m.movement.relabelled()) effect.relabelled.push_back(s);
    effect.excess = std::max(effect.excess, m.movement.excess);
    if (m.movement.max_abs <= effect.max_abs) continue;
    effect.max_abs = m.movement.max_abs;
    effect.largest = m.movement.largest;
  }
  for (const SquaredDistance& sum : sums) effect.error = std::max(effect.error, sum.relative());
  return effect;
}

}  // namespace dnn
