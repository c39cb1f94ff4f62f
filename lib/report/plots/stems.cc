// Stems: values over many powers of ten in their order; see plots.h.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/axes.h"
#include "report/plots.h"

namespace dnn::report {

Drawing stems(const std::vector<Stem>& list, std::string_view x_title, std::string_view y_title,
              const std::vector<std::string>& legend) {
  constexpr double kWidth = 760, kHeight = 300;
  double low = INFINITY, high = 0;
  for (const Stem& stem : list) {
    if (!std::isfinite(stem.value) || stem.value <= 0) continue;
    low = std::min(low, stem.value);
    high = std::max(high, stem.value);
  }
  if (high == 0) {
    low = 0.1;
    high = 1;
  }
  Drawing drawing(kWidth, 0);
  const double top = 8 + draw_legend(&drawing, {0, 0}, kWidth, legend);
  // Below the axis of the logarithm is a row for 0, above it one for what is not finite.
  const Frame frame{72, top + 14, kWidth - 20, top + 14 + kHeight};
  drawing.set_height(frame.bottom + 58);
  const Scale y(Scale::Kind::Log, low, high, frame.bottom, frame.top);
  draw_y_axis(&drawing, y, frame, y_title);
  const double zero = frame.bottom + 14;
  drawing.text({frame.left - 6, zero + 4}, "0", Anchor::End, Ink::Quiet);
  const Scale x(Scale::Kind::Linear, 1, std::max<double>(2, static_cast<double>(list.size())), frame.left + 6,
                frame.right - 6);
  draw_x_axis(&drawing, x, {frame.left, frame.top, frame.right, frame.bottom + 22}, x_title);
  for (size_t i = 0; i < list.size(); ++i) {
    const Stem& stem = list[i];
    const double at = x.at(static_cast<double>(i + 1));
    const double value = std::isfinite(stem.value) ? stem.value > 0 ? y.at(stem.value) : zero : frame.top - 8;
    if (value < frame.bottom) drawing.series_line({at, frame.bottom}, {at, value}, stem.series);
    drawing.marker({at, value}, stem.series, cat(stem.label, ": ", short_number(stem.value)));
  }
  return drawing;
}

}  // namespace dnn::report
