// Bounding factors; see factor_bounds.h.
#include "localize/factor_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dnn {
namespace {

constexpr double kRoundingHalf = 0.5;   // of a step: rounding to nearest
constexpr double kMostOthers = 0.34;    // of a row's numbers that an estimate may contradict
constexpr double kFarOff = 2;           // half steps: another number, or an estimate that is off by far
constexpr double kStill = 1e-7;         // a change that is none
constexpr double kContradicted = 1e-9;  // of a number: bounds that cross
constexpr double kFinite = 1e300;       // a logarithm that is none of a bounded factor
constexpr int kMostSweeps = 40, kMostRounds = 4;

// Sweeps over all layers.
class Closure {
 public:
  Closure(const std::vector<BothWeights>& layers, const std::vector<std::vector<double>>& factors)
      : layers_(layers), factors_(factors) {
    for (const std::vector<double>& of_value : factors)
      bounds_.push_back({{}, {}, std::vector<bool>(of_value.size(), false)});
    for (const BothWeights& layer : layers_) read_rows(layer);
  }

  std::vector<FactorBounds> run() {
    // Bounds of channels that turn out to be contradicted have bounded others by then: once more, without them.
    for (int round = 0; round < kMostRounds; ++round) {
      contradiction_ = false;
      sweep();
      if (!contradiction_) break;
    }
    return bounds_;
  }

  std::vector<SettledFactors> settle(const std::vector<std::vector<bool>>& keep, double vague) {
    const std::vector<FactorBounds> first = run();
    settling_ = true;
    for (size_t v = 0; v < bounds_.size(); ++v) {
      FactorBounds& bounds = bounds_[v];
      bool any = false;
      for (size_t c = 0; c < bounds.low.size(); ++c) {
        if (bounds.contradicted[c] || !(half_width(bounds, c) > (keep[v][c] ? vague : kFinite))) continue;
        bounds.low[c] = bounds.high[c] = std::clamp(factors_[v][c], bounds.low[c], bounds.high[c]);
        any = true;
      }
      if (any) close();
    }
    std::vector<SettledFactors> settled;
    for (size_t v = 0; v < bounds_.size(); ++v) {
      SettledFactors of_value = {factors_[v], std::vector<double>(factors_[v].size(), 0)};
      for (size_t c = 0; c < factors_[v].size(); ++c) {
        if (first[v].contradicted[c]) continue;
        const double factor = of_value.factors[c] = std::sqrt(bounds_[v].low[c] * bounds_[v].high[c]);
        of_value.errors[c] = std::max({0.0, std::log(first[v].high[c] / factor), std::log(factor / first[v].low[c])});
      }
      settled.push_back(std::move(of_value));
    }
    return settled;
  }

 private:
  static double half_width(const FactorBounds& bounds, size_t c) {
    return bounds.low[c] > 0 ? std::log(bounds.high[c] / bounds.low[c]) / 2 : kUnbounded;
  }
  void sweep() {
    for (FactorBounds& bounds : bounds_) {
      bounds.low.assign(bounds.contradicted.size(), 0);
      bounds.high.assign(bounds.contradicted.size(), kUnbounded);
    }
    close();
  }

  void close() {
    for (int n = 0; n < kMostSweeps; ++n) {
      changed_ = false;
      for (size_t i = 0; i < layers_.size(); ++i) {
        const size_t at = n % 2 == 0 ? i : layers_.size() - 1 - i;
        if (is_scaled(layers_[at].in) || is_scaled(layers_[at].out)) bound_by(layers_[at], rows_[at]);
      }
      if (!changed_) break;
    }
  }

  bool is_scaled(int value) const { return value >= 0 && !factors_[value].empty(); }
  double estimate(const BothWeights& layer, size_t place) const {
    const double in = is_scaled(layer.in) ? factors_[layer.in][layer.column(place)] : 1;
    return std::abs(layer.ours[place]) * in / (is_scaled(layer.out) ? factors_[layer.out][place / layer.width] : 1);
  }
  bool is_another(const BothWeights& layer, size_t place) const {
    const double theirs = std::abs(layer.theirs[place]), a = estimate(layer, place);
    if (layer.at_end[place] && a > theirs) return false;
    return std::abs(a - theirs) > kFarOff * layer.half(place);
  }

  // Rows of which most numbers are as estimated.
  void read_rows(const BothWeights& layer) {
    std::vector<bool> tells(layer.n, true);
    for (size_t row = 0; row < layer.n; ++row) {
      size_t n_others = 0;
      for (size_t i = 0; i < layer.width; ++i) n_others += is_another(layer, row * layer.width + i) ? 1 : 0;
      tells[row] = static_cast<double>(n_others) <= kMostOthers * static_cast<double>(layer.width);
    }
    rows_.push_back(std::move(tells));
  }

  void bound_by(const BothWeights& layer, const std::vector<bool>& tells) {
    for (size_t row = 0; row < layer.n; ++row) {
      for (size_t i = 0; i < layer.width && tells[row]; ++i) {
        const size_t place = row * layer.width + i;
        const double ours = std::abs(layer.ours[place]), theirs = std::abs(layer.theirs[place]);
        if (ours == 0 || is_another(layer, place)) continue;
        const double half = layer.half(place);
        // The column's factor over the row's.
        const double most = layer.at_end[place] ? kUnbounded : (theirs + half) / ours;
        const double least = theirs > half ? (theirs - half) / ours : 0;
        bound(layer, row, layer.column(place), least, most);
      }
    }
  }

  void bound(const BothWeights& layer, size_t row, size_t column, double least, double most) {
    const bool in = is_scaled(layer.in) && !bounds_[layer.in].contradicted[column],
               out = is_scaled(layer.out) && !bounds_[layer.out].contradicted[row];
    // Who has no bounds of its own any more bounds nobody.
    if ((is_scaled(layer.in) && !in) || (is_scaled(layer.out) && !out)) return;
    const double low_in = in ? bounds_[layer.in].low[column] : 1, high_in = in ? bounds_[layer.in].high[column] : 1;
    const double low_out = out ? bounds_[layer.out].low[row] : 1, high_out = out ? bounds_[layer.out].high[row] : 1;
    if (in) narrow(layer.in, column, low_out * least, most == kUnbounded ? kUnbounded : high_out * most);
    if (out) narrow(layer.out, row, most == kUnbounded ? 0 : low_in / most, least > 0 ? high_in / least : kUnbounded);
  }

  void narrow(int value, size_t channel, double low, double high) {
    FactorBounds& bounds = bounds_[value];
    double &least = bounds.low[channel], &most = bounds.high[channel];
    if (settling_ && !(std::max(least, low) <= std::min(most, high))) return;  // by a last digit
    changed_ = changed_ || low > least * (1 + kStill) || high < most * (1 - kStill);
    least = std::max(least, low);
    most = std::min(most, high);
    if (!(least > most * (1 + kContradicted))) return;
    bounds.contradicted[channel] = contradiction_ = true;
  }

  static constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  const std::vector<BothWeights>& layers_;
  const std::vector<std::vector<double>>& factors_;
  std::vector<std::vector<bool>> rows_;  // by layer: which of its rows tell
  std::vector<FactorBounds> bounds_;
  bool changed_ = false, contradiction_ = false, settling_ = false;
};

}  // namespace

double BothWeights::half(size_t place) const {
  return kRoundingHalf * steps[place] + kFloatError * std::abs(theirs[place]);
}

std::vector<FactorBounds> bound_factors(const std::vector<BothWeights>& layers,
                                        const std::vector<std::vector<double>>& factors) {
  return Closure(layers, factors).run();
}

std::vector<SettledFactors> settle_factors(const std::vector<BothWeights>& layers,
                                           const std::vector<std::vector<double>>& factors,
                                           const std::vector<std::vector<bool>>& keep, double vague) {
  return Closure(layers, factors).settle(keep, vague);
}

}  // namespace dnn
