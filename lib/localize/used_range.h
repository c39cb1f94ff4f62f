// A quantised activation's range against what the source has there.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "localize/quantised_layers.h"
#include "localize/source_range.h"

namespace dnn {

// Tells what of an activation's range the source uses. The least range that matters behind an activation that cuts it off is what is left.
struct UsedRange {
  NodeId quantizer = -1;
  const SourceRange* range = nullptr;
  QuantisedScale own;
  double low = 0, high = 0;
  std::vector<NodeId> readers;
  // Beyond these it is cut off behind it.
  std::pair<double, double> bounds = {-std::numeric_limits<double>::infinity(),
                                      std::numeric_limits<double>::infinity()};
  // The same without what is cut off behind it: a quantiser may have seen what it quantises, and no more.
  UsedRange uncut() const {
    UsedRange all = *this;
    all.low = std::min(range->low, 0.0);
    all.high = std::max(range->high, 0.0);
    all.bounds = {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    return all;
  }
  bool shared = false;   // one scale for several values, which all have to fit
  bool bounded = false;  // of a function whose range is known
  double of_all = 0;     // beyond(), of all channels
  double least_part() const { return low / own.low(); }
  double most_part() const { return high / own.high(); }
  // How far the source goes beyond the range, of the range to that side; of a short side, what is beyond it is of the long one: what is there
  // has the same steps. An end at 0 may be one that was rounded there.
  double beyond() const { return beyond(low, high); }
  double beyond(double least, double most) const {
    const double longest = std::max(-own.low(), own.high());
    const auto part = [&](double used, double end) {
      if (used <= 0) return 0.0;
      return end <= 0 && used > own.scale ? kFar : used <= end ? used / end : 1 + (used - end) / longest;
    };
    return std::max(part(-least, -own.low()), part(most, own.high()));
  }
  // How far half of the samples go at least: a quantiser may have seen some like the others alone.
  double beyond_in_half() const {
    std::vector<double> parts;
    for (const auto& [from, to] : range->each)
      parts.push_back(
          beyond(std::clamp(from, bounds.first, bounds.second), std::clamp(to, bounds.first, bounds.second)));
    if (parts.empty()) return beyond();
    std::sort(parts.begin(), parts.end());
    return parts[(parts.size() - 1) / 2];
  }
  // Tells whether the range ends too early on one side, in each sample, and goes on for nothing on the other.
  bool is_moved(double part) const {
    const double below = own.low() - low, above = high - own.high(), most = std::max(below, above);
    const auto ends_early = [&](const std::pair<double, double>& ends) {
      const double from = std::clamp(ends.first, bounds.first, bounds.second),
                   to = std::clamp(ends.second, bounds.first, bounds.second);
      return (below > above ? own.low() - from : to - own.high()) > own.scale;
    };
    return most > part * (own.high() - own.low()) && -std::min(below, above) >= most / 2 &&
           std::all_of(range->each.begin(), range->each.end(), ends_early);
  }
  // The zero point that leaves as much room, in parts of what is used, on both sides.
  double centred_zero() const {
    const double slack = own.high() - own.low() - (high - low);
    const double least = low - (high > low ? slack * -low / (high - low) : 0);
    return std::clamp(std::nearbyint(own.least - least / own.scale), own.least, own.most);
  }
  static constexpr double kFar = 1000;
  // Parts of a range: more than a quantiser leaves out on one side where there is room on the other; and one that saw too few inputs.
  static constexpr double kMoved = 0.1, kMovedOfFew = 0.25;
};

// The mean square of what rounding and ends take from the source's values, which something behind cuts off at `low` and `high`.
inline double range_error(const QuantisedScale& scale, const SourceRange& range, double low, double high) {
  double sum = 0;
  for (float number : range.some) {
    const double x = std::clamp(static_cast<double>(number), low, high);
    const double q = std::clamp(std::nearbyint(x / scale.scale) + scale.zero_point, scale.least, scale.most);
    const double d = (q - scale.zero_point) * scale.scale - x;
    sum += d * d;
  }
  return range.some.empty() ? 0 : sum / static_cast<double>(range.some.size());
}

}  // namespace dnn
