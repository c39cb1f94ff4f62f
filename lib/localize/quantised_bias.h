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

// Tells whether a bias's numbers are clearly nearer to ours when they are multiplied by a factor, by more than steps explain.
bool nearer_by(double factor, const std::vector<double>& ours, const QuantisedConstant& bias);

}  // namespace dnn
