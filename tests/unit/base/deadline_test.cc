// Deadlines: by a clock that is passed in, shared by copies and parts, and remembered only where something was left out.
#include "base/deadline.h"

#include <gtest/gtest.h>

namespace dnn {
namespace {

TEST(Deadline, NeverWithoutOne) {
  const Deadline never;
  EXPECT_FALSE(never.stops());
  EXPECT_FALSE(never.until(0).stops());
  EXPECT_EQ(never.ran_out(), std::nullopt);
}

TEST(Deadline, BeginsWhenItIsMade) {
  double now = 100;
  const Deadline deadline(10, [&] { return now; });
  now = 109.5;
  EXPECT_FALSE(deadline.stops());
  EXPECT_EQ(deadline.ran_out(), false);
  now = 110;
  EXPECT_EQ(deadline.ran_out(), false);  // nothing was left out yet
  EXPECT_TRUE(deadline.stops());
  EXPECT_EQ(deadline.ran_out(), true);
}

TEST(Deadline, PartsEndSoonerAndTellTheWhole) {
  double now = 0;
  const Deadline whole(10, [&] { return now; }), half = whole.until(0.5), quarter = half.until(0.5);
  now = 3;
  EXPECT_FALSE(half.stops());
  EXPECT_TRUE(quarter.stops());
  EXPECT_EQ(whole.ran_out(), true);
  EXPECT_FALSE(whole.stops());
  EXPECT_EQ(half.ran_out(), true);
}

TEST(Deadline, SharesOfWhatIsLeft) {
  double now = 0;
  const Deadline whole(10, [&] { return now; });
  now = 6;
  const Deadline half = whole.rest().until(0.5);
  EXPECT_TRUE(whole.until(0.5).stops());
  now = 7.5;
  EXPECT_FALSE(half.stops());
  now = 8;
  EXPECT_TRUE(half.stops());
  EXPECT_FALSE(whole.rest().stops());
  now = 12;
  EXPECT_TRUE(whole.rest().until(0.5).stops());
  EXPECT_FALSE(Deadline().rest().stops());
}

TEST(Deadline, OfNoTimeIsOverAtOnce) {
  EXPECT_TRUE(Deadline(0).stops());
  EXPECT_FALSE(Deadline(1e9).stops());
}

}  // namespace
}  // namespace dnn
