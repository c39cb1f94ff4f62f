// Strips: the series of many runs below each other; see plots.h.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/axes.h"
#include "report/plots.h"

namespace dnn::report {
namespace {

constexpr double kStripsWidth = 760, kLabels = 200, kBars = 110, kStripsGap = 12;
constexpr size_t kMostPoints = 300;  // of a line; beyond, a band from least to greatest with the median in it
constexpr size_t kBins = 14;

struct Range {
  double low = 0, high = 0;
  bool cut = false;
};

Range range_of(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  Range range{*low, *high, false};
  const double usual = quantile(values, 0.95);
  if (values.size() >= 20 && range.high - range.low > 4 * (usual - range.low) && usual > range.low) {
    range.high = range.low + 1.5 * (usual - range.low);
    range.cut = true;
  }
  return range;
}

class Strips {
 public:
  Strips(const std::vector<Strip>& list, std::string_view unit) : list_(list), unit_(unit) {
    height_ = list.size() <= 8 ? 64 : 40;
    for (const Strip& strip : list) {
      first_ = std::min(first_, strip.at.empty() ? 1.0 : strip.at.front());
      last_ = std::max(last_, strip.at.empty() ? static_cast<double>(strip.values.size()) : strip.at.back());
    }
  }

  Drawing draw(std::string_view x_title) {
    const double bottom = 8 + static_cast<double>(list_.size()) * (height_ + 6);
    drawing_ = Drawing(kStripsWidth, bottom + 44);
    const Frame frame{kLabels, 8, kStripsWidth - kBars - kStripsGap, bottom};
    const Scale x(Scale::Kind::Linear, first_, std::max(last_, first_ + 1), frame.left, frame.right);
    draw_x_axis(&drawing_, x, frame, x_title);
    drawing_.text({kStripsWidth - kBars / 2, bottom + 16}, "how often", Anchor::Middle, Ink::Quiet);
    double top = 8;
    for (const Strip& strip : list_) {
      draw_strip(strip, x, {frame.left, top, frame.right, top + height_});
      top += height_ + 6;
    }
    return std::move(drawing_);
  }

 private:
  void draw_strip(const Strip& strip, const Scale& x, const Frame& frame) {
    drawing_.label({0, frame.top + 14}, strip.label, 26, Anchor::Start);
    std::vector<PlotPoint> all;
    std::vector<double> values;
    for (size_t i = 0; i < strip.values.size(); ++i) {
      if (!std::isfinite(strip.values[i])) continue;
      values.push_back(strip.values[i]);
      all.push_back({strip.at.empty() ? static_cast<double>(i + 1) : strip.at[i], strip.values[i]});
    }
    drawing_.line({frame.left, frame.bottom}, {kStripsWidth, frame.bottom}, Ink::Grid);
    if (values.empty()) {
      drawing_.text({0, frame.top + 30}, "nothing measured", Anchor::Start, Ink::Quiet);
      return;
    }
    const Range range = range_of(values);
    const double greatest = *std::max_element(values.begin(), values.end());
    drawing_.text(
        {0, frame.top + 30},
        cat(short_number(range.low), greatest > range.low ? cat(" to ", short_number(greatest)) : "", " ", unit_),
        Anchor::Start, Ink::Quiet);
    const auto y_of = [&](double value) {
      if (range.high <= range.low) return (frame.top + frame.bottom) / 2;
      return frame.bottom - 3 - share_between(value, range.low, range.high) * (frame.bottom - frame.top - 10);
    };
    std::vector<PlotPoint> line;
    for (const PlotPoint& point : all) line.push_back({x.at(point.x), y_of(point.y)});
    if (line.size() > kMostPoints) line = thinned(line, strip.series);
    drawing_.path(line, strip.series);
    if (line.size() == 1) drawing_.marker(line[0], strip.series);
    if (range.cut) mark_cut(all, x, range.high, frame.top + 3);
    draw_bars(values, range, y_of, strip.series);
  }

  // The medians of as many stretches as there is room for, over a band from their least to their greatest.
  std::vector<PlotPoint> thinned(const std::vector<PlotPoint>& points, int series) {
    std::vector<PlotPoint> upper, lower, middle;
    for (size_t bin = 0; bin < kMostPoints; ++bin) {
      const size_t from = bin * points.size() / kMostPoints, to = (bin + 1) * points.size() / kMostPoints;
      std::vector<double> ys;
      for (size_t i = from; i < to; ++i) ys.push_back(points[i].y);
      const auto [low, high] = std::minmax_element(ys.begin(), ys.end());
      const double at = points[(from + to) / 2].x;
      upper.push_back({at, *low});
      lower.push_back({at, *high});
      middle.push_back({at, quantile(std::move(ys), 0.5)});
    }
    upper.insert(upper.end(), lower.rbegin(), lower.rend());
    drawing_.band(upper, series);
    return middle;
  }

  void mark_cut(const std::vector<PlotPoint>& points, const Scale& x, double high, double y) {
    constexpr int kTriangle = 2;
    double last = -10;
    for (const PlotPoint& point : points) {
      if (point.y <= high || x.at(point.x) < last + 6) continue;
      last = x.at(point.x);
      drawing_.marker({last, y}, kTriangle, short_number(point.y) + " " + std::string(unit_));
    }
  }

  void draw_bars(const std::vector<double>& values, const Range& range, const auto& y_of, int series) {
    std::vector<size_t> counts(kBins, 0);
    for (const double value : values) {
      const double share = range.high > range.low ? share_between(value, range.low, range.high) : 0.5;
      ++counts[std::min(kBins - 1, static_cast<size_t>(share * kBins))];
    }
    const auto most = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
    for (size_t i = 0; i < kBins; ++i) {
      if (counts[i] == 0) continue;
      const double step = range.high / kBins - range.low / kBins;
      const double bottom = y_of(range.low + step * static_cast<double>(i));
      const double top = range.high > range.low ? y_of(range.low + step * static_cast<double>(i + 1)) : bottom - 4;
      drawing_.box({kStripsWidth - kBars, top + 0.5}, std::max(1.0, kBars * static_cast<double>(counts[i]) / most),
                   bottom - top - 0.5, series);
    }
  }

  const std::vector<Strip>& list_;
  std::string_view unit_;
  Drawing drawing_;
  double height_ = 40, first_ = 1, last_ = 1;
};

}  // namespace

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const size_t i = at;
  if (i + 1 >= values.size()) return values.back();
  return values[i] + (at - static_cast<double>(i)) * (values[i + 1] - values[i]);
}

Drawing strips(const std::vector<Strip>& list, std::string_view unit, std::string_view x_title) {
  return Strips(list, unit).draw(x_title);
}

}  // namespace dnn::report
