// Dots: a value with its interval for each run, on one axis; see plots.h.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/axes.h"
#include "report/escape.h"
#include "report/plots.h"

namespace dnn::report {

Drawing dots(const std::vector<Dot>& list, std::string_view x_title, const std::vector<std::string>& legend) {
  constexpr double kWidth = 720, kMostLabels = 330, kRow = 17, kHeading = 22;
  constexpr size_t kLongest = 44;  // characters of a label
  double low = INFINITY, high = -INFINITY, height = 0;
  std::string group;
  double labels = 40;
  for (const Dot& dot : list) {
    labels = std::min(kMostLabels, std::max(labels, 14 + text_width(shortened(dot.label, kLongest))));
    for (const double value : {dot.value, dot.low.value_or(dot.value), dot.high.value_or(dot.value)}) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    if (dot.group != group) height += kHeading;
    group = dot.group;
    height += kRow;
  }
  Drawing drawing(kWidth, 0);
  const double top = 6 + draw_legend(&drawing, {0, 0}, kWidth, legend);
  const Frame frame{labels, top, kWidth - 24, top + height + 4};
  drawing.set_height(frame.bottom + 44);
  const Scale x(kind_for(low, high), low, high, frame.left, frame.right);
  draw_x_axis(&drawing, x, frame, cat(x_title, x.kind() == Scale::Kind::Log ? " (logarithmic)" : ""));
  double y = top;
  group.clear();
  for (const Dot& dot : list) {
    if (dot.group != group) {
      drawing.label({0, y + 15}, dot.group, 60, Anchor::Start, Ink::Strong);
      y += kHeading;
      group = dot.group;
    }
    const double middle = y + kRow / 2;
    drawing.label({frame.left - 8, middle + 4}, dot.label, kLongest, Anchor::End);
    if (dot.low && dot.high && std::isfinite(*dot.low) && std::isfinite(*dot.high))
      drawing.series_line({x.at(*dot.low), middle}, {x.at(*dot.high), middle}, dot.series);
    if (std::isfinite(dot.value))
      drawing.marker({x.at(dot.value), middle}, dot.series, cat(dot.label, ": ", short_number(dot.value)));
    y += kRow;
  }
  return drawing;
}

}  // namespace dnn::report
