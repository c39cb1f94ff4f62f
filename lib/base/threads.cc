// ThreadPool; see threads.h.
#include "base/threads.h"

#include <immintrin.h>
#include <sched.h>

#include <algorithm>

namespace dnn {
namespace {
// About 20 microseconds on current machines: longer than the gap between two kernels, shorter than a scheduler tick.
constexpr int kSpins = 2000;
// Of a thread's range: so few that each is worth its call, so many that the last one waited for is short.
constexpr int64_t kPieces = 4;
}  // namespace

int available_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadPool::ThreadPool(int n_threads) {
  if (n_threads <= 0) n_threads = available_processors();
  ranges_ = std::vector<Range>(static_cast<size_t>(n_threads));
  for (int i = 1; i < n_threads; ++i) workers_.emplace_back([this, i] { work(i); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    generation_.fetch_add(1);
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run_part(int index) {
  const auto threads = static_cast<size_t>(size());
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
    Range& range = ranges_[static_cast<size_t>(i)];
    const int64_t begin = n * i / parts;
    range.end = n * (i + 1) / parts;
    range.piece = std::max<int64_t>(1, (range.end - begin) / kPieces);
    range.next.store(begin, std::memory_order_relaxed);
  }
  pending_.store(static_cast<int>(workers_.size()));
  generation_.fetch_add(1);
  if (sleepers_.load() > 0) {
    std::lock_guard lock(mutex_);  // pairs with the check a worker makes before it waits
    wake_.notify_all();
  }
  run_part(0);
  for (int spins = 0; pending_.load() != 0; ++spins) {
    if (spins < kSpins) {
      _mm_pause();
    } else {
      std::this_thread::yield();
    }
  }
}

void ThreadPool::work(int index) {
  uint64_t seen = 0;
  while (true) {
    for (int spins = 0; generation_.load() == seen && spins < kSpins; ++spins) _mm_pause();
    if (generation_.load() == seen) {
      std::unique_lock lock(mutex_);
      sleepers_.fetch_add(1);
      wake_.wait(lock, [&] { return generation_.load() != seen; });
      sleepers_.fetch_sub(1);
    }
    seen = generation_.load();
    if (stop_) return;
    run_part(index);
    pending_.fetch_sub(1);
  }
}

FlushDenormals::FlushDenormals(bool enable) : saved_(_mm_getcsr()) {
  constexpr unsigned kFlushToZero = 1u << 15, kDenormalsAreZero = 1u << 6;
  if (enable) _mm_setcsr(saved_ | kFlushToZero | kDenormalsAreZero);
}

FlushDenormals::~FlushDenormals() { _mm_setcsr(saved_); }

}  // namespace dnn
