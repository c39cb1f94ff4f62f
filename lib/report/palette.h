// Palette: the colours of a report (palette.def) and the scale of heat maps.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dnn::report {

enum class Use : uint8_t { Page, Text, Mark, Rule };

struct Colour {
  std::string_view name;
  Use use;
  std::string_view light, dark;  // "#rrggbb"
};
const std::vector<Colour>& colours();
inline constexpr int kSeries = 6;  // s1 to s6

// The steps of a heat map from little to much, the same by light and by dark, each with the text colour that stands out most.
struct Step {
  std::string fill, text;
};
inline constexpr int kSteps = 8;
const std::array<Step, kSteps>& steps();
// The step of a value between low and high.
int step_of(double value, double low, double high);
// The step of how far a value lies below the highest, by the square root, so that small differences show beside large ones.
int step_below(double value, double low, double high);

// A colour between the steps, of a share from 0 to 1; and of one from -1 to 1: blue, white at 0, orange, which colour-blind eyes
// tell apart too. What is no number has a colour of its own.
using Rgb = std::array<uint8_t, 3>;
Rgb shade(double share);
Rgb diverging_shade(double share);
Rgb no_number_shade();

// WCAG 2.2's contrast ratio of two colours "#rrggbb", from 1 to 21.
double contrast(std::string_view a, std::string_view b);

// "$name" in a style sheet becomes var(--name), or the light colour itself.
std::string with_variables(std::string_view css);
std::string with_light_colours(std::string_view css);

}  // namespace dnn::report
