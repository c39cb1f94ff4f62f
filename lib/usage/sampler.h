// Sampler: a thread that reads a Meter at an interval, beside a run, and takes less than a hundredth of its time.
#pragma once
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "usage/meter.h"
#include "usage/source.h"

namespace dnn::usage {

class Sampler final : public Source {
 public:
  Sampler(const Roots& roots, int pid, std::optional<int> network, int interval_ms);
  ~Sampler() override;
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  void start() override;
  void stop() override;
  std::vector<stream::Usage> take() override;  // from any thread
  Cost cost() const override;
  std::string energy_text() const override { return meter_.energy_text(); }
  std::string gpus_text() const override { return meter_.gpus_text(); }

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
