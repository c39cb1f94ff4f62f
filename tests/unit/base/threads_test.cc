// Work shared out over a pool: every part once, whatever the number of threads, and failures told in order.
#include "base/threads.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace dnn {
namespace {

TEST(ShareOut, EachPartOnce) {
  for (int threads : {1, 2, 7}) {
    ThreadPool pool(threads);
    for (int64_t n : {0, 1, 5, 1000}) {
      std::vector<std::atomic<int>> visits(static_cast<size_t>(n));
      share_out(pool, n, [&](int64_t i) { ++visits[static_cast<size_t>(i)]; });
      for (const std::atomic<int>& count : visits) EXPECT_EQ(count, 1);
    }
  }
}

TEST(ShareOut, TheFirstFailureOnceAllIsDone) {
  for (int threads : {1, 3}) {
    ThreadPool pool(threads);
    std::atomic<int> n = 0;
    try {
      share_out(pool, 100, [&](int64_t i) {
        ++n;
        if (i % 10 == 7) throw std::runtime_error(std::to_string(i));
      });
      ADD_FAILURE() << "nothing thrown";
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(e.what(), std::string("7"));
    }
    EXPECT_EQ(n, 100);
  }
}

}  // namespace
}  // namespace dnn
