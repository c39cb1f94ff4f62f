// Telling what a bias is; see quantised_bias.h.
#include "localize/quantised_bias.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "localize/quantised_rows.h"
#include "ops/op.h"
#include "ops/weights.h"

namespace dnn {
namespace {

// Tells what calibration saw of a channel beside what these inputs show: so many times it, and of a silent one so much of the others.
constexpr double kOnOtherInputs = 4, kSilent = 0.1;
constexpr double kClearlyNearer = 0.1;  // of squares

// The channel of a layer's input that a number of a row multiplies.
size_t input_channel(const HeldRows& held, const Node& layer, size_t row, size_t i) {
  const Shape& shape = held.weights.shape;
  const bool conv = (is_convolution(layer) || layer.op == "ConvTranspose") && shape.size() > 2;
  size_t taps = 1;
  for (size_t axis = 2; conv && axis < shape.size(); ++axis) taps *= shape[axis];
  const size_t groups = conv ? static_cast<size_t>(int_attribute(layer, "group")) : 1;
  const size_t in_group = held.ours.width / std::max<size_t>(1, taps);
  return row / std::max<size_t>(1, held.ours.n / groups) * in_group + i / taps;
}

double largest_number_of(const std::vector<double>& numbers) {
  double largest = 0;
  for (double x : numbers) largest = std::max(largest, std::abs(x));
  return largest;
}

class BiasSettling {
 public:
  BiasSettling(const HeldBias& held, const std::vector<const HeldBias*>& others, bool corrected)
      : held_(held), corrected_(corrected), n_(held.bias.size()) {
    double usual = 0;
    for (const HeldBias* other : others) {
      for (size_t c = 0; c < other->bias.size(); ++c) {
        if (other->allowed[c] > 0)
          usual = std::max(usual, (off(*other, c, other->bias[c]) - rounding(*other, c)) / other->allowed[c]);
      }
    }
    exact_ = others.size() < kFewestOthers || usual == 0;
    for (size_t c = 0; c < n_; ++c)
      bounds_.push_back(rounding(held, c) + (exact_ ? 0 : kMoreThanUsual * usual * held.allowed[c]));
  }

  SettledBias run() const {
    SettledBias found;
    size_t n_clear = 0;
    for (size_t c = 0; c < n_; ++c) {
      const double d = off(held_, c, held_.bias[c]);
      if (d <= bounds_[c]) continue;
      found.wrong.push_back(c);
      found.times = std::max(found.times, d / bounds_[c]);
      n_clear += d > 2 * bounds_[c] ? 1 : 0;
    }
    if (found.wrong.size() < 2 || n_ > kMostOrdered) return found;
    found.order = turned();
    if (found.order.empty()) found.order = sorted(found.wrong);
    found.sure = !found.order.empty() && (exact_ || n_clear * 2 > n_);
    return found;
  }

 private:
  static constexpr size_t kFewestOthers = 2, kMostOrdered = 4096;
  static constexpr double kMoreThanUsual = 1.25;  // of what the largest error of others is, in what they are allowed
  static constexpr double kLastDigits = 1e-5;     // of the largest number: what folding in float32 leaves

  static double rounding(const HeldBias& bias, size_t c) {
    return kHalfStep * bias.bias_steps[c] + kLastDigits * largest_number_of(bias.source_bias);
  }
  double wanted(const HeldBias& bias, size_t c) const {
    return bias.source_bias[c] + (corrected_ && !bias.lost.empty() ? bias.lost[c] : 0);
  }
  double off(const HeldBias& bias, size_t c, double number) const { return std::abs(number - wanted(bias, c)); }
  // The number that the integer at one place is at another.
  double moved(size_t from, size_t to) const {
    const std::vector<double>& steps = held_.bias_steps;
    return steps[from] > 0 ? held_.bias[from] / steps[from] * steps[to] : held_.bias[from];
  }
  // How far the worst number is off, in what is usual; infinite where one is further than that.
  double worst(const std::vector<size_t>& order) const {
    double most = 0;
    for (size_t c = 0; c < n_; ++c) {
      const double d = off(held_, c, moved(order[c], c));
      if (d > bounds_[c]) return std::numeric_limits<double>::infinity();
      most = std::max(most, bounds_[c] > 0 ? d / bounds_[c] : 0);
    }
    return most;
  }

  // All numbers rolled by some places, or from behind.
  std::vector<size_t> turned() const {
    std::vector<size_t> order(n_), best;
    std::iota(order.begin(), order.end(), size_t{0});
    double least = std::numeric_limits<double>::infinity();
    const auto attempt = [&](const std::vector<size_t>& tried) {
      const double most = worst(tried);
      if (most < least) best = tried;
      least = std::min(least, most);
    };
    for (size_t by = 1; by < n_; ++by) {
      std::rotate(order.begin(), order.begin() + 1, order.end());
      attempt(order);
    }
    std::sort(order.rbegin(), order.rend());
    attempt(order);
    return best;
  }

  // The wrong ones alone: the least goes where the least is wanted.
  std::vector<size_t> sorted(const std::vector<size_t>& wrong) const {
    const auto in_steps = [&](double number, size_t c) {
      return held_.bias_steps[c] > 0 ? number / held_.bias_steps[c] : number;
    };
    std::vector<size_t> places = wrong, from = wrong, order(n_);
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(places.begin(), places.end(),
                     [&](size_t a, size_t b) { return in_steps(wanted(held_, a), a) < in_steps(wanted(held_, b), b); });
    std::stable_sort(from.begin(), from.end(),
                     [&](size_t a, size_t b) { return in_steps(held_.bias[a], a) < in_steps(held_.bias[b], b); });
    for (size_t i = 0; i < wrong.size(); ++i) order[places[i]] = from[i];
    return std::isfinite(worst(order)) ? order : std::vector<size_t>();
  }

  const HeldBias& held_;
  const bool corrected_;
  const size_t n_;
  bool exact_ = false;          // others are roundings of the source's numbers
  std::vector<double> bounds_;  // by number
};

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

SettledBias settle_bias(const HeldBias& held, const std::vector<const HeldBias*>& others, bool corrected) {
  return BiasSettling(held, others, corrected).run();
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
