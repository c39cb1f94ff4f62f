// Bounds of factors that channels were scaled by, from integers that rounding made: over all layers together, since one layer's rows are
// the next one's columns.
#pragma once
#include <vector>

#include "graph/graph.h"

namespace dnn {

// How far a number that is no integer's may be off by its rounding, relative to it.
inline constexpr double kFloatError = 1e-6;

// A layer of both networks, row by row in the same order.
struct BothWeights {
  NodeId source = -1, target = -1;
  size_t n = 0, width = 0, taps = 1;
  bool depthwise = false;
  std::vector<double> ours, theirs, steps;
  std::vector<bool> at_end;
  std::vector<double> bias, target_bias, bias_steps;
  int in = -1, out = -1;  // the values that it reads and makes
  bool off = false;       // some row is wrong if nothing was scaled

  size_t columns() const { return depthwise ? n : width / taps; }
  size_t column(size_t place) const { return depthwise ? place / width : place % width / taps; }
  // Half a step: how far rounding to nearest takes a number.
  double half(size_t place) const;
};

// Bounds of the channels of one value.
struct FactorBounds {
  std::vector<double> low, high;  // 0 and infinity where nothing bounds
  // Channels whose layers contradict each other, as where one of them is wrong; their bounds say nothing.
  std::vector<bool> contradicted;
};

// A weight's integer bounds its row's factor over its column's: constraints on differences of logarithms, closed by sweeps until they hold
// (Bellman and Ford; Cormen et al., Introduction to Algorithms, section 24.4). The middles of what is left, in logarithms, are
// factors of which every integer is a rounding. `factors` are estimates by value and channel, none of a value that was not
// scaled: numbers and rows that they contradict by far bound nothing.
std::vector<FactorBounds> bound_factors(const std::vector<BothWeights>& layers,
                                        const std::vector<std::vector<double>>& factors);

// Factors of one value's channels that every bound of all layers allows, and the logarithm that each may be off by: infinite where
// nothing bounds it, 0 where its layers contradict each other and the estimate stayed.
struct SettledFactors {
  std::vector<double> factors, errors;
};
// The middles; a channel keeps its estimate, as far as the bounds allow it, where they leave more than `vague` to either side and `keep`
// holds, or where nothing bounds it. The others are settled around these.
std::vector<SettledFactors> settle_factors(const std::vector<BothWeights>& layers,
                                           const std::vector<std::vector<double>>& factors,
                                           const std::vector<std::vector<bool>>& keep, double vague);

}  // namespace dnn
