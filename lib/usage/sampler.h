// Sampler: a thread that reads a Meter at an interval, beside a run, and takes less than a hundredth of its time.
#pragma once
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "usage/meter.h"

namespace dnn::usage {

class Sampler {
 public:
  Sampler(const Roots& roots, int pid, std::optional<int> network, int interval_ms);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // Takes the first record, which all counts begin at, and starts the thread.
  void start();
  // Ends the thread and takes the last record; nothing where start() never was.
  void stop();
  // The records since the last call, in their order. From any thread.
  std::vector<stream::Usage> take();

  struct Cost {
    int64_t n_records = 0;
    double interval_ms = 0;  // between two of them, on average: longer than asked where that would take too much
    double share = 0;        // of the time between start() and stop(), as processor time of the thread
  };
  Cost cost() const;  // after stop()
  const Meter& meter() const { return meter_; }

 private:
  using Clock = std::chrono::steady_clock;
  void work();
  void keep(stream::Usage usage);

  Meter meter_;
  const std::chrono::nanoseconds interval_;
  std::mutex mutex_;  // guards records_, stop_
  std::condition_variable wake_;
  std::vector<stream::Usage> records_;
  bool stop_ = false, started_ = false;
  int64_t n_records_ = 0, first_ns_ = 0, thread_ns_ = 0;
  Clock::time_point start_, end_;
  std::thread thread_;
};

}  // namespace dnn::usage
