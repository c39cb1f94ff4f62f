// Axes; see axes.h.
#include "report/axes.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/printable.h"
#include "report/escape.h"

namespace dnn::report {
namespace {

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value == 0 ? 0.0 : value);
  return text;
}

// The next of 1, 2, 5, 10, ... times a power of ten that is not below.
double round_step(double raw) {
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

}  // namespace

double share_between(double value, double low, double high) {
  // Of halves, for a difference may be more than a number can be.
  const double share = (value / 2 - low / 2) / (high / 2 - low / 2);
  return low < high && share > 0 ? std::min(share, 1.0) : 0;
}

std::string short_number(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "NaN" : value > 0 ? "inf" : "-inf";
  const double size = std::fabs(value);
  return size >= 1e4 && size < 1e9 ? fixed(value, 0) : number_text(value, "%.4g");
}

Scale::Kind kind_for(double low, double high) {
  return low > 0 && high / low > 30 ? Scale::Kind::Log : Scale::Kind::Linear;
}

Scale::Scale(Kind kind, double low, double high, double from, double to, int about_ticks)
    : kind_(kind), low_(low), high_(high), from_(from), to_(to) {
  constexpr double kHuge = 1e150;  // whose ratios are numbers, too
  if (!std::isfinite(low_)) low_ = 0;
  if (!std::isfinite(high_)) high_ = low_ + 1;
  for (double* bound : {&low_, &high_}) {
    *bound = std::fabs(*bound) < 1 / kHuge ? 0 : std::clamp(*bound, -kHuge, kHuge);
  }
  if (low_ > high_) std::swap(low_, high_);
  kind_ == Kind::Log ? logarithmic(about_ticks) : linear(about_ticks);
}

void Scale::linear(int about_ticks) {
  if (high_ - low_ <= 1e-12 * std::max(std::fabs(low_), std::fabs(high_)) || high_ == low_) {
    const double wider = low_ == 0 ? 1 : 0.05 * std::fabs(low_);
    high_ += wider;
    low_ = low_ >= 0 ? std::max(0.0, low_ - wider) : low_ - wider;
  }
  const double step = round_step((high_ - low_) / about_ticks);
  const double first = std::floor(low_ / step + 1e-9), last = std::ceil(high_ / step - 1e-9);
  const int digits = std::clamp(static_cast<int>(-std::floor(std::log10(step) + 1e-9)), 0, 12);
  const auto n = static_cast<int>(std::min(last - first, 100.0));
  for (int i = 0; i <= n; ++i) {
    const double value = (first + i) * step;
    const double size = std::max(std::fabs(first * step), std::fabs(last * step));
    ticks_.push_back({value, size >= 1e7 || size < 1e-4 ? short_number(value) : fixed(value, digits)});
  }
  low_ = first * step;
  high_ = last * step;
}

void Scale::logarithmic(int about_ticks) {
  constexpr double kLeast = 1e-150;
  low_ = std::max(low_, kLeast);
  high_ = std::max(high_, low_ * 1.0001);
  // Only powers of ten where they are many, else 1, 2, 5 of each.
  const double decades = std::log10(high_ / low_);
  const double every = std::max(1.0, std::ceil(decades / about_ticks));
  const bool within = decades < 3;
  std::vector<double> marks;
  for (double power = std::floor(std::log10(low_) + 1e-9) - every; power <= std::log10(high_) + every; power += 1) {
    if (!within && std::fmod(std::fabs(power), every) != 0) continue;
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor == 1 || within) marks.push_back(factor * std::pow(10.0, power));
    }
  }
  size_t first = 0, last = marks.size() - 1;
  while (first + 1 < marks.size() && marks[first + 1] <= low_ * (1 + 1e-9)) ++first;
  while (last > first + 1 && marks[last - 1] >= high_ * (1 - 1e-9)) --last;
  for (size_t i = first; i <= last; ++i) ticks_.push_back({marks[i], short_number(marks[i])});
  low_ = marks[first];
  high_ = marks[last];
}

double Scale::at(double value) const {
  double share = 0;
  if (kind_ == Kind::Log) {
    share = value <= low_ ? 0 : std::log(value / low_) / std::log(high_ / low_);
  } else {
    share = (value - low_) / (high_ - low_);
  }
  share = std::isnan(share) ? 0 : std::clamp(share, 0.0, 1.0);
  return from_ + share * (to_ - from_);
}

void draw_x_axis(Drawing* drawing, const Scale& scale, const Frame& frame, std::string_view title) {
  for (const Tick& tick : scale.ticks()) {
    const double x = scale.at(tick.value);
    drawing->line({x, frame.top}, {x, frame.bottom}, Ink::Grid);
    drawing->text({x, frame.bottom + 16}, tick.text, Anchor::Middle, Ink::Quiet);
  }
  drawing->line({frame.left, frame.bottom}, {frame.right, frame.bottom}, Ink::Axis);
  drawing->text({(frame.left + frame.right) / 2, frame.bottom + 34}, title, Anchor::Middle);
}

void draw_y_axis(Drawing* drawing, const Scale& scale, const Frame& frame, std::string_view title) {
  for (const Tick& tick : scale.ticks()) {
    const double y = scale.at(tick.value);
    drawing->line({frame.left, y}, {frame.right, y}, Ink::Grid);
    drawing->text({frame.left - 6, y + 4}, tick.text, Anchor::End, Ink::Quiet);
  }
  drawing->line({frame.left, frame.top}, {frame.left, frame.bottom}, Ink::Axis);
  drawing->text({14, (frame.top + frame.bottom) / 2}, title, Anchor::Middle, Ink::Text, -90);
}

double draw_legend(Drawing* drawing, PlotPoint at, double width, const std::vector<std::string>& names) {
  constexpr double kRow = 18, kGap = 16;
  constexpr size_t kLongest = 40;
  double x = at.x, y = at.y;
  for (size_t i = 0; i < names.size(); ++i) {
    const double wide = 14 + text_width(shortened(names[i], kLongest)) + kGap;
    if (x > at.x && x + wide > at.x + width) {
      x = at.x;
      y += kRow;
    }
    drawing->marker({x + 5, y + 8}, static_cast<int>(i));
    drawing->label({x + 14, y + 12}, names[i], kLongest, Anchor::Start);
    x += wide;
  }
  return names.empty() ? 0 : y + kRow - at.y;
}

}  // namespace dnn::report
