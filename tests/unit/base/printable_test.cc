// Text and numbers as they are shown.
#include "base/printable.h"

#include <gtest/gtest.h>

#include <limits>

namespace dnn {
namespace {

TEST(Printable, PlainTextCannotSteerATerminal) {
  EXPECT_EQ(plain("a\x1b[2J\n\"b\""), "a\\x1b[2J\\n\\\"b\\\"");
  EXPECT_EQ(plain(""), "");
}

TEST(Printable, TrimmedOfEveryBlank) {
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(trimmed(" \r\n\t"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Printable, NumbersOfEverySize) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(number_text(nan, "%.6g"), "nan");
  EXPECT_EQ(number_text(-nan, "%+.2f"), "nan");
  EXPECT_EQ(number_text(-std::numeric_limits<double>::infinity(), "%.6g"), "-inf");
  EXPECT_EQ(number_text(1.25, "%+.1f"), "+1.2");
  EXPECT_EQ(number_text(std::numeric_limits<double>::max(), "%.2f").size(), 312u);
}

}  // namespace
}  // namespace dnn
