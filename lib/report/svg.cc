// SVG; see svg.h.
#include "report/svg.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "base/base64.h"
#include "base/printable.h"
#include "base/text.h"
#include "report/escape.h"
#include "report/palette.h"

namespace dnn::report {
namespace {

// A tenth of a pixel is enough, and keeps reports small.
std::string svg_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", std::isfinite(value) ? value : 0.0);
  std::string out = text;
  if (ends_with(out, ".0")) out.resize(out.size() - 2);
  return out == "-0" ? "0" : out;
}

std::string_view ink_class(Ink ink) {
  constexpr std::string_view kNames[] = {"t", "q", "b", "a", "g"};
  return kNames[static_cast<size_t>(ink)];
}

int colour_of(int series) { return series % kSeries + 1; }

std::string points_text(const std::vector<PlotPoint>& points) {
  std::string out;
  for (const PlotPoint& point : points) {
    out += out.empty() ? 'M' : ' ';
    out += svg_number(point.x) + " " + svg_number(point.y);
  }
  return out;
}

std::string anchor_text(Anchor anchor) {
  return anchor == Anchor::Start ? "" : anchor == Anchor::Middle ? " text-anchor=\"middle\"" : " text-anchor=\"end\"";
}

std::string hint_text(std::string_view hint) { return hint.empty() ? "" : "<title>" + html_text(hint) + "</title>"; }

std::string segment(std::string_view kind, PlotPoint a, PlotPoint b) {
  return cat("<path class=\"", kind, "\" d=\"M", svg_number(a.x), " ", svg_number(a.y), "L", svg_number(b.x), " ",
             svg_number(b.y), "\"/>");
}

// `space` stands before the attributes, `behind` before what is drawn; ids begin with `id`.
std::string element(const Drawing& drawing, std::string_view space, std::string_view id, std::string_view title,
                    std::string_view description, std::string_view behind) {
  const std::string width = svg_number(drawing.width()), height = svg_number(drawing.height());
  return cat("<svg ", space, "role=\"img\" aria-labelledby=\"", id, "t ", id, "d\" width=\"", width, "\" height=\"",
             height, "\" viewBox=\"0 0 ", width, " ", height, "\"><title id=\"", id, "t\">", html_text(title),
             "</title><desc id=\"", id, "d\">", html_text(description), "</desc>", behind, drawing.body(), "</svg>");
}

// Around (0, 0): circle, square, triangle, diamond, triangle down, cross; each about as large as the others.
constexpr std::array<std::string_view, kSeries> kShapes = {
    "m-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z",
    "m-3.2-3.2h6.4v6.4h-6.4z",
    "m0-4.4l4.1 7.2h-8.2z",
    "m0-4.6l4.6 4.6l-4.6 4.6l-4.6-4.6z",
    "m0 4.4l4.1-7.2h-8.2z",
    "m-1.4-4.2h2.8v2.8h2.8v2.8h-2.8v2.8h-2.8v-2.8h-2.8v-2.8h2.8z"};

}  // namespace

double text_width(std::string_view text) { return 0.62 * kTextSize * static_cast<double>(character_count(text)); }

void Drawing::line(PlotPoint a, PlotPoint b, Ink ink) { body_ += segment(ink_class(ink), a, b); }

void Drawing::series_line(PlotPoint a, PlotPoint b, int series) { body_ += segment(cat("l", colour_of(series)), a, b); }

void Drawing::path(const std::vector<PlotPoint>& points, int series) {
  if (!points.empty()) body_ += cat("<path class=\"l", colour_of(series), "\" d=\"", points_text(points), "\"/>");
}

void Drawing::stairs(const std::vector<PlotPoint>& points, Ink ink) {
  if (points.empty()) return;
  body_ += cat("<path class=\"", ink_class(ink), " d\" d=\"M", svg_number(points[0].x), " ", svg_number(points[0].y));
  for (size_t i = 1; i < points.size(); ++i) body_ += cat("H", svg_number(points[i].x), "V", svg_number(points[i].y));
  body_ += "\"/>";
}

void Drawing::band(const std::vector<PlotPoint>& outline, int series) {
  if (!outline.empty()) body_ += cat("<path class=\"f", colour_of(series), " o\" d=\"", points_text(outline), "z\"/>");
}

void Drawing::box(PlotPoint corner, double width, double height, int series) {
  body_ += cat("<rect class=\"f", colour_of(series), "\" x=\"", svg_number(corner.x), "\" y=\"", svg_number(corner.y),
               "\" width=\"", svg_number(width), "\" height=\"", svg_number(height), "\"/>");
}

void Drawing::marker(PlotPoint at, int series, std::string_view hint, bool hollow) {
  const std::string title = hint_text(hint);
  body_ +=
      cat("<path class=\"", hollow ? "e" : "f", colour_of(series), "\" d=\"M", svg_number(at.x), " ", svg_number(at.y),
          kShapes[series % kSeries], title.empty() ? "\"/>" : "\">", title, title.empty() ? "" : "</path>");
}

void Drawing::squares(const std::vector<PlotPoint>& corners, double width, double height, int step) {
  if (corners.empty()) return;
  body_ += cat("<path class=\"h", step, "\" d=\"");
  const std::string shape = cat("h", svg_number(width), "v", svg_number(height), "h-", svg_number(width), "z");
  for (const PlotPoint& corner : corners) body_ += cat("M", svg_number(corner.x), " ", svg_number(corner.y), shape);
  body_ += "\"/>";
}

void Drawing::picture(PlotPoint corner, double width, double height, std::string_view png) {
  body_ += cat("<image class=\"p\" preserveAspectRatio=\"none\" x=\"", svg_number(corner.x), "\" y=\"",
               svg_number(corner.y), "\" width=\"", svg_number(width), "\" height=\"", svg_number(height),
               "\" href=\"data:image/png;base64,", base64_encode(as_bytes(png)), "\"/>");
}

void Drawing::text(PlotPoint at, std::string_view text, Anchor anchor, Ink ink, double angle) {
  label(at, text, std::string::npos, anchor, ink, angle);
}

void Drawing::step_text(PlotPoint at, std::string_view text, int step) {
  body_ += cat("<text class=\"x", step, "\" x=\"", svg_number(at.x), "\" y=\"", svg_number(at.y), "\">",
               html_text(text), "</text>");
}

void Drawing::label(PlotPoint at, std::string_view text, size_t n, Anchor anchor, Ink ink, double angle) {
  const std::string whole = clean(text);
  const std::string shown = shortened(text, n);
  body_ += cat("<text class=\"", ink_class(ink), "\"", anchor_text(anchor));
  if (angle == 0) {
    body_ += cat(" x=\"", svg_number(at.x), "\" y=\"", svg_number(at.y), "\"");
  } else {
    body_ +=
        cat(" transform=\"translate(", svg_number(at.x), " ", svg_number(at.y), ")rotate(", svg_number(angle), ")\"");
  }
  body_ += cat(">", shown == whole ? "" : hint_text(text), html_text(shown), "</text>");
}

std::string inline_svg(const Drawing& drawing, std::string_view id, std::string_view title,
                       std::string_view description) {
  return element(drawing, "", cat(id, "-"), title, description, "");
}

std::string standalone_svg(const Drawing& drawing, std::string_view title, std::string_view description) {
  return element(drawing, "xmlns=\"http://www.w3.org/2000/svg\" ", "", title, description,
                 cat("<style>", with_light_colours(svg_style()),
                     "</style><rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>")) +
         "\n";
}

std::string svg_style() {
  std::string css =
      "svg text{font:12px system-ui,\"Segoe UI\",Roboto,\"DejaVu Sans\",Arial,sans-serif;fill:$ink}"
      "svg .q{fill:$quiet}svg .b{font-weight:600}"
      "svg path.a,svg path.g,svg path.d{fill:none;stroke:$quiet}svg path.g{stroke:$grid}"
      "svg path.d{stroke-width:1.5;stroke-dasharray:5 3}"
      "svg .o{opacity:.35}svg .p{image-rendering:pixelated}";
  for (int i = 1; i <= kSeries; ++i) {
    css += cat("svg .l", i, "{fill:none;stroke:$s", i, ";stroke-width:1.5}svg .f", i, "{fill:$s", i, "}svg .e", i,
               "{fill:$page;stroke:$s", i, ";stroke-width:1.5}");
  }
  for (int i = 0; i < kSteps; ++i) {
    const Step& step = steps()[i];
    css += cat("svg .h", i, "{fill:", step.fill, "}svg text.x", i, "{fill:", step.text, ";text-anchor:middle}");
  }
  return css;
}

}  // namespace dnn::report
