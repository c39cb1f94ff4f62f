// Measured times: what a run takes where all runs are alike, and where some of them wait.
#include "place/measure.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/affinity.h"

namespace dnn::place {
namespace {

using Clock = std::chrono::steady_clock;

void busy_for(std::chrono::microseconds time) {
  for (const Clock::time_point start = Clock::now(); Clock::now() - start < time;) {
  }
}

// Every `each`-th run takes `waits` longer than `us`, as where another program has the processor meanwhile.
struct Runs {
  std::chrono::microseconds us, waits{0};
  int64_t each = 1, count = 0;

  Way way() {
    return {[this] {
      busy_for(us + (++count % each == 0 ? waits : std::chrono::microseconds(0)));
      return std::vector<Tensor>();
    }};
  }
};

TEST(TypicalTime, CountsWaitsThatMostRunsDoNotHave) {
  Runs runs{.us = std::chrono::microseconds(200), .waits = std::chrono::microseconds(4000), .each = 4};
  const double us = typical_us(runs.way(), 3, 20);
  // Busy machines make it longer.
  EXPECT_GE(us, 1150) << "200 us in three of four runs, 4200 in the fourth: the median is 200, the average 1200";
}

TEST(TypicalTime, IsTheMedianOfRunsThatAreAlike) {
  Runs runs{.us = std::chrono::microseconds(500), .waits = std::chrono::microseconds(20000), .each = 10};
  // The tenth run is one of those for warming up.
  const double us = typical_us(runs.way(), 10, 9);
  EXPECT_GE(us, 500);
  if (runs.count == 19) {
    EXPECT_LE(us, 700) << "runs that are alike are not repeated, nor averaged";
  }
}

TEST(TypicalTime, LeavesOutWhatCameOnce) {
  int64_t count = 0;
  // Runs of two kinds, and one that waits: the first behind the single ones.
  const Way way{[&] {
    ++count;
    busy_for(std::chrono::microseconds(count == 21 ? 300000 : count % 2 == 0 ? 400 : 600));
    return std::vector<Tensor>();
  }};
  const double us = typical_us(way, 0, 20);
  EXPECT_GE(us, 450) << "400 and 600 us by turns";
  EXPECT_LE(us, 20000) << "the long wait is in one average of seven";
}

TEST(LineRoundTrip, IsMeasuredBetweenTwoProcessors) {
  const std::vector<int> allowed = allowed_processors();
  if (allowed.size() < 2) GTEST_SKIP() << "one processor";
  const double ns = line_round_trip_ns(allowed[0], allowed[1]);
  EXPECT_GT(ns, 5) << "no store reaches another processor in so little time";
  EXPECT_EQ(allowed_processors(), allowed);
}

}  // namespace
}  // namespace dnn::place
