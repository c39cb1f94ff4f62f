// Scales with ticks at round numbers, for any bounds.
#include "report/axes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace dnn::report {
namespace {

std::vector<std::string> texts(const Scale& scale) {
  std::vector<std::string> list;
  for (const Tick& tick : scale.ticks()) list.push_back(tick.text);
  return list;
}

using List = std::vector<std::string>;

TEST(Axes, LinearTicksAreRound) {
  EXPECT_EQ(texts(Scale(Scale::Kind::Linear, 0.3, 9.7, 0, 100, 5)), (List{"0", "2", "4", "6", "8", "10"}));
  EXPECT_EQ(texts(Scale(Scale::Kind::Linear, 0.91, 1, 0, 100, 5)),
            (List{"0.90", "0.92", "0.94", "0.96", "0.98", "1.00"}));
  EXPECT_EQ(texts(Scale(Scale::Kind::Linear, -1, 1, 0, 100, 4)), (List{"-1.0", "-0.5", "0.0", "0.5", "1.0"}));
}

TEST(Axes, LogarithmicTicksAreOfFewDigits) {
  EXPECT_EQ(texts(Scale(Scale::Kind::Log, 0.4, 30, 0, 100)), (List{"0.2", "0.5", "1", "2", "5", "10", "20", "50"}));
  EXPECT_EQ(texts(Scale(Scale::Kind::Log, 1e-6, 1, 0, 100, 6)).size(), 7U);
  EXPECT_LE(texts(Scale(Scale::Kind::Log, 1e-290, 1e290, 0, 100, 6)).size(), 9U);
}

TEST(Axes, ValuesGoWhereTheyBelong) {
  const Scale linear(Scale::Kind::Linear, 0, 10, 100, 200);
  EXPECT_DOUBLE_EQ(linear.at(0), 100);
  EXPECT_DOUBLE_EQ(linear.at(5), 150);
  EXPECT_DOUBLE_EQ(linear.at(99), 200);
  const Scale log(Scale::Kind::Log, 1, 100, 0, 100);
  EXPECT_NEAR(log.at(10), 50, 1e-9);
  EXPECT_DOUBLE_EQ(log.at(-1), 0);
  EXPECT_DOUBLE_EQ(log.at(std::nan("")), 0);
}

TEST(Axes, AnyBoundsGiveAScale) {
  const double odd[] = {0, -0.0, 1, -7, 1e-320, 1e308, -1e308, INFINITY, -INFINITY, NAN, 5e-324, 3.3};
  for (const double low : odd) {
    for (const double high : odd) {
      for (const Scale::Kind kind : {Scale::Kind::Linear, Scale::Kind::Log}) {
        const Scale scale(kind, low, high, 0, 100);
        ASSERT_GE(scale.ticks().size(), 2U) << low << " " << high;
        ASSERT_LE(scale.ticks().size(), 40U) << low << " " << high;
        EXPECT_LT(scale.low(), scale.high()) << low << " " << high;
        for (const double value : odd) {
          EXPECT_GE(scale.at(value), 0);
          EXPECT_LE(scale.at(value), 100);
        }
      }
    }
  }
}

TEST(Axes, ShortNumbers) {
  EXPECT_EQ(short_number(0.25), "0.25");
  EXPECT_EQ(short_number(123456), "123456");
  EXPECT_EQ(short_number(3e-7), "3e-07");
  EXPECT_EQ(short_number(NAN), "NaN");
}

}  // namespace
}  // namespace dnn::report
