// Text and numbers as they are shown.
#include "base/printable.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <iomanip>
#include <limits>

#include "base/text.h"

namespace dnn {
namespace {

TEST(Printable, PlainTextCannotSteerATerminal) {
  EXPECT_EQ(plain("a\x1b[2J\n\"b\""), "a\\x1b[2J\\n\\\"b\\\"");
  EXPECT_EQ(plain(""), "");
  EXPECT_EQ(plain("\u0085\u009b\x7f\u202e\u2066\xff\xc3("),
            "\\xc2\\x85\\xc2\\x9b\\x7f\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xff\\xc3(");
  EXPECT_EQ(plain("caf\u00e9 \u732b \U0001F431"), "caf\u00e9 \u732b \U0001F431");
}

// std::quoted, which <filesystem> brings along, leaves control characters as they are.
TEST(Printable, QuotedTextIsOursOfEachKindOfString) {
  std::string changing = "a\x1b[2J";
  const std::string fixed = changing;
  EXPECT_EQ(cat(quoted(changing), quoted(fixed), quoted(std::string(fixed)), quoted(fixed.c_str()),
                quoted(std::string_view(fixed))),
            R"("a\x1b[2J""a\x1b[2J""a\x1b[2J""a\x1b[2J""a\x1b[2J")");
}

TEST(Printable, CleanTextIsVisible) {
  EXPECT_EQ(clean("caf\u00e9 \u732b"), "caf\u00e9 \u732b");
  EXPECT_EQ(clean("a\nb\tc\x7f"), "a\\u{A}b\\u{9}c\\u{7F}");
  EXPECT_EQ(clean("a\xff\xc3(\xe2\x82"), "a\\xFF\\xC3(\\xE2\\x82");
  EXPECT_EQ(clean("gpj.\u202egnp"), "gpj.\\u{202E}gnp");
  EXPECT_EQ(clean("\u200b\ufeff\u0085"), "\\u{200B}\\u{FEFF}\\u{85}");
  EXPECT_EQ(clean("la\u00adb\u3164el\U000E0041\U0001FFFE"), "la\\u{AD}b\\u{3164}el\\u{E0041}\\u{1FFFE}");
  EXPECT_EQ(clean("\u2764\ufe0f"), "\u2764\ufe0f");  // a heart in colour
  EXPECT_EQ(clean(std::string("a\0b", 3)), "a\\u{0}b");
}

// What is clean stays as it is, so that who cleans twice does no harm.
TEST(Printable, EveryByteIsCleanAfterwards) {
  for (int first = 0; first < 256; ++first) {
    for (const char* const second : {"", "\x80", "\x9b", "(", "\xff"}) {
      const std::string text = std::string(1, static_cast<char>(first)) + second;
      for (const std::string& shown : {clean(text), plain(text)}) {
        EXPECT_TRUE(is_utf8(shown));
        EXPECT_EQ(clean(shown), shown);
      }
    }
  }
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
