// Commands divided into words as a shell would, without one; what a child says before it goes.
#include "base/child.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

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

std::string failure_of(double limit_s, const std::function<std::string()>& work) {
  try {
    try_in_child("the driver", limit_s, work);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Environment);
    return error.what();
  }
  return "";
}

TEST(Trial, GivesWhatTheWorkReturnsAndChangesNothingHere) {
  int calls = 0;
  const std::string large(1'000'000, 'x');
  EXPECT_TRUE(try_in_child("", 20, [&] { return ++calls == 1 ? large : ""; }) == large);
  EXPECT_EQ(try_in_child("", 20, [] { return std::string(); }), "");
  EXPECT_EQ(calls, 0);
}

TEST(Trial, SaysWhyTheWorkEnded) {
  EXPECT_EQ(failure_of(20,
                       []() -> std::string {
                         std::fputs("one\n\nmissing: /sys\n\n", stderr);
                         std::abort();
                       }),
            "the driver was ended by signal 6 (Aborted): missing: /sys");
  EXPECT_EQ(failure_of(20, []() -> std::string { std::_Exit(7); }), "the driver ended with code 7");
  EXPECT_EQ(failure_of(20, []() -> std::string { fail_environment("no such device"); }), "no such device");
  EXPECT_EQ(failure_of(0.1,
                       []() -> std::string {
                         while (true) ::pause();
                       }),
            "the driver: nothing came within 0.1 s, the limit of asking it");
}

}  // namespace
}  // namespace dnn
