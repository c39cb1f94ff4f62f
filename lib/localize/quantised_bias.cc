// Telling what a bias is; see quantised_bias.h.
#include "localize/quantised_bias.h"

#include <algorithm>
#include <cmath>

#include "ops/op.h"
#include "ops/weights.h"

namespace dnn {
namespace {

// Tells what calibration saw of a channel beside what these inputs show: so many times it, and of a silent one so much of the others.
constexpr double kOnOtherInputs = 4, kSilent = 0.1;
constexpr double kClearlyNearer = 0.1;  // of squares

// The channel of a layer's input that a number of a row multiplies.
  size_t input_channel(const HeldRows& held, const Node& layer, size_t row, size_t i) {
    const bool conv = is_convolution(layer) && held.weights.shape.size() > 2;
    const size_t taps = conv ? held.ours.width / static_cast<size_t>(std::max<int64_t>(1, held.weights.shape[1])) : 1;
    const size_t groups = conv ? static_cast<size_t>(int_attribute(layer, "group")) : 1;
    const size_t in_group = held.ours.width / std::max<size_t>(1, taps);
    return row / std::max<size_t>(1, held.ours.n / groups) * in_group + i / taps;
  }

}  // namespace

double made_up(const HeldRows& held, const Node& layer, size_t row, const SourceRange& input, double input_step,
               bool by_steps) {
    double error = 0, sum = 0;
    for (size_t i = 0; i < held.ours.width; ++i) {
      const double step = held.weights.steps[held.theirs.elements[row * held.ours.width + i]];
      const double apart = by_steps ? step / 2 : std::abs(held.theirs.at(row, i) - held.ours.at(row, i));
      error += apart * (input.mean_abs(input_channel(held, layer, row, i)) + kSilent * input.mean_abs(-1));
      sum += held.ours.at(row, i);
    }
    return kOnOtherInputs * error + std::abs(sum) * input_step / 2;
  }

std::vector<double> lost_by_rounding(const HeldRows& held, const Node& layer, const SourceRange& input) {
    std::vector<double> lost(held.ours.n, 0);
    for (size_t row = 0; row < held.ours.n; ++row) {
      for (size_t i = 0; i < held.ours.width; ++i) {
        const auto mean = input.mean(input_channel(held, layer, row, i));
        if (!mean) return {};
        lost[row] += (held.ours.at(row, i) - held.theirs.at(row, i)) * *mean;
      }
    }
    return lost;
  }

bool nearer_by(double factor, const std::vector<double>& ours, const QuantisedConstant& bias) {
  const std::vector<double>& theirs = bias.numbers;
  double as_it_is = 0, by_factor = 0, steps = 0;
  for (size_t c = 0; c < ours.size(); ++c) {
    as_it_is += std::pow(theirs[c] - ours[c], 2);
    by_factor += std::pow(theirs[c] * factor - ours[c], 2);
    steps += bias.steps[c] * bias.steps[c];
  }
  return by_factor < kClearlyNearer * as_it_is && steps < kClearlyNearer * as_it_is;
}

}  // namespace dnn
