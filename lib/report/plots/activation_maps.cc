// Activation maps: pictures of what two networks compute in the same channels, and of the difference; see plots.h.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "image/image.h"
#include "report/axes.h"
#include "report/palette.h"
#include "report/plots.h"

namespace dnn::report {
namespace {

constexpr double kMapsWidth = 760, kLeft = 130, kPicture = 180, kMapsGap = 20, kTop = 24, kCaption = 34;
constexpr double kLeastHeight = 24;
constexpr size_t kLabel = 18;  // characters
using Values = std::vector<std::optional<double>>;

std::string png_of(const Values& values, size_t columns, const auto& colour) {
  Image image;
  image.width = static_cast<int>(columns);
  image.height = static_cast<int>(values.size() / columns);
  for (const std::optional<double>& value : values) {
    const Rgb rgb = value ? colour(*value) : no_number_shade();
    image.rgb.insert(image.rgb.end(), rgb.begin(), rgb.end());
  }
  return encode_png(image);
}

void frame(Drawing* drawing, PlotPoint corner, double width, double height) {
  const PlotPoint a = corner, b = {corner.x + width, corner.y}, c = {b.x, corner.y + height}, d = {a.x, c.y};
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, c), std::pair(c, d), std::pair(d, a)})
    drawing->line(from, to, Ink::Axis);
}

// A bar of the whole scale, and what it stands for.
void key(Drawing* drawing, PlotPoint at, bool diverging, std::string_view text) {
  Values all;
  for (int i = 0; i < 64; ++i) all.emplace_back(i / 63.0);
  const std::string png = diverging ? png_of(all, all.size(), [](double v) { return diverging_shade(2 * v - 1); })
                                    : png_of(all, all.size(), [](double v) { return shade(v); });
  drawing->picture(at, 96, 12, png);
  frame(drawing, at, 96, 12);
  drawing->text({at.x + 104, at.y + 11}, text, Anchor::Start, Ink::Quiet);
}

}  // namespace

Drawing activation_maps(const std::vector<MapRow>& rows) {
  Drawing drawing(kMapsWidth, 0);
  const std::array<double, 3> lefts = {kLeft, kLeft + kPicture + kMapsGap, kLeft + 2 * (kPicture + kMapsGap)};
  constexpr std::array<std::string_view, 3> kTitles = {"source", "target", "source - target"};
  for (size_t i = 0; i < lefts.size(); ++i)
    drawing.text({lefts[i] + kPicture / 2, 14}, kTitles[i], Anchor::Middle, Ink::Strong);
  double y = kTop;
  bool unknown = false;
  for (const MapRow& row : rows) {
    if (row.columns == 0 || row.source.empty()) continue;
    double low = INFINITY, high = -INFINITY, most = 0;
    for (const Values* values : {&row.source, &row.target, &row.difference}) {
      for (const std::optional<double>& value : *values) {
        unknown = unknown || !value;
        if (!value) continue;
        if (values == &row.difference) {
          most = std::max(most, std::abs(*value));
        } else {
          low = std::min(low, *value);
          high = std::max(high, *value);
        }
      }
    }
    const auto columns = static_cast<double>(row.columns);
    const double n_rows = static_cast<double>(row.source.size()) / columns;
    const double height = std::clamp(kPicture * n_rows / columns, kLeastHeight, kPicture);
    const auto one_scale = [&](double v) { return shade(high > low ? (v - low) / (high - low) : 0); };
    const auto around_zero = [&](double v) { return diverging_shade(most > 0 ? v / most : 0); };
    drawing.picture({lefts[0], y}, kPicture, height, png_of(row.source, row.columns, one_scale));
    drawing.picture({lefts[1], y}, kPicture, height, png_of(row.target, row.columns, one_scale));
    drawing.picture({lefts[2], y}, kPicture, height, png_of(row.difference, row.columns, around_zero));
    for (const double left : lefts) frame(&drawing, {left, y}, kPicture, height);
    drawing.label({kLeft - 10, y + height / 2 + 4}, row.label, kLabel, Anchor::End);
    if (low <= high)
      drawing.text({lefts[0] + kPicture + kMapsGap / 2, y + height + 16},
                   cat("from ", short_number(low), " to ", short_number(high)), Anchor::Middle, Ink::Quiet);
    drawing.text({lefts[2] + kPicture / 2, y + height + 16},
                 cat("from ", short_number(-most), " to ", short_number(most)), Anchor::Middle, Ink::Quiet);
    y += height + kCaption;
  }
  key(&drawing, {kLeft, y}, false, "lowest to highest of a row's source and target");
  key(&drawing, {kLeft, y + 20}, true, "the target has more, none, the source has more");
  if (unknown) {
    drawing.picture({kLeft, y + 40}, 96, 12, png_of({std::nullopt}, 1, [](double) { return no_number_shade(); }));
    drawing.text({kLeft + 104, y + 51}, "no finite number", Anchor::Start, Ink::Quiet);
  }
  drawing.set_height(y + (unknown ? 62 : 42));
  return drawing;
}

}  // namespace dnn::report
