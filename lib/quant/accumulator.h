// Accumulators: the numbers that an integer layer's sums can reach, and where other arithmetic may give another bit.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "quant/plan.h"
#include "quant/rewrite.h"

namespace dnn::quant {

struct Accumulators {
  // By output channel: the least and the largest sum of products with its bias, over all inputs that integers can hold. They are
  // exact: an input reaches them. No partial sum of products lies further out than the bias allows.
  std::vector<int64_t> low, high;
  bool wraps = false;  // one does not fit int32
  // True if two neighbouring products of a uint8 input and an int8 weight can leave 16 bits, as vpmaddubsw adds them.
  bool pairs_saturate = false;
  // Sums that float32 requantisation takes to exactly half a step: where another rounding rule, or fixed point, gives another bit.
  int64_t ties = 0;
};

// The accumulators of node plan.weights[i]; nullopt where it does not compute on 8-bit integers.
std::optional<Accumulators> accumulators_of(const Graph& graph, const Plan& plan, size_t i,
                                            const Quantizers& quantizers, const WrittenWeights& weights);

}  // namespace dnn::quant
