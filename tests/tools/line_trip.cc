// line_trip: how long a cache line takes from one processor to another and back right now, in nanoseconds. Where a virtual machine's host
// moves its processors about, that tells whether they share a cache.
//
//   line_trip CPU CPU...      prints one number, the largest between the first and each other; takes about 10 ms for each
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <thread>

#include "base/error.h"

namespace {
constexpr int kTrips = 2000, kRounds = 5, kReady = 1;

void pin(int64_t cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(static_cast<size_t>(cpu), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) dnn::fail_usage("line_trip: this process may not run on cpu ", cpu);
}

// Makes each even number the next odd one, and the first 0 kReady.
void answer(std::atomic<int>& line) {
  for (int i = 0; i <= kTrips; ++i) {
    while (line.load(std::memory_order_acquire) != 2 * i) {
    }
    line.store(2 * i + 1, std::memory_order_release);
  }
}

// The least of some rounds: an interrupt makes a round longer, nothing makes it shorter.
double round_trip_ns(int64_t here, int64_t there) {
  alignas(128) std::atomic<int> line{0};
  pin(there);  // so that a processor that is not there is refused here
  pin(here);
  double least = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    line = 0;
    std::thread other([&] {
      pin(there);
      answer(line);
    });
    while (line.load(std::memory_order_acquire) != kReady) {
    }
    const auto start = std::chrono::steady_clock::now();
    for (int i = 1; i <= kTrips; ++i) {
      line.store(2 * i, std::memory_order_release);
      while (line.load(std::memory_order_acquire) != 2 * i + 1) {
      }
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    other.join();
    least = std::min(least, took.count() / kTrips);
  }
  return least;
}
}  // namespace

int main(int argc, char** argv) {
  try {
    double longest = 0;
    int64_t first = 0, other = 0;
    if (argc < 3 || !dnn::parse_int(argv[1], &first)) dnn::fail_usage("line_trip CPU CPU...");
    for (int i = 2; i < argc; ++i) {
      if (!dnn::parse_int(argv[i], &other) || other == first) dnn::fail_usage("line_trip CPU CPU...");
      longest = std::max(longest, round_trip_ns(first, other));
    }
    std::cout << longest << '\n';
  } catch (const dnn::Error& error) {
    std::cerr << "line_trip: error: " << error.what() << '\n';
    return error.exit_code();
  }
}
