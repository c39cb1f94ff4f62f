// Words of the text form of graphs.
#include "graph/text_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "refused.h"

namespace dnn {
namespace {

TEST(TextReader, TellsWordsTextsAndSymbols) {
  TextReader reader("a.b/c-1 \"x y\" :: # gone\n=");
  EXPECT_TRUE(reader.is_word("a.b/c-1"));
  EXPECT_EQ(reader.take_name(), "a.b/c-1");
  EXPECT_TRUE(reader.is(TextToken::Kind::Text));
  EXPECT_EQ(reader.take_name(), "x y");
  EXPECT_TRUE(reader.accept("::"));
  EXPECT_EQ(reader.token().line, 1);
  reader.skip_newlines();
  EXPECT_EQ(reader.token().line, 2);
  EXPECT_FALSE(reader.accept("("));
  EXPECT_TRUE(reader.accept("="));
  EXPECT_TRUE(reader.is(TextToken::Kind::End));
}

TEST(TextReader, UnescapesTexts) { EXPECT_EQ(TextReader(R"("\n\t\"\\\x7f")").take_text(), "\n\t\"\\\x7f"); }

TEST(TextReader, ReadsItemsOnSeveralLines) {
  TextReader reader("1,\n2\n,3\n]");
  std::vector<int64_t> read;
  reader.items("]", [&] { read.push_back(reader.take_int()); });
  EXPECT_EQ(read, (std::vector<int64_t>{1, 2, 3}));
}

TEST(TextReader, TellsIntegersFromFloats) {
  TextReader reader("7 7.5 nan(2143289345)");
  int64_t whole = 0;
  float real = 0;
  EXPECT_TRUE(reader.accept_int(&whole));
  EXPECT_FALSE(reader.accept_int(&whole));
  EXPECT_TRUE(reader.accept_float(&real));
  EXPECT_EQ(real, 7.5F);
  EXPECT_TRUE(reader.accept_float(&real));
  EXPECT_TRUE(std::isnan(real));
}

TEST(TextReader, SaysWhatItFoundInstead) {
  EXPECT_EQ(refused([] { TextReader("\n\n).").fail("x"); }), "3 line 1: x");
  EXPECT_EQ(refused([] { TextReader("a").expect("("); }), "3 line 1: '(' expected, found \"a\"");
  EXPECT_EQ(refused([] { TextReader("").take_int(); }), "3 line 1: an integer expected, the text ends");
  EXPECT_EQ(refused([] { TextReader("\"a"); }), "3 line 1: a quoted text does not end");
}

}  // namespace
}  // namespace dnn
