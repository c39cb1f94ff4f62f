// Commands divided into words as a shell would, without one; what a child says before it goes.
#include "base/child.h"

#include <gtest/gtest.h>

namespace dnn {
namespace {

TEST(Words, AreDividedAsAShellDivides) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(words_of("  a  b\tc\n", ""), (Words{"a", "b", "c"}));
  EXPECT_EQ(words_of(R"(sh -c 'a "b" \c' "d e"f "g\"h\\" i\ j '')", ""),
            (Words{"sh", "-c", R"(a "b" \c)", "d ef", R"(g"h\)", "i j", ""}));
  EXPECT_EQ(words_of("a;b $HOME *|", ""), (Words{"a;b", "$HOME", "*|"}));
  for (const char* const bad : {"", "  ", "a 'b", "a \"b", "a\\", "'' b"})
    EXPECT_THROW(words_of(bad, ""), Error) << bad;
}

TEST(Child, WhatItWroteIsReadThoughItDidNotReadAll) {
  for (int i = 0; i < 20; ++i) {
    ChildProcess child({"echo", "said"}, "child");
    child.limit(20, "the test");
    child.write(as_bytes("nobody reads this"));
    std::string said;
    std::byte buffer[16];
    while (const size_t n = child.read(buffer, sizeof buffer)) said += as_text({buffer, n});
    EXPECT_EQ(said, "said\n");
  }
}

TEST(Child, OneThatAnswersBeforeAllWasSaidIsNoDeadlock) {
  ChildProcess child({"cat"}, "child");
  child.limit(20, "the test");
  std::string written, said;
  for (int i = 0; i < 20'000; ++i) {
    const std::string line = std::to_string(i) + std::string(static_cast<size_t>(i % 300), '.') + "\n";
    child.write(as_bytes(line));
    written += line;
  }
  child.close_input();
  std::byte buffer[5000];
  while (const size_t n = child.read(buffer, sizeof buffer)) said += as_text({buffer, n});
  EXPECT_TRUE(said == written);
}

}  // namespace
}  // namespace dnn
