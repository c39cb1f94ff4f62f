// Outcomes: what a network gave for one sample, and how far and to which label another outcome moves it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace dnn {

// Two outputs agree when no element differs by more than atol + rtol * the largest magnitude of the first.
struct OutputTolerance {
  double atol = 0, rtol = 1e-4;
};

// The outputs of one run, or why there are none.
struct Outcome {
  std::vector<Tensor> outputs;
  std::string error;
};

struct Movement {
  double max_abs = 0;  // of all outputs; infinite where one side alone is NaN, infinite, or failed
  double largest = 0;  // of that output in the first
  double excess = 0;   // the largest of an output's max_abs over what the tolerance allows it: above 1 they disagree
  int64_t from = -1, to = -1;  // labels: the class of the first output's largest element; -1 where it has no classes
  bool relabelled() const { return from != to; }
};

Movement movement(const Outcome& first, const Outcome& other, const OutputTolerance& tolerance);

}  // namespace dnn
