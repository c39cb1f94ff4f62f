// Prefetch: samples decoded by threads ahead of the device, handed out in their order.
#pragma once
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "infer/sample_source.h"

namespace dnn {

class Prefetch {
 public:
  // The threads are closed (base/box.h): they may read files, and start and change nothing. At most
  // `ahead` samples wait decoded or being decoded. 0 threads: each sample is decoded when it is asked
  // for. The source must outlive the object.
  Prefetch(SampleSource& source, int n_threads, size_t ahead);
  ~Prefetch();
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  // The next sample, waiting for it, or nullopt at the end. Rethrows what the source or a job threw, at its place.
  std::optional<LoadedSample> next();

 private:
  struct Slot {
    std::optional<LoadedSample> sample;
    std::exception_ptr failure;
    bool done = false;
  };
  bool closed();
  void work();
  std::shared_ptr<Slot> claim(SampleSource::Load* load);

  SampleSource& source_;
  const size_t ahead_;
  std::mutex source_mutex_;  // held while the source is asked, so that slots are in its order
  std::mutex mutex_;         // guards all below
  std::condition_variable ready_, space_;
  std::deque<std::shared_ptr<Slot>> slots_;
  bool ended_ = false, stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace dnn
