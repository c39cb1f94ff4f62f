// ThreadPool: a fork-join pool whose threads spin briefly between kernels, so that starting a parallel loop costs
// well under a microsecond; idle threads go to sleep. A loop waits for threads that take part, not for those that have yet to wake.
#pragma once
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace dnn {

class ThreadPool {
 public:
  // `n_threads` counts the calling thread; 0 means the processors this process may use. With `processors`, thread i stays on the
  // i-th of them, counted around where there are more threads; the calling thread is number 0 and its caller's to pin (affinity.h).
  // Throws Environment where the system refuses.
  explicit ThreadPool(int n_threads, std::span<const int> processors = {});
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  int size() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls job(context, begin, end) over [0, n) in pieces, and returns when all are done. Each thread has an even range, which it goes
  // through in order; one that is done takes pieces of the others'. One caller at a time. The job must not throw.
  using Job = void (*)(void* context, int64_t begin, int64_t end);
  void run(int64_t n, Job job, void* context);

 private:
  // What is left of a thread's range.
  struct alignas(64) Range {
    std::atomic<int64_t> next{0};
    int64_t end = 0, piece = 1;
  };

  void end();
  bool join(uint64_t* last);
  void work(int index);
  void run_part(int index);

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  // The loop's number times kNumber, kOpen while threads may still join it, and how many are at it.
  std::atomic<uint64_t> gate_{0};
  std::atomic<int> sleepers_{0};
  std::atomic<bool> stop_{false};
  Job job_ = nullptr;
  void* context_ = nullptr;
  std::vector<Range> ranges_;  // by thread
};

// Processors that this process may run on (its affinity mask).
int available_processors();

// Runs body(i) for i in [0, n) over the pool, shared out as run() does.
template <class Body>
void parallel_for(ThreadPool& pool, int64_t n, Body&& body) {
  auto job = [](void* context, int64_t begin, int64_t end) {
    auto& call = *static_cast<std::remove_reference_t<Body>*>(context);
    for (int64_t i = begin; i < end; ++i) call(i);
  };
  pool.run(n, job, &body);
}

// Runs body(i) for i in [0, n), each thread of the pool taking the next that is left. What a body throws is thrown here once all others
// are done: of several the one of the smallest i.
template <class Body>
void share_out(ThreadPool& pool, int64_t n, Body&& body) {
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  int64_t failed = n;
  parallel_for(pool, pool.size(), [&](int64_t) {
    for (int64_t i = next++; i < n; i = next++) {
      try {
        body(i);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (i < failed) failure = std::current_exception();
        failed = std::min(failed, i);
      }
    }
  });
  if (failure) std::rethrow_exception(failure);
}

// Sets flush-to-zero and denormals-are-zero for this thread while the object lives (restored afterwards).
class FlushDenormals {
 public:
  explicit FlushDenormals(bool enable);
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  unsigned saved_;
};

}  // namespace dnn
