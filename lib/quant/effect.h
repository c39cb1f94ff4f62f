// Effect: how a change of a network moves its outputs, over samples.
#pragma once
#include <vector>

#include "tensor/tensor.h"

namespace dnn::quant {

// Sums over samples, so that parts can be added in any order of threads.
struct Effect {
  int64_t samples = 0;
  int64_t relabelled = 0;                // samples whose label changes; 0 where outputs have no classes
  double divergence = 0;                 // sum of divergence_of()
  double difference = 0, reference = 0;  // squares of the outputs' differences, and of the outputs

  void add(const Effect& other);
  double mean_divergence() const { return samples == 0 ? 0 : divergence / static_cast<double>(samples); }
  double error() const;  // relative L2 of the outputs
};

// The effect on one sample. `probabilities`: the first output holds them, not logits.
Effect effect_of(const std::vector<Tensor>& before, const std::vector<Tensor>& after, bool probabilities);

// Kullback-Leibler divergence of the classes' probabilities; of outputs without classes the relative squared difference.
double divergence_of(const Tensor& before, const Tensor& after, bool probabilities);

}  // namespace dnn::quant
