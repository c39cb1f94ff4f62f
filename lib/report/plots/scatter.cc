// Scatter: what one value costs of another, with the front of the best; see plots.h.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/axes.h"
#include "report/plots.h"

namespace dnn::report {

Drawing scatter(const std::vector<ScatterPoint>& points, std::string_view x_title, std::string_view y_title,
                const std::vector<std::string>& legend) {
  constexpr double kWidth = 760, kHeight = 400;
  double x_low = INFINITY, x_high = -INFINITY, y_low = INFINITY, y_high = -INFINITY;
  for (const ScatterPoint& p : points) {
    x_low = std::min(x_low, p.x);
    x_high = std::max(x_high, p.x);
    y_low = std::min(y_low, p.y_low.value_or(p.y));
    y_high = std::max(y_high, p.y_high.value_or(p.y));
  }
  Drawing drawing(kWidth, 0);
  const double top = 8 + draw_legend(&drawing, {0, 0}, kWidth, legend);
  const Frame frame{64, top, kWidth - 28, top + kHeight};
  drawing.set_height(frame.bottom + 44);
  const Scale x(kind_for(x_low, x_high), x_low, x_high, frame.left, frame.right);
  const Scale y(Scale::Kind::Linear, y_low, y_high, frame.bottom, frame.top);
  draw_x_axis(&drawing, x, frame, cat(x_title, x.kind() == Scale::Kind::Log ? " (logarithmic)" : ""));
  draw_y_axis(&drawing, y, frame, y_title);

  std::vector<PlotPoint> front;
  for (const ScatterPoint& p : points) {
    if (p.y_low && p.y_high) drawing.series_line({x.at(p.x), y.at(*p.y_low)}, {x.at(p.x), y.at(*p.y_high)}, p.series);
    if (p.front) front.push_back({x.at(p.x), y.at(p.y)});
  }
  std::sort(front.begin(), front.end(),
            [](const PlotPoint& a, const PlotPoint& b) { return a.x != b.x ? a.x < b.x : a.y > b.y; });
  drawing.stairs(front, Ink::Axis);
  for (const ScatterPoint& p : points) drawing.marker({x.at(p.x), y.at(p.y)}, p.series, p.hint, !p.front);

  // Labels where they hide neither each other nor a point; those of the front come first.
  struct Box {
    double left, top, right, bottom;
  };
  std::vector<Box> taken;
  for (const ScatterPoint& p : points) {
    const double cx = x.at(p.x), cy = y.at(p.y);
    taken.push_back({cx - 4, cy - 4, cx + 4, cy + 4});
  }
  for (const bool on_front : {true, false}) {
    for (const ScatterPoint& p : points) {
      if (p.front != on_front) continue;
      const double cx = x.at(p.x), cy = y.at(p.y), wide = text_width(p.label);
      const PlotPoint places[] = {
          {cx + 7, cy - 5}, {cx + 7, cy + 13}, {cx - 7 - wide, cy - 5}, {cx - 7 - wide, cy + 13}};
      for (const PlotPoint& place : places) {
        const Box box{place.x, place.y - 10, place.x + wide, place.y + 2};
        const bool free = std::none_of(taken.begin(), taken.end(), [&](const Box& other) {
          return box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom;
        });
        if (!free || box.right > kWidth || box.left < frame.left) continue;
        drawing.label(place, p.label, 40, Anchor::Start);
        taken.push_back(box);
        break;
      }
    }
  }
  return drawing;
}

}  // namespace dnn::report
