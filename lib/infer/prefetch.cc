// Prefetch; see prefetch.h.
#include "infer/prefetch.h"

#include <algorithm>

#include "base/box.h"

namespace dnn {

Prefetch::Prefetch(SampleSource& source, int n_threads, size_t ahead)
    : source_(source), ahead_(std::max<size_t>(ahead, 1)) {
  for (int i = 0; i < n_threads; ++i) threads_.emplace_back([this] { work(); });
}

Prefetch::~Prefetch() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  space_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

// A slot at the end of the queue with the job that fills it; null when there is nothing more to do.
std::shared_ptr<Prefetch::Slot> Prefetch::claim(SampleSource::Load* load) {
  const std::lock_guard one_asks(source_mutex_);
  {
    std::unique_lock lock(mutex_);
    space_.wait(lock, [this] { return stop_ || ended_ || slots_.size() < ahead_; });
    if (stop_ || ended_) return nullptr;
  }
  auto slot = std::make_shared<Slot>();
  std::optional<SampleSource::Load> job;
  try {
    job = source_.next();
  } catch (...) {
    slot->failure = std::current_exception();
    slot->done = true;
  }
  const std::lock_guard lock(mutex_);
  ended_ = !job;
  if (job || slot->done) slots_.push_back(slot);
  if (ended_) {
    ready_.notify_all();
    space_.notify_all();
    return nullptr;
  }
  *load = std::move(*job);
  return slot;
}

// Closes the thread; where that fails, a sample says so.
bool Prefetch::closed() {
  try {
    BoxRules rules;
    rules.reads_all = true;  // samples lie anywhere
    close_thread(rules);
    return true;
  } catch (...) {
    auto slot = std::make_shared<Slot>();
    slot->failure = std::current_exception();
    slot->done = true;
    const std::lock_guard lock(mutex_);
    slots_.push_back(slot);
    ready_.notify_all();
    return false;
  }
}

void Prefetch::work() {
  if (!closed()) return;
  SampleSource::Load load;
  while (const std::shared_ptr<Slot> slot = claim(&load)) {
    std::optional<LoadedSample> sample;
    std::exception_ptr failure;
    try {
      sample = load();
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    slot->sample = std::move(sample);
    slot->failure = failure;
    slot->done = true;
    ready_.notify_all();
  }
}

std::optional<LoadedSample> Prefetch::next() {
  if (threads_.empty()) {
    const std::optional<SampleSource::Load> load = source_.next();
    return load ? std::optional((*load)()) : std::nullopt;
  }
  std::unique_lock lock(mutex_);
  ready_.wait(lock, [this] { return slots_.empty() ? ended_ : slots_.front()->done; });
  if (slots_.empty()) return std::nullopt;
  const std::shared_ptr<Slot> slot = slots_.front();
  slots_.pop_front();
  space_.notify_one();
  if (slot->failure) std::rethrow_exception(slot->failure);
  return std::move(slot->sample);
}

}  // namespace dnn
