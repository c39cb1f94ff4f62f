// ThreadPool; see threads.h.
#include "base/threads.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <chrono>

#include "base/affinity.h"

namespace dnn {
namespace {

// What a processor is told by: that this thread waits in a loop; and how it treats denormal numbers.
#if defined(__x86_64__)
void relax() { _mm_pause(); }
unsigned float_control() { return _mm_getcsr(); }
void set_float_control(unsigned value) { _mm_setcsr(value); }
constexpr unsigned kFlushDenormals = 1u << 15 | 1u << 6;  // of results, and of operands
#elif defined(__aarch64__)
void relax() { asm volatile("yield"); }
unsigned float_control() {
  uint64_t value = 0;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return static_cast<unsigned>(value);
}
void set_float_control(unsigned value) { asm volatile("msr fpcr, %0" : : "r"(uint64_t{value})); }
constexpr unsigned kFlushDenormals = 1u << 24;
#endif

// About 20 microseconds on current machines, some 100 on others: longer than the gap between two kernels, shorter than a scheduler
// tick.
constexpr int kSpins = 2000;
// Then a thread that waits for a loop gives way to others, and only after so long, which is longer than the gap between two samples,
// goes to sleep: to be woken takes tens of microseconds, more than the first layers of a small network.
using Clock = std::chrono::steady_clock;
constexpr std::chrono::microseconds kAwake{200};
// Of a thread's range: so few that each is worth its call, so many that the last one waited for is short.
constexpr int64_t kPieces = 4;
// Parts of the gate: below kOpen the number of threads.
constexpr uint64_t kOpen = uint64_t{1} << 16, kNumber = kOpen << 1;
}  // namespace

int available_processors() {
  const std::vector<int> allowed = allowed_processors();
  if (!allowed.empty()) return static_cast<int>(allowed.size());
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadPool::ThreadPool(int n_threads, std::span<const int> processors) {
  if (n_threads <= 0) n_threads = available_processors();
  ranges_ = std::vector<Range>(n_threads);
  for (int i = 1; i < n_threads; ++i) workers_.emplace_back([this, i] { work(i); });
  if (processors.empty()) return;
  try {
    for (size_t i = 0; i < workers_.size(); ++i)
      keep_to(workers_[i], processors.subspan((i + 1) % processors.size(), 1));
  } catch (...) {
    end();
    throw;
  }
}

ThreadPool::~ThreadPool() { end(); }

void ThreadPool::end() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run_part(int index) {
  const size_t threads = size();
  for (size_t i = 0; i < threads; ++i) {
    Range& range = ranges_[(static_cast<size_t>(index) + i) % threads];
    while (range.next.load(std::memory_order_relaxed) < range.end) {
      const int64_t begin = range.next.fetch_add(range.piece, std::memory_order_relaxed);
      if (begin < range.end) job_(context_, begin, std::min(begin + range.piece, range.end));
    }
  }
}

void ThreadPool::run(int64_t n, Job job, void* context) {
  if (workers_.empty() || n <= 1) {
    if (n > 0) job(context, 0, n);
    return;
  }
  job_ = job;
  context_ = context;
  const int64_t parts = size();
  for (int64_t i = 0; i < parts; ++i) {
    Range& range = ranges_[i];
    const int64_t begin = n * i / parts;
    range.end = n * (i + 1) / parts;
    range.piece = std::max<int64_t>(1, (range.end - begin) / kPieces);
    range.next.store(begin, std::memory_order_relaxed);
  }
  gate_.store((gate_.load() / kNumber + 1) * kNumber + kOpen);
  if (sleepers_.load() > 0) {
    std::lock_guard lock(mutex_);  // pairs with the check a worker makes before it waits
    wake_.notify_all();
  }
  run_part(0);  // until nothing is left to take, so that who comes now comes too late
  uint64_t gate = gate_.fetch_and(~kOpen);
  for (int spins = 0; gate % kOpen != 0; gate = gate_.load(), ++spins) {
    if (spins < kSpins) {
      relax();
    } else {
      std::this_thread::yield();
    }
  }
}

// Joins the loop that is open, unless its number is `last`, which becomes it.
bool ThreadPool::join(uint64_t* last) {
  uint64_t gate = gate_.load();
  while ((gate & kOpen) != 0 && gate / kNumber != *last) {
    if (gate_.compare_exchange_weak(gate, gate + 1)) {
      *last = gate / kNumber;
      return true;
    }
  }
  return false;
}

void ThreadPool::work(int index) {
  uint64_t last = 0;
  while (true) {
    bool joined = join(&last);
    for (int spins = 0; !joined && !stop_ && spins < kSpins; ++spins) {
      relax();
      joined = join(&last);
    }
    const auto until = joined ? Clock::time_point() : Clock::now() + kAwake;
    while (!joined && !stop_ && Clock::now() < until) {
      std::this_thread::yield();
      joined = join(&last);
    }
    if (!joined) {
      std::unique_lock lock(mutex_);
      sleepers_.fetch_add(1);
      wake_.wait(lock, [&] { return stop_ || (joined = join(&last)); });
      sleepers_.fetch_sub(1);
    }
    if (!joined) return;
    run_part(index);
    gate_.fetch_sub(1);
  }
}

FlushDenormals::FlushDenormals(bool enable) : saved_(float_control()) {
  if (enable) set_float_control(saved_ | kFlushDenormals);
}

FlushDenormals::~FlushDenormals() { set_float_control(saved_); }

}  // namespace dnn
