// Sampler; see sampler.h.
#include "usage/sampler.h"

#include <time.h>

#include <algorithm>

namespace dnn::usage {
namespace {

// The thread sleeps at least so many times as long as its records take: they stay below half a hundredth.
constexpr int64_t kSleepPerWork = 200;

int64_t thread_time_ns() {
  timespec time{};
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return 0;
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Sampler::Sampler(const Roots& roots, int pid, std::optional<int> network, int interval_ms)
    : meter_(roots, pid, network), interval_(std::chrono::milliseconds(interval_ms)) {}

Sampler::~Sampler() { stop(); }

void Sampler::start() {
  if (started_) return;
  started_ = true;
  const int64_t before_ns = thread_time_ns();
  keep(meter_.read());
  first_ns_ = thread_time_ns() - before_ns;
  start_ = Clock::now();
  thread_ = std::thread([this] { work(); });
}

void Sampler::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
  end_ = Clock::now();
  keep(meter_.read());
}

std::vector<stream::Usage> Sampler::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(records_, {});
}

Sampler::Cost Sampler::cost() const {
  Cost cost;
  cost.n_records = n_records_;
  const auto total_ns = static_cast<double>(std::chrono::nanoseconds(end_ - start_).count());
  if (n_records_ < 2 || total_ns <= 0) return cost;
  cost.interval_ms = total_ns * 1e-6 / static_cast<double>(n_records_ - 1);
  cost.share = static_cast<double>(thread_ns_) / total_ns;
  return cost;
}

void Sampler::keep(stream::Usage usage) {
  usage.sampler_ns = thread_ns_;
  const std::lock_guard lock(mutex_);
  records_.push_back(std::move(usage));
  ++n_records_;
}

void Sampler::work() {
  // The first record takes longer than others will.
  Clock::time_point next = start_ + std::max(interval_, std::chrono::nanoseconds(kSleepPerWork / 2 * first_ns_));
  std::unique_lock lock(mutex_);
  while (!wake_.wait_until(lock, next, [this] { return stop_; })) {
    lock.unlock();
    const int64_t before_ns = thread_time_ns();
    stream::Usage usage = meter_.read();
    const int64_t now_ns = thread_time_ns();
    thread_ns_ = now_ns;  // all that the thread did
    keep(std::move(usage));
    const auto least = std::chrono::nanoseconds(kSleepPerWork * (now_ns - before_ns));
    next = std::max(next + interval_, Clock::now() + std::max(least, interval_ / 2));
    lock.lock();
  }
}

}  // namespace dnn::usage
