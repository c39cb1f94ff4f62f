// The palette; see palette.h.
#include "report/palette.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "report/axes.h"

namespace dnn::report {
namespace {

using Channels = std::array<int, 3>;

Channels rgb_of(std::string_view colour) {
  const long value = std::strtol(std::string(colour.substr(1)).c_str(), nullptr, 16);
  return {static_cast<int>(value >> 16 & 255), static_cast<int>(value >> 8 & 255), static_cast<int>(value & 255)};
}

constexpr std::string_view kLightest = "#eef5fb", kDarkest = "#08386f";

Rgb between(std::string_view from, std::string_view to, double share) {
  const Channels a = rgb_of(from), b = rgb_of(to);
  Rgb rgb{};
  for (size_t i = 0; i < rgb.size(); ++i)
    rgb[i] = static_cast<uint8_t>(std::lround(a[i] + std::clamp(share, 0.0, 1.0) * (b[i] - a[i])));
  return rgb;
}

std::string_view light_colour(std::string_view name) {
  return std::find_if(colours().begin(), colours().end(), [&](const Colour& c) { return c.name == name; })->light;
}

// WCAG 2.2, relative luminance.
double luminance(std::string_view colour) {
  const Channels rgb = rgb_of(colour);
  const double weights[] = {0.2126, 0.7152, 0.0722};
  double sum = 0;
  for (size_t i = 0; i < 3; ++i) {
    const double c = rgb[i] / 255.0;
    sum += weights[i] * (c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
  }
  return sum;
}

std::string substituted(std::string_view css, const auto& colour_text) {
  std::string out;
  for (size_t at = 0; at < css.size();) {
    const Colour* named = nullptr;
    if (css[at] == '$') {
      for (const Colour& colour : colours()) {
        if (css.substr(at + 1).starts_with(colour.name)) named = &colour;
      }
    }
    if (named == nullptr) {
      out += css[at++];
    } else {
      out += colour_text(*named);
      at += 1 + named->name.size();
    }
  }
  return out;
}

}  // namespace

const std::vector<Colour>& colours() {
  static const std::vector<Colour> kColours = {
#define DNN_COLOUR(name, use, light, dark) {#name, Use::use, light, dark},
#include "report/palette.def"
  };
  return kColours;
}

double contrast(std::string_view a, std::string_view b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

const std::array<Step, kSteps>& steps() {
  static const std::array<Step, kSteps> kScale = [] {
    const Channels low = rgb_of(kLightest), high = rgb_of(kDarkest);
    std::array<Step, kSteps> scale;
    for (int i = 0; i < kSteps; ++i) {
      const double t = static_cast<double>(i) / (kSteps - 1);
      char text[8];
      Channels c{};
      for (size_t j = 0; j < 3; ++j) c[j] = static_cast<int>(std::lround(low[j] + t * (high[j] - low[j])));
      std::snprintf(text, sizeof text, "#%02x%02x%02x", c[0] & 255, c[1] & 255, c[2] & 255);
      Step& step = scale[i];
      step.fill = text;
      step.text = contrast(text, "#000000") >= contrast(text, "#ffffff") ? "#000000" : "#ffffff";
    }
    return scale;
  }();
  return kScale;
}

Rgb shade(double share) { return between(kLightest, kDarkest, share); }

Rgb diverging_shade(double share) { return between("#ffffff", light_colour(share < 0 ? "s1" : "s2"), std::abs(share)); }

Rgb no_number_shade() { return between(light_colour("s4"), light_colour("s4"), 0); }

int step_of(double value, double low, double high) {
  return std::min(static_cast<int>(share_between(value, low, high) * kSteps), kSteps - 1);
}

int step_below(double value, double low, double high) {
  return step_of(std::sqrt(share_between(-value, -high, -low)), 0, 1);
}

std::string with_variables(std::string_view css) {
  return substituted(css, [](const Colour& colour) { return "var(--" + std::string(colour.name) + ")"; });
}

std::string with_light_colours(std::string_view css) {
  return substituted(css, [](const Colour& colour) { return std::string(colour.light); });
}

}  // namespace dnn::report
