// Biases of quantised layers: what a quantiser may let them make up for, and what their integers are the source's numbers by.
#pragma once
#include <optional>
#include <vector>

#include "localize/quantised_layers.h"
#include "localize/source_range.h"

namespace dnn {

// Tells what a quantiser may take from or add to a number of a bias to make up for the layer's own mean error. `by_steps`: the weights that
// are there say nothing of it.
double made_up(const HeldRows& held, const Node& layer, size_t row, const SourceRange& input, double input_step,
               bool by_steps);
// By row: the mean of what the integers take from the source's sum; empty: not known.
std::vector<double> lost_by_rounding(const HeldRows& held, const Node& layer, const SourceRange& input);

// A bias as it is held to the source's, by the scales that are right.
struct HeldBias {
  std::vector<double> bias, source_bias, bias_steps, allowed;  // empty: none that could be judged
  std::vector<double> lost;  // by row: the mean of what rounding the weights takes from the sum; empty: not known
};
// Which numbers of a bias are further off than those of others in its network, and what they are put in order by.
struct SettledBias {
  std::vector<size_t> wrong;
  std::vector<size_t> order;  // number c is what lies at order[c]; empty: no order makes all right
  bool sure = false;          // the order is evidence enough, even if each number might be its quantiser's choice
  double times = 0;           // the largest error, in what is usual
};
// `others`: biases of the network that are right. `corrected`: they make up for what rounding takes.
SettledBias settle_bias(const HeldBias& held, const std::vector<const HeldBias*>& others, bool corrected);

// Tells whether a bias's numbers are clearly nearer to ours when they are multiplied by a factor, by more than steps explain.
bool nearer_by(double factor, const std::vector<double>& ours, const QuantisedConstant& bias);

}  // namespace dnn
