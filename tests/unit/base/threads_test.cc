// Work shared out over a pool: every part once, whatever the number of threads, and failures told in order.
#include "base/threads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/affinity.h"
#include "base/share.h"

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

// The piece that holds 0 waits for all others, most of which are of the same thread's range.
TEST(ThreadPool, AThreadThatIsDoneTakesWhatIsLeftOfOthers) {
  ThreadPool pool(2);
  constexpr int64_t kParts = 16;
  std::atomic<int64_t> done = 0;
  bool others_were_done = false;
  struct Call {
    std::atomic<int64_t>* done;
    bool* others_were_done;
  } call{&done, &others_were_done};
  const auto job = [](void* context, int64_t begin, int64_t end) {
    const Call& c = *static_cast<const Call*>(context);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    const int64_t others = kParts - (end - begin);
    while (begin == 0 && *c.done < others && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    if (begin == 0) *c.others_were_done = *c.done == others;
    *c.done += end - begin;
  };
  for (int times = 0; times < 3; ++times) {
    done = 0;
    pool.run(kParts, job, &call);
    EXPECT_TRUE(others_were_done);
    EXPECT_EQ(done, kParts);
  }
}

// More threads than processors, asleep at every eighth loop: some wake when a loop is over, or in the middle of the next.
TEST(ThreadPool, AThreadThatWakesLateTouchesNoLoopThatIsOver) {
  ThreadPool pool(9);
  int64_t wrong = 0;
  for (int times = 0; times < 4000; ++times) {
    if (times % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
    std::vector<int> visits(static_cast<size_t>(times % 23));  // not atomic, and gone with this loop
    parallel_for(pool, times % 23, [&](int64_t i) { ++visits[static_cast<size_t>(i)]; });
    for (int count : visits) wrong += count == 1 ? 0 : 1;
  }
  EXPECT_EQ(wrong, 0);
}

// Loops of fewer parts than threads, and of many more; wherever the threads are.
void expect_each_part_once(ThreadPool& pool) {
  for (int times = 0; times < 20; ++times) {
    for (const int64_t n : {int64_t{3}, int64_t{64}, int64_t{5000}}) {
      std::vector<int> visits(static_cast<size_t>(n));  // not atomic: two threads at one part are two visits, or a race
      parallel_for(pool, n, [&](int64_t i) { ++visits[static_cast<size_t>(i)]; });
      EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), n);
    }
  }
}

TEST(ThreadPool, SixtyFourThreadsOnAnyNumberOfProcessors) {
  ThreadPool pool(64);
  EXPECT_EQ(pool.size(), 64);
  expect_each_part_once(pool);
}

TEST(ThreadPool, SixtyFourThreadsPinnedInTurn) {
  const std::vector<int> allowed = allowed_processors();
  for (const size_t n : {size_t{1}, allowed.size()}) {
    const std::vector<int> processors(allowed.begin(), allowed.begin() + static_cast<std::ptrdiff_t>(n));
    const PinnedThread pinned(processors);
    ThreadPool pool(64, processors);
    expect_each_part_once(pool);
  }
  EXPECT_EQ(allowed_processors(), allowed);
}

// Every thread waits for all the others, so that each has one part.
TEST(ThreadPool, ThreadsStayWhereTheyAreKept) {
  const std::vector<int> allowed = allowed_processors(), processors(allowed.rbegin(), allowed.rend());
  constexpr int64_t kThreads = 5;
  const PinnedThread pinned(processors);
  ThreadPool pool(kThreads, processors);
  std::atomic<int64_t> n = 0;
  std::vector<std::vector<int>> where(kThreads);
  parallel_for(pool, kThreads, [&](int64_t) {
    where[static_cast<size_t>(n++)] = allowed_processors();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (n < kThreads && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  });
  std::vector<std::vector<int>> expected;
  for (size_t i = 0; i < kThreads; ++i) expected.push_back({processors[i % processors.size()]});
  std::sort(where.begin(), where.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(where, expected);
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

// Parts make up the whole; little work stays on the thread that asks, which is what it may count on.
TEST(Share, PartsMakeUpTheWhole) {
  for (int threads : {0, 1, 2, 7}) {
    std::optional<ThreadPool> pool;
    if (threads > 0) pool.emplace(threads);
    EXPECT_EQ(threads_of(pool ? &*pool : nullptr), std::max(1, threads));
    for (int64_t n : {0, 1, 5, 1000}) {
      for (double operations : {1.0, 1e9}) {
        std::vector<std::atomic<int>> visits(static_cast<size_t>(n));
        std::atomic<int> calls = 0;
        share(pool ? &*pool : nullptr, n, operations, [&](int64_t begin, int64_t end) {
          ++calls;
          EXPECT_LT(begin, end);
          for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
        });
        for (const std::atomic<int>& count : visits) EXPECT_EQ(count, 1);
        if (threads < 2 || operations < 1e9 || n < 2)
          EXPECT_EQ(calls, n == 0 ? 0 : 1);
        else
          EXPECT_GT(calls, 1);
      }
    }
  }
}

TEST(Share, WhatIsThrownIsThrownHere) {
  ThreadPool pool(3);
  EXPECT_THROW(share(&pool, 100, 1e9, [](int64_t, int64_t) { throw std::runtime_error("no"); }), std::runtime_error);
}

}  // namespace
}  // namespace dnn
