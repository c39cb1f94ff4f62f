// Lists of processors to numbers and back; threads stay where they are put, and come back.
#include "base/affinity.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/utsname.h>

#include <cstdio>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/threads.h"

namespace dnn {
namespace {

using List = std::vector<int>;

TEST(Processors, ListsAreThoseOfTaskset) {
  EXPECT_EQ(parse_processors("3"), List{3});
  EXPECT_EQ(parse_processors("0,2-5"), (List{0, 2, 3, 4, 5}));
  EXPECT_EQ(parse_processors("6-7,0-1"), (List{6, 7, 0, 1})) << "in the order written";
  EXPECT_EQ(parse_processors("0-6:2,1"), (List{0, 2, 4, 6, 1}));
  EXPECT_EQ(parse_processors("5-5"), List{5});
  for (const char* text : {"", ",", "0,", "-1", "1-", "3-2", "a", "0-1-2", "0 1", "0,,1", "0-4:0", "0-4:-1",
                           "0-4:", "0:2", "0-4:2:2", "65536", "99999999999999999999", "0-65535,0"})
    EXPECT_EQ(parse_processors(text), std::nullopt) << text;
}

TEST(Processors, TextKeepsTheOrder) {
  for (const char* text : {"0", "0,2-5", "6-7,0-1", "0,2,4", "1,0", "0-1,1-2"})
    EXPECT_EQ(processors_text(*parse_processors(text)), text);
  EXPECT_EQ(processors_text(*parse_processors("0,1,2,4-4")), "0-2,4");
  EXPECT_EQ(processors_text({}), "");
}

TEST(PinnedThread, IsOnTheFirstUntilItEnds) {
  const List allowed = allowed_processors();
  ASSERT_FALSE(allowed.empty());
  EXPECT_EQ(available_processors(), static_cast<int>(allowed.size()));
  {
    const PinnedThread nowhere(List{});
    EXPECT_EQ(allowed_processors(), allowed);
  }
  const List reversed(allowed.rbegin(), allowed.rend());
  {
    const PinnedThread pinned(reversed);
    EXPECT_EQ(allowed_processors(), List{allowed.back()});
    EXPECT_EQ(available_processors(), 1);
  }
  EXPECT_EQ(allowed_processors(), allowed);
}

// A thread that asks for short slices has them, and those that it starts.
TEST(ShortSlices, AreThoseOfTheThreadsToCome) {
  std::thread([&] {
    const bool has = take_short_slices();
    utsname system{};
    ASSERT_EQ(::uname(&system), 0);
    int version = 0, minor = 0;
    ASSERT_EQ(std::sscanf(system.release, "%d.%d", &version, &minor), 2);
    if (::sched_getscheduler(0) == SCHED_OTHER && std::pair(version, minor) >= std::pair(6, 12)) {
      EXPECT_TRUE(has);
    }
  }).join();
}

// Whom a thread starts is where the thread is.
TEST(KeepTo, HoldsForThreadsToCome) {
  const List allowed = allowed_processors();
  List of_first, of_second;
  std::thread([&] {
    keep_to(List{allowed.back()});
    of_first = allowed_processors();
    std::thread([&] { of_second = allowed_processors(); }).join();
  }).join();
  EXPECT_EQ(of_first, List{allowed.back()});
  EXPECT_EQ(of_second, of_first);
  EXPECT_EQ(allowed_processors(), allowed);
}

TEST(KeepTo, AProcessorThatIsNotThereIsOfTheEnvironment) {
  const List allowed = allowed_processors();
  try {
    const PinnedThread pinned(List{65535});
    ADD_FAILURE() << "nothing thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Environment);
    EXPECT_EQ(e.what(), std::string("cannot keep a thread to processor 65535: Invalid argument"));
  }
  EXPECT_THROW(ThreadPool(3, List{65535}), Error);
  EXPECT_EQ(allowed_processors(), allowed);
}

}  // namespace
}  // namespace dnn
