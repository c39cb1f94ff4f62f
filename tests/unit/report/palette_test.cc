// Colours that can be told apart from what stands behind them, by light and by dark (WCAG 2.2).
#include "report/palette.h"

#include <gtest/gtest.h>

#include <cmath>

namespace dnn::report {
namespace {

TEST(Palette, ContrastIsThatOfWcag) {
  EXPECT_NEAR(contrast("#000000", "#ffffff"), 21, 1e-9);
  EXPECT_NEAR(contrast("#777777", "#ffffff"), 4.478, 1e-3);
  EXPECT_DOUBLE_EQ(contrast("#123456", "#123456"), 1);
}

TEST(Palette, TextStandsOutFromEveryPage) {
  for (const Colour& page : colours()) {
    if (page.use != Use::Page) continue;
    for (const Colour& colour : colours()) {
      const double least = colour.use == Use::Text ? 4.5 : colour.use == Use::Mark ? 3.0 : 1.0;
      EXPECT_GE(contrast(page.light, colour.light), least) << colour.name << " on " << page.name << ", light";
      EXPECT_GE(contrast(page.dark, colour.dark), least) << colour.name << " on " << page.name << ", dark";
    }
  }
}

TEST(Palette, TextStandsOutFromEachStep) {
  for (const Step& step : steps()) EXPECT_GE(contrast(step.fill, step.text), 4.5) << step.fill;
}

TEST(Palette, StepsCoverTheRange) {
  EXPECT_EQ(step_of(0, 0, 1), 0);
  EXPECT_EQ(step_of(1, 0, 1), kSteps - 1);
  EXPECT_EQ(step_of(0.5, 0, 1), kSteps / 2);
  EXPECT_EQ(step_of(7, 7, 7), 0);
  EXPECT_EQ(step_of(-3, 0, 1), 0);
  EXPECT_EQ(step_of(NAN, 0, 1), 0);
  EXPECT_EQ(step_of(1.7e308, -1.7e308, 1.7e308), kSteps - 1);
  EXPECT_EQ(step_of(0, -1.7e308, 1.7e308), kSteps / 2);
}

TEST(Palette, SmallDifferencesShow) {
  EXPECT_EQ(step_below(100, 0, 100), 0);
  EXPECT_EQ(step_below(0, 0, 100), kSteps - 1);
  EXPECT_EQ(step_below(97, 0, 100), 1);
  EXPECT_EQ(step_below(50, 50, 50), 0);
  EXPECT_EQ(step_below(-1.7e308, -1.7e308, 1.7e308), kSteps - 1);
}

TEST(Palette, VariablesAreTheColours) {
  EXPECT_EQ(with_variables("a{color:$ink;b:$s1}"), "a{color:var(--ink);b:var(--s1)}");
  EXPECT_EQ(with_light_colours("a{color:$page}"), "a{color:#ffffff}");
}

TEST(Palette, ShadesOfMaps) {
  EXPECT_EQ(diverging_shade(0), (Rgb{255, 255, 255}));
  EXPECT_EQ(diverging_shade(-1), (Rgb{0x00, 0x72, 0xb2}));
  EXPECT_EQ(diverging_shade(2), diverging_shade(1));
  for (int i = 1; i <= 10; ++i) {  // as dark to both sides, and darker with each step
    const Rgb a = diverging_shade(-i / 10.0), b = diverging_shade(i / 10.0), c = diverging_shade((i - 1) / 10.0);
    EXPECT_LT(a[0], 255);
    EXPECT_LT(b[2], c[2]);
    EXPECT_GT(a[2], b[2]);
    EXPECT_LT(shade(i / 10.0)[0], shade((i - 1) / 10.0)[0]);
  }
}

}  // namespace
}  // namespace dnn::report
