// Ranges; see range.h.
#include "quant/range.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace dnn::quant {
namespace {

using Bins = std::vector<Histogram::Bin>;

Range whole(const Seen& seen, DType, bool) { return {seen.histogram.lowest(), seen.histogram.highest()}; }

Range mean_extremes(const Seen& seen, DType dtype, bool symmetric) {
  if (seen.samples == 0) return whole(seen, dtype, symmetric);
  const auto n = static_cast<double>(seen.samples);
  return {seen.low_sum.value() / n, seen.high_sum.value() / n};
}

// Leaves out the same share at either end.
Range percentile(const Seen& seen, DType, bool) {
  constexpr double kPercentile = 99.999;
  const Bins bins = seen.histogram.bins();
  const double out = static_cast<double>(seen.histogram.count()) * (100 - kPercentile) / 200;
  Range range = {seen.histogram.lowest(), seen.histogram.highest()};
  double below = 0, above = 0;
  for (auto bin = bins.begin(); bin != bins.end() && below + static_cast<double>(bin->count) <= out; ++bin) {
    below += static_cast<double>(bin->count);
    range.low = bin->centre;
  }
  for (auto bin = bins.rbegin(); bin != bins.rend() && above + static_cast<double>(bin->count) <= out; ++bin) {
    above += static_cast<double>(bin->count);
    range.high = bin->centre;
  }
  return range;
}

// Squared distance between a number and what the integers of `affine` make of it.
double squared_error(double x, const Affine& affine) {
  const double scale = static_cast<double>(affine.scale);
  const double error = x - std::clamp(std::nearbyint(x / scale) * scale, affine.lowest(), affine.highest());
  return error * error;
}

// Bins as noise_of() goes through them: once for all ranges that are tried.
struct Spread {
  explicit Spread(const Histogram& histogram)
      : bins(histogram.bins()),
        between(histogram.bins_between()),
        points(histogram.points()),
        width(histogram.width()) {}
  Bins bins, between, points;
  double width;
};

// Mean squared distance between numbers and what the integers of `affine` make of them. Where a bin is not narrower than a step, numbers
// lie anywhere in a step, but for those at points: half of what a ReLU makes is 0, which costs nothing.
double noise_of(const Spread& spread, const Affine& affine) {
  const double low = affine.lowest(), high = affine.highest(), scale = static_cast<double>(affine.scale);
  const bool coarse = spread.width >= scale;
  double sum = 0;
  int64_t count = 0;
  const auto add = [&](const Histogram::Bin& bin, double error) {
    sum += error * static_cast<double>(bin.count);
    count += bin.count;
  };
  for (const Histogram::Bin& bin : coarse ? spread.between : spread.bins) {
    const bool clipped = bin.centre < low || bin.centre > high;
    add(bin, coarse && !clipped ? scale * scale / 12 : squared_error(bin.centre, affine));
  }
  if (coarse) {
    for (const Histogram::Bin& point : spread.points) add(point, squared_error(point.centre, affine));
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

// The range, among those within the extremes, whose rounding and clipping have the least mean squared error: both ends are
// drawn in together first, then each by itself.
Range least_squares(const Seen& seen, DType dtype, bool symmetric) {
  constexpr int kSteps = 64;
  const Spread spread(seen.histogram);
  const double low = std::min(seen.histogram.lowest(), 0.0), high = std::max(seen.histogram.highest(), 0.0);
  Range best = {low, high};
  double least = std::numeric_limits<double>::infinity();
  const auto attempt = [&](double from, double to) {
    const double noise = noise_of(spread, affine_of(from, to, dtype, symmetric));
    if (noise >= least) return;
    least = noise;
    best = {from, to};
  };
  for (int i = kSteps; i > 0; --i) attempt(low * i / kSteps, high * i / kSteps);
  if (!symmetric) {
    const Range together = best;
    for (int i = kSteps; i > 0 && low < 0; --i) attempt(low * i / kSteps, together.high);
    const double from = best.low;
    for (int i = kSteps; i > 0 && high > 0; --i) attempt(from, high * i / kSteps);
  }
  return best;
}

// Kullback-Leibler divergence of the clipped distribution from what is left of it on `levels` levels.
double divergence(const std::vector<double>& counts, size_t kept, size_t levels) {
  std::vector<double> reference(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(kept));
  for (size_t i = kept; i < counts.size(); ++i) reference.back() += counts[i];
  double total = 0, spread_total = 0;
  std::vector<double> spread(kept, 0);
  for (size_t level = 0; level < levels; ++level) {
    const size_t from = level * kept / levels, to = (level + 1) * kept / levels;
    double sum = 0;
    size_t filled = 0;
    for (size_t i = from; i < to; ++i) {
      sum += counts[i];
      filled += counts[i] > 0 ? 1 : 0;
    }
    for (size_t i = from; i < to; ++i) spread[i] = counts[i] > 0 ? sum / static_cast<double>(filled) : 0;
  }
  for (size_t i = 0; i < kept; ++i) {
    total += reference[i];
    spread_total += spread[i];
  }
  if (total == 0 || spread_total == 0) return std::numeric_limits<double>::infinity();
  constexpr double kNever = 1e-9;  // probability of what the levels leave out
  double sum = 0;
  for (size_t i = 0; i < kept; ++i) {
    if (reference[i] == 0) continue;
    const double p = reference[i] / total, q = std::max(spread[i] / spread_total, kNever);
    sum += p * std::log(p / q);
  }
  return sum;
}

// Of magnitudes: where they are clipped so that the distribution loses the least information. 0 says nothing (after ReLU half of
// all numbers are), so that its bin is left out.
Range entropy(const Seen& seen, DType, bool) {
  constexpr size_t kMagnitudes = 2048, kLevels = 128, kStep = 16;
  const double low = seen.histogram.lowest(), high = seen.histogram.highest();
  const double most = std::max(-low, high);
  if (most <= 0) return {low, high};
  std::vector<double> counts(kMagnitudes, 0);
  for (const Histogram::Bin& bin : seen.histogram.bins()) {
    const double magnitude = std::abs(bin.centre);
    if (magnitude <= seen.histogram.width()) continue;
    const size_t at = magnitude / most * kMagnitudes;
    counts[std::min(at, kMagnitudes - 1)] += static_cast<double>(bin.count);
  }
  double least = std::numeric_limits<double>::infinity();
  size_t best = kMagnitudes;
  for (size_t kept = kLevels; kept <= kMagnitudes; kept += kStep) {
    const double d = divergence(counts, kept, kLevels);
    if (d < least) {
      least = d;
      best = kept;
    }
  }
  const double bound = most * static_cast<double>(best) / kMagnitudes;
  return {std::max(low, -bound), std::min(high, bound)};
}

}  // namespace

void Seen::append(const Seen& other) {
  histogram.add(other.histogram);
  low_sum += other.low_sum;
  high_sum += other.high_sum;
  samples = added(samples, other.samples);
}

void Seen::add(const Seen& other) {
  if (samples == 0 || other.low_sum.value() < low_sum.value()) low_sum = other.low_sum;
  if (samples == 0 || other.high_sum.value() > high_sum.value()) high_sum = other.high_sum;
  samples = std::max(samples, other.samples);
  histogram.add(other.histogram);
}

const std::vector<Method>& methods() {
  static const std::vector<Method> rows = {
      {"minmax", whole, "the smallest and the largest number seen (Jacob et al., 2018)"},
      {"mean-minmax", mean_extremes,
       "means over the samples of each one's smallest and largest number (NNCF's default)"},
      {"percentile", percentile, "all but 0.001 % of the numbers, half of it at either end (as ONNX Runtime does)"},
      {"entropy", entropy, "the clipping that loses the least information (Migacz, TensorRT, 2017)"},
      {"mse", least_squares, "the least mean squared error of rounding and clipping (Banner et al., 2019)"},
  };
  return rows;
}

const Method& method_named(std::string_view name) {
  std::vector<std::string> names;
  for (const Method& method : methods()) {
    if (method.name == name) return method;
    names.emplace_back(method.name);
  }
  fail_usage("--method ", name, ": choose from ", join(names));
}

double RangeCost::sqnr_db() const {
  return noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
}

RangeCost cost_of(const Histogram& histogram, const Affine& affine) {
  const Bins bins = histogram.bins();
  RangeCost cost;
  if (histogram.count() == 0) return cost;
  const auto total = static_cast<double>(histogram.count());
  for (const Histogram::Bin& bin : bins) {
    cost.signal += bin.centre * bin.centre * static_cast<double>(bin.count) / total;
    // Half a step beyond the ends still rounds to them.
    const double half = static_cast<double>(affine.scale) / 2;
    if (bin.centre < affine.lowest() - half || bin.centre > affine.highest() + half)
      cost.clipped += static_cast<double>(bin.count) / total;
  }
  cost.noise = noise_of(Spread(histogram), affine);
  return cost;
}

}  // namespace dnn::quant
