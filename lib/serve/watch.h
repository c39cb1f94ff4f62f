// Watches over a client's request while it is worked on: tells the client that it is, ends what takes too long, and what nobody waits
// for any more.
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "remote/frame.h"

namespace dnn::serve {

struct WatchRules {
  double alive_s = 0;  // a message {"alive": true} so often; 0: none
  double most_s = 0;   // a request that takes longer ends this process, and its client is told; 0: no limit
  std::function<bool()> gone = {};  // that the client is: ends this process, too; may be empty
};

class Watch {
 public:
  // `frames` must outlive it.
  Watch(remote::Frames& frames, WatchRules rules);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Between the two whoever sends holds the lock: the watch may be sending.
  void begin();
  void end();
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

 private:
  using Clock = std::chrono::steady_clock;
  void work();
  void look();

  remote::Frames& frames_;
  const WatchRules rules_;
  std::mutex mutex_;  // guards all below, and the frames while a request is worked on
  std::condition_variable wake_;
  std::optional<Clock::time_point> began_;
  Clock::time_point said_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace dnn::serve
