// One mode or two; see modes.h.
#include "metrics/modes.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace dnn::metrics {
namespace {

// The empirical distribution function at one value: before and with its step.
struct Point {
  double x, below, upto;
};

// A curve over points first..last: the greatest convex minorant of the steps' lower ends, or the least concave majorant of their
// upper ends. Its corners are points; `at[i]` is its height over point first + i.
struct Envelope {
  std::vector<size_t> corners;
  std::vector<double> at;
};

Envelope envelope(const std::vector<Point>& points, size_t first, size_t last, bool convex) {
  // A majorant is the minorant of what is mirrored.
  const auto y = [&](size_t i) { return convex ? points[i].below : -points[i].upto; };
  Envelope e;
  for (size_t i = first; i <= last; ++i) {
    // The last corner goes where the line from the one before it passes below.
    while (e.corners.size() > 1) {
      const size_t a = e.corners[e.corners.size() - 2], b = e.corners.back();
      if ((y(b) - y(a)) * (points[i].x - points[a].x) < (y(i) - y(a)) * (points[b].x - points[a].x)) break;
      e.corners.pop_back();
    }
    e.corners.push_back(i);
  }
  for (size_t c = 0; c < e.corners.size(); ++c) {
    const size_t to = e.corners[c], from = c == 0 ? to : e.corners[c - 1];
    for (size_t i = c == 0 ? to : from + 1; i <= to; ++i) {
      const double part = to == from ? 1 : (points[i].x - points[from].x) / (points[to].x - points[from].x);
      const double height = y(from) + part * (y(to) - y(from));
      e.at.push_back(convex ? height : -height);
    }
  }
  return e;
}

double median(std::span<const Counted> values, double weight) {
  double below = 0;
  for (const Counted& v : values) {
    below += static_cast<double>(v.count);
    if (2 * below >= weight) return v.value;
  }
  return 0;
}

}  // namespace

double dip(std::span<const Counted> values) {
  double n = 0, before = 0;
  for (const Counted& v : values) n += static_cast<double>(v.count);
  std::vector<Point> points;
  for (const Counted& v : values) {
    const double upto = before + static_cast<double>(v.count) / n;
    if (!points.empty() && points.back().x == v.value) {
      points.back().upto = upto;
    } else {
      points.push_back({v.value, before, upto});
    }
    before = upto;
  }
  if (points.empty()) return 0;
  // The mode lies within first..last, which shrinks while the curves on its two sides are closer to the steps than to each other.
  size_t first = 0, last = points.size() - 1;
  double twice = 1 / n;
  while (true) {
    const Envelope convex = envelope(points, first, last, true), concave = envelope(points, first, last, false);
    double apart = 0;
    size_t left = first, right = last;
    for (const size_t i : convex.corners) {
      const double d = concave.at[i - first] - points[i].below;
      if (d <= apart) continue;
      apart = d;
      left = i;
      right = *std::lower_bound(concave.corners.begin(), concave.corners.end(), i);
    }
    for (const size_t i : concave.corners) {
      const double d = points[i].upto - convex.at[i - first];
      if (d <= apart) continue;
      apart = d;
      right = i;
      left = *(std::upper_bound(convex.corners.begin(), convex.corners.end(), i) - 1);
    }
    if (apart <= twice) return twice / 2;
    for (size_t i = first; i < left; ++i) twice = std::max(twice, points[i].upto - convex.at[i - first]);
    for (size_t i = right + 1; i <= last; ++i) twice = std::max(twice, concave.at[i - first] - points[i].below);
    if (left == first && right == last) return twice / 2;
    first = left;
    last = right;
  }
}

std::optional<Modes> two_modes(std::span<const Counted> values, double n) {
  constexpr double kLeastShare = 0.1, kLeastRatio = 1.1, kLeastD = 4, kOuter = 0.05;
  if (values.empty() || values.front().value <= 0) return std::nullopt;
  std::vector<Counted> logs(values.begin(), values.end());
  double all = 0;
  for (Counted& v : logs) {
    v.value = std::log(v.value);
    all += static_cast<double>(v.count);
  }
  // The 99 % quantile of the dip of n values of a flat distribution, which no other of one mode exceeds for long; fitted to 20,000
  // draws for each of several n from 20 to 5000.
  const double root = std::sqrt(n);
  if (dip(logs) * root < 0.63 - 0.4 / root) return std::nullopt;

  double below = 0, low_end = logs.front().value, high_end = logs.back().value;
  for (const Counted& v : logs) {
    if (below <= kOuter * all) low_end = v.value;
    if (below <= (1 - kOuter) * all) high_end = v.value;
    below += static_cast<double>(v.count);
  }
  struct Sums {
    double n = 0, x = 0, squares = 0;
    double mean() const { return x / n; }
    double variance() const { return std::max(0.0, squares / n - mean() * mean()); }
  };
  const double origin = logs.front().value;  // so that squares lose nothing
  const auto add = [&](const Counted& v, double sign, Sums* sums) {
    const double x = std::clamp(v.value, low_end, high_end) - origin, w = sign * static_cast<double>(v.count);
    sums->n += w;
    sums->x += w * x;
    sums->squares += w * x * x;
  };
  Sums low, high;
  for (const Counted& v : logs) add(v, 1, &high);
  double best = -1, low_weight = 0, d = 0;
  size_t cut = 0;
  for (size_t i = 0; i + 1 < logs.size(); ++i) {
    add(logs[i], 1, &low);
    add(logs[i], -1, &high);
    const double distance = high.mean() - low.mean(), between = low.n * high.n * distance * distance;
    if (between <= best) continue;
    best = between;
    cut = i + 1;
    low_weight = low.n;
    d = std::sqrt(2.0) * distance / std::sqrt(low.variance() + high.variance());
  }
  const double share = 1 - low_weight / all;
  if (share < kLeastShare || share > 1 - kLeastShare || d <= kLeastD) return std::nullopt;
  const Modes modes{median(values.first(cut), low_weight), median(values.subspan(cut), all - low_weight), share};
  return modes.high < kLeastRatio * modes.low ? std::nullopt : std::optional(modes);
}

}  // namespace dnn::metrics
