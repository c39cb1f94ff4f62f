// Axes: scales with ticks at round numbers, linear or logarithmic.
#pragma once
#include <string>
#include <vector>

#include "report/svg.h"

namespace dnn::report {

struct Tick {
  double value = 0;
  std::string text;
};

// Maps values from low..high, rounded outwards to ticks, to positions from..to.
class Scale {
 public:
  enum class Kind : uint8_t { Linear, Log };
  // Takes any bounds: not finite ones are replaced, equal ones and ones in the wrong order widened, a logarithm's made positive.
  Scale(Kind kind, double low, double high, double from, double to, int about_ticks = 6);
  double at(double value) const;  // values beyond the ends go to the ends
  double low() const { return low_; }
  double high() const { return high_; }
  Kind kind() const { return kind_; }
  const std::vector<Tick>& ticks() const { return ticks_; }

 private:
  void linear(int about_ticks);
  void logarithmic(int about_ticks);

  Kind kind_;
  double low_, high_, from_, to_;
  std::vector<Tick> ticks_;
};

// Logarithmic where the values, all above 0, are far apart.
Scale::Kind kind_for(double low, double high);

// Where a value lies from low to high, 0 to 1; 0 where one of them is NaN or nothing lies between them.
double share_between(double value, double low, double high);

// "0.25", "1200", "3e-07": short, for reading.
std::string short_number(double value);

// Ticks with their texts and, across the frame, faint lines; a title below, or beside turned by 90 degrees.
struct Frame {
  double left = 0, top = 0, right = 0, bottom = 0;
};
void draw_x_axis(Drawing* drawing, const Scale& scale, const Frame& frame, std::string_view title);
void draw_y_axis(Drawing* drawing, const Scale& scale, const Frame& frame, std::string_view title);

// Entries below each other in rows no wider than `width`, from `at` on; gives the height taken.
double draw_legend(Drawing* drawing, PlotPoint at, double width, const std::vector<std::string>& names);

}  // namespace dnn::report
