// ParallelSession: the segments of a plan on their parts at once. The caller of run() works for one part, a thread for each other.
#pragma once
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "devices/device.h"
#include "place/parts.h"
#include "place/plan.h"

namespace dnn::place {

// When a segment ran, in nanoseconds from the beginning of the run.
struct SegmentTime {
  int64_t ready_ns = 0;  // its last input was there
  int64_t begin_ns = 0, end_ns = 0;
};

class ParallelSession {
 public:
  // `sessions`: one for each segment, opened with the options of its part. A part's segments run in the plan's order. Threads are kept to their
  // part's first processor. One that waits stays awake for a while and then sleeps.
  ParallelSession(Plan plan, std::vector<Part> parts, std::vector<std::unique_ptr<Session>> sessions);
  ~ParallelSession();
  ParallelSession(const ParallelSession&) = delete;
  ParallelSession& operator=(const ParallelSession&) = delete;

  // One inference: the bits are those that the segments give one after another. What a segment throws is thrown with its part and its name in
  // front, once no part runs any more; the next run begins anew.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs);

  // The processors of the part that the caller of run() works for: that thread should be kept to the first of them. It is the part of the last
  // segment, so that nobody waits for a thread to wake up at the end; with one part no other thread is there at all.
  const std::vector<int>& callers_processors() const { return parts_[callers_].cores; }

  const Plan& plan() const { return plan_; }
  const std::vector<Part>& parts() const { return parts_; }
  const Session& session(size_t segment) const { return *sessions_[segment]; }
  Session& session(size_t segment) { return *sessions_[segment]; }
  // By segment, of the last run.
  const std::vector<SegmentTime>& times() const { return times_; }

 private:
  struct Worker {
    std::vector<size_t> segments;  // in their order
    std::condition_variable wake;
    std::atomic<uint64_t> calls{0};  // counts what it was woken for
    std::thread thread;
    bool has_processor = false;  // of its own, which it need not give way on

    void call();
    // Until `ready` says so, which the lock guards.
    template <class Ready>
    void wait(std::unique_lock<std::mutex>& lock, Ready&& ready);
  };

  void end();
  void start_threads();
  void work(size_t part);
  void run_part(size_t part, std::unique_lock<std::mutex>& lock);
  bool run_segment(size_t index, std::unique_lock<std::mutex>& lock);
  void publish(size_t index, std::vector<Tensor> outputs);
  int64_t now_ns() const;

  const Plan plan_;
  const std::vector<Part> parts_;
  const std::vector<std::unique_ptr<Session>> sessions_;
  const size_t callers_;                      // the part that the caller of run() works for
  std::vector<std::vector<size_t>> readers_;  // by segment: whose inputs it makes, once for each value
  std::vector<SegmentTime> times_;

  std::mutex mutex_;             // guards all below
  std::vector<Tensor> values_;   // by ValueId of the whole graph
  std::vector<size_t> missing_;  // by segment: inputs that are not there yet
  uint64_t run_ = 0;             // counts the runs
  size_t working_ = 0;           // threads that are at it
  bool stop_ = false;
  std::exception_ptr failure_;
  int64_t start_ns_ = 0;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace dnn::place
