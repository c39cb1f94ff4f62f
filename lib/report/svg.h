// Drawing: a small writer of SVG whose colours are classes, so that a page can show it by light and by dark.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dnn::report {

// What a class of the style sheet draws: lines and markers of a series 1 to kSeries, and the rest.
enum class Ink : uint8_t { Text, Quiet, Strong, Axis, Grid };

struct PlotPoint {
  double x = 0, y = 0;
};

enum class Anchor : uint8_t { Start, Middle, End };

inline constexpr double kTextSize = 12;
// About how wide clean text is, in a typical sans-serif face.
double text_width(std::string_view text);

class Drawing {
 public:
  Drawing() = default;
  Drawing(double width, double height) : width_(width), height_(height) {}
  double width() const { return width_; }
  double height() const { return height_; }
  void set_height(double height) { height_ = height; }
  bool empty() const { return body_.empty(); }

  void line(PlotPoint a, PlotPoint b, Ink ink);
  void series_line(PlotPoint a, PlotPoint b, int series);  // series from 0; colours come again after kSeries
  void path(const std::vector<PlotPoint>& points, int series);
  void stairs(const std::vector<PlotPoint>& points, Ink ink);
  void band(const std::vector<PlotPoint>& outline, int series);  // filled, translucent
  void box(PlotPoint corner, double width, double height, int series);
  // A shape of its own for each series; `hint` shows on pointing.
  void marker(PlotPoint at, int series, std::string_view hint = "", bool hollow = false);
  // Squares of one step of the palette's scale, in one element.
  void squares(const std::vector<PlotPoint>& corners, double width, double height, int step);
  // The bytes of a PNG file, stretched to a box; its pixels stay sharp.
  void picture(PlotPoint corner, double width, double height, std::string_view png);
  // Text of a file is cleaned and escaped here. `angle` in degrees, clockwise.
  void text(PlotPoint at, std::string_view text, Anchor anchor = Anchor::Start, Ink ink = Ink::Text, double angle = 0);
  void step_text(PlotPoint at, std::string_view text, int step);
  // The text, shortened to n characters with the whole of it as a hint.
  void label(PlotPoint at, std::string_view text, size_t n, Anchor anchor, Ink ink = Ink::Text, double angle = 0);

  const std::string& body() const { return body_; }

 private:
  double width_ = 0, height_ = 0;
  std::string body_;
};

// The drawing as an element of a page that has svg_style() in its style sheet; `id` is unique in the page.
std::string inline_svg(const Drawing& drawing, std::string_view id, std::string_view title,
                       std::string_view description);
// The drawing as a file, on white.
std::string standalone_svg(const Drawing& drawing, std::string_view title, std::string_view description);
// Rules for the classes of drawings, with the palette's colours as $name.
std::string svg_style();

}  // namespace dnn::report
