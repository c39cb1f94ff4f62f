// Bars: boxes on rows, from nothing on or from when they began; see plots.h.
#include <algorithm>

#include "report/axes.h"
#include "report/escape.h"
#include "report/plots.h"

namespace dnn::report {

Drawing bars(const std::vector<std::string>& rows, const std::vector<Bar>& list, std::string_view x_title,
             const std::vector<std::string>& legend) {
  constexpr double kWidth = 760, kMostLabels = 300, kRow = 22;
  constexpr size_t kLongest = 44;  // characters of a label
  double labels = 40, end = 0;
  for (const std::string& row : rows)
    labels = std::min(kMostLabels, std::max(labels, 14 + text_width(shortened(row, kLongest))));
  for (const Bar& bar : list) end = std::max(end, bar.begin + bar.length);
  Drawing drawing(kWidth, 0);
  const double top = 6 + draw_legend(&drawing, {0, 0}, kWidth, legend);
  const Frame frame{labels, top, kWidth - 24, top + kRow * static_cast<double>(rows.size())};
  drawing.set_height(frame.bottom + 44);
  const Scale x(Scale::Kind::Linear, 0, end, frame.left, frame.right);
  draw_x_axis(&drawing, x, frame, x_title);
  for (size_t r = 0; r < rows.size(); ++r)
    drawing.label({frame.left - 8, top + kRow * static_cast<double>(r) + 15}, rows[r], kLongest, Anchor::End);
  for (const Bar& bar : list) {
    const double left = x.at(bar.begin), right = x.at(bar.begin + bar.length);
    drawing.box({left, top + kRow * static_cast<double>(bar.row) + 4}, std::max(1.0, right - left), kRow - 8,
                bar.series);
  }
  return drawing;
}

}  // namespace dnn::report
