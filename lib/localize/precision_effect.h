// The effect of rounding in a network on its outputs, added up over samples.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "localize/outcome.h"

namespace dnn {

// The tolerance of outputs without classes, where none is given.
inline constexpr OutputTolerance kUnlabelled = {0, 1e-2};

// The effect of rounding on the outputs, over all samples.
struct PrecisionEffect {
  double error =
      0;  // relative L2, of the output where that is largest; infinite where a number is NaN or infinite in one alone
  double max_abs = 0, largest = 0;  // the largest difference, and the largest magnitude of that output in that sample
  double excess = 0;                // the largest difference over what the tolerance allows, where there is one
  std::vector<size_t> relabelled;   // samples
};

// ||a - b||^2 and ||a||^2, added up.
struct SquaredDistance {
  double difference = 0, reference = 0;
  void add(const SquaredDistance& other);
  double relative() const;  // ||a - b|| / ||a||
};
SquaredDistance squared_distance(const Tensor& reference, const Tensor& other);

// How one sample's outputs moved.
struct MovedOutputs {
  std::vector<SquaredDistance> outputs;
  Movement movement;
};
// Without a tolerance the movement is that of kUnlabelled.
MovedOutputs moved_outputs(const std::vector<Tensor>& before, const std::vector<Tensor>& after,
                           const std::optional<OutputTolerance>& tolerance);

// Adds samples up in their order, so that sums are the same whichever threads ran them.
PrecisionEffect effect_of(const std::vector<MovedOutputs>& samples);

}  // namespace dnn
