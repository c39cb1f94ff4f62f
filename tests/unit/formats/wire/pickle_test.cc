// Unpickling: trees of values, sharing, what is refused and what is damage.
#include "formats/wire/pickle.h"

#include <gtest/gtest.h>

namespace dnn::pickle {
namespace {

// A literal with the zeros inside.
template <size_t N>
std::string bytes(const char (&text)[N]) {
  return {text, N - 1};
}

void only_good(std::string_view module, std::string_view name) {
  if (module != "good") fail_unsupported("global ", module, ".", name);
}

Tree parsed(std::string_view text, size_t* end = nullptr) { return parse(as_bytes(text), only_good, end); }

ErrorKind kind_of(std::string_view text) {
  try {
    parsed(text);
  } catch (const Error& e) {
    return e.kind();
  }
  return ErrorKind::Internal;
}

TEST(Pickle, ReadsScalars) {
  // (None, True, -2, 300, 1.5, "ab", -1)
  const std::string text =
      bytes("\x80\x02(N\x88J\xfe\xff\xff\xffM\x2c\x01G\x3f\xf8\0\0\0\0\0\0X\2\0\0\0ab\x8a\1\xfft.");
  const Tree tree = parsed(text);
  const std::vector<Ref>& items = tree.list(tree.root, "it");
  ASSERT_EQ(items.size(), 7u);
  EXPECT_TRUE(tree.is(items[0], Kind::None));
  EXPECT_EQ(tree[items[1]].integer, 1);
  EXPECT_EQ(tree.integer(items[2], "it"), -2);
  EXPECT_EQ(tree.integer(items[3], "it"), 300);
  EXPECT_EQ(tree[items[4]].real, 1.5);
  EXPECT_EQ(tree.text(items[5], "it"), "ab");
  EXPECT_EQ(tree.integer(items[6], "it"), -1);
}

TEST(Pickle, KeepsCallsAsNodes) {
  // good.Class(1), whose state is {"k": 2}
  const std::string text = bytes(
      "\x80\x02"
      "cgood\nClass\nK\1\x85\x81}X\1\0\0\0kK\2sb.");
  const Tree tree = parsed(text);
  EXPECT_EQ(tree.callee(tree.root), "good Class");
  EXPECT_EQ(tree.integer(tree[tree[tree.root].items[1]].items[0], "it"), 1);
  EXPECT_EQ(tree.integer(tree.find(tree[tree.root].items[2], "k"), "it"), 2);
}

TEST(Pickle, SharesWhatTheMemoShares) {
  std::string text = bytes("\x80\x02K\1q\0");  // then each list holds the one before twice: 2^100 leaves, 101 nodes
  for (int i = 0; i < 100; ++i) text += bytes("(h\0h\0lq\0");
  const Tree tree = parsed(text + ".");
  EXPECT_EQ(tree.size(), 101u);
}

TEST(Pickle, ReadsTheOldTextOpcodes) {
  size_t end = 0;
  const Tree tree = parsed("(lp0\nI7\naF0.5\naS'x'\na.rest", &end);
  const std::vector<Ref>& items = tree.list(tree.root, "it");
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(tree.integer(items[0], "it"), 7);
  EXPECT_EQ(tree[items[1]].real, 0.5);
  EXPECT_EQ(tree.text(items[2], "it"), "x");
  EXPECT_EQ(end, 22u);
}

TEST(Pickle, RefusesGlobalsByName) {
  for (const std::string& text :
       {std::string("\x80\x02"
                    "cposix\nsystem\n."),
        std::string("(S'ls'\niposix\nsystem\n."), std::string("\x80\x04\x8c\5posix\x8c\6system\x93.")}) {
    try {
      parsed(text);
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Unsupported);
      EXPECT_STREQ(e.what(), "global posix.system");
    }
  }
}

TEST(Pickle, FindsDamage) {
  EXPECT_EQ(kind_of(""), ErrorKind::Malformed);
  EXPECT_EQ(kind_of("\x80\x02N"), ErrorKind::Malformed);     // no end
  EXPECT_EQ(kind_of("\x80\x02."), ErrorKind::Malformed);     // nothing on the stack
  EXPECT_EQ(kind_of("\x80\x02h\5."), ErrorKind::Malformed);  // not in the memo
  EXPECT_EQ(kind_of("\x80\x02(N"), ErrorKind::Malformed);
  EXPECT_EQ(kind_of(bytes("\x80\x02X\xff\xff\xff\x7fz.")), ErrorKind::Malformed);  // a text beyond the end
  EXPECT_EQ(kind_of(bytes("\x80\x02]q\0h\0a.")), ErrorKind::Malformed);            // a list that holds itself
  EXPECT_EQ(kind_of("\x80\x02NNR."), ErrorKind::Malformed);                        // a call of None
  EXPECT_EQ(kind_of("\x80\x05."), ErrorKind::Unsupported);
  EXPECT_EQ(kind_of(bytes("\x80\x02\x82\1.")), ErrorKind::Unsupported);  // EXT1
}

TEST(Pickle, BoundsDepth) {
  std::string text = "\x80\x02N";
  for (int i = 0; i < 300; ++i) text += '\x85';
  EXPECT_EQ(kind_of(text + "."), ErrorKind::Malformed);
}

}  // namespace
}  // namespace dnn::pickle
