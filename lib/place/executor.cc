// The parts of a ParallelSession: each takes its part's segments in order and sleeps until the next one's inputs are there.
#include "place/executor.h"

#include <algorithm>
#include <chrono>

#include "base/affinity.h"
#include "base/error.h"

namespace dnn::place {
namespace {

int64_t clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// To be woken takes tens of microseconds, more than many a segment. A processor that others use, too, is kept from them for no longer, and
// its thread has its share of the time left when the next segment begins.
constexpr std::chrono::microseconds kAwake{100};

}  // namespace

// The session's mutex is held.
void ParallelSession::Worker::call() {
  calls.fetch_add(1, std::memory_order_release);
  wake.notify_all();
}

template <class Ready>
void ParallelSession::Worker::wait(std::unique_lock<std::mutex>& lock, Ready&& ready) {
  const auto until = std::chrono::steady_clock::now() + kAwake;
  while (!ready()) {
    const uint64_t seen = calls.load(std::memory_order_relaxed);
    lock.unlock();
    bool awake = true;
    while (calls.load(std::memory_order_acquire) == seen && (awake = std::chrono::steady_clock::now() < until)) {
      if (!has_processor) std::this_thread::yield();
    }
    lock.lock();
    if (!awake) return wake.wait(lock, ready);
  }
}

ParallelSession::ParallelSession(Plan plan, std::vector<Part> parts, std::vector<std::unique_ptr<Session>> sessions)
    : plan_(std::move(plan)),
      parts_(std::move(parts)),
      sessions_(std::move(sessions)),
      callers_(plan_.segments.empty() ? 0 : plan_.segments.back().part) {
  DNN_CHECK(sessions_.size() == plan_.segments.size() && plan_.parts <= parts_.size());
  std::vector<size_t> maker(plan_.values, plan_.segments.size());
  for (size_t s = 0; s < plan_.segments.size(); ++s) {
    for (ValueId v : plan_.segments[s].outputs) maker[v] = s;
  }
  readers_.resize(plan_.segments.size());
  times_.resize(plan_.segments.size());
  for (const Part& part : parts_) {
    workers_.push_back(std::make_unique<Worker>());
    workers_.back()->has_processor = !part.cores.empty();
  }
  for (size_t s = 0; s < plan_.segments.size(); ++s) {
    workers_[plan_.segments[s].part]->segments.push_back(s);
    for (ValueId v : plan_.segments[s].inputs) {
      const size_t from = maker[v];
      if (from < plan_.segments.size()) readers_[from].push_back(s);
    }
  }
  try {
    start_threads();
  } catch (...) {
    end();
    throw;
  }
}

void ParallelSession::start_threads() {
  for (size_t p = 0; p < parts_.size(); ++p) {
    if (p == callers_ || workers_[p]->segments.empty()) continue;
    workers_[p]->thread = std::thread([this, p] { work(p); });
    if (!parts_[p].cores.empty()) keep_to(workers_[p]->thread, std::span<const int>(parts_[p].cores).first(1));
  }
}

ParallelSession::~ParallelSession() { end(); }

void ParallelSession::end() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    for (const auto& worker : workers_) worker->call();
  }
  for (const auto& worker : workers_) {
    if (worker->thread.joinable()) worker->thread.join();
  }
}

int64_t ParallelSession::now_ns() const { return clock_ns() - start_ns_; }

std::vector<Tensor> ParallelSession::run(const std::vector<Tensor>& inputs) {
  if (inputs.size() != plan_.inputs.size())
    fail_malformed("the network has ", plan_.inputs.size(), " inputs, ", inputs.size(), " are given");
  std::unique_lock lock(mutex_);
  values_.assign(plan_.values, Tensor());
  missing_.clear();
  for (const Segment& segment : plan_.segments) missing_.push_back(segment.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) values_[plan_.inputs[i]] = inputs[i];
  std::fill(times_.begin(), times_.end(), SegmentTime());
  for (size_t s = 0; s < plan_.segments.size(); ++s) {
    for (ValueId v : plan_.segments[s].inputs) missing_[s] -= values_[v].defined() ? 1 : 0;
  }
  failure_ = nullptr;
  working_ = 0;
  for (const auto& worker : workers_) working_ += worker->thread.joinable() ? 1 : 0;
  start_ns_ = clock_ns();
  ++run_;
  for (const auto& worker : workers_) worker->call();
  run_part(callers_, lock);
  workers_[callers_]->wait(lock, [&] { return working_ == 0; });
  if (failure_) std::rethrow_exception(failure_);
  std::vector<Tensor> outputs;
  for (ValueId v : plan_.outputs) outputs.push_back(values_[v]);
  return outputs;
}

void ParallelSession::work(size_t part) {
  Worker& worker = *workers_[part];
  std::unique_lock lock(mutex_);
  for (uint64_t last = 0;;) {
    worker.wait(lock, [&] { return stop_ || run_ != last; });
    if (stop_) return;
    last = run_;
    run_part(part, lock);
    if (stop_) return;
    if (--working_ == 0) workers_[callers_]->call();
  }
}

// A part's segments, until one fails anywhere.
void ParallelSession::run_part(size_t part, std::unique_lock<std::mutex>& lock) {
  Worker& worker = *workers_[part];
  for (size_t index : worker.segments) {
    worker.wait(lock, [&] { return stop_ || failure_ != nullptr || missing_[index] == 0; });
    if (stop_ || failure_ != nullptr || !run_segment(index, lock)) return;
  }
}

// False where it failed.
bool ParallelSession::run_segment(size_t index, std::unique_lock<std::mutex>& lock) {
  const Segment& segment = plan_.segments[index];
  std::vector<Tensor> inputs;
  for (ValueId v : segment.inputs) inputs.push_back(values_[v]);
  times_[index].begin_ns = now_ns();
  lock.unlock();
  std::vector<Tensor> outputs;
  std::exception_ptr failure;
  try {
    outputs = sessions_[index]->run(inputs);
    inputs.clear();
  } catch (Error& e) {
    failure = std::make_exception_ptr(e.within(cat("part ", parts_[segment.part].label(), ", ", segment.name)));
  } catch (const std::exception& e) {
    failure = std::make_exception_ptr(
        Error(ErrorKind::Internal, cat("part ", parts_[segment.part].label(), ", ", segment.name, ": ", e.what())));
  }
  lock.lock();
  times_[index].end_ns = now_ns();
  if (failure == nullptr) {
    publish(index, std::move(outputs));
    return true;
  }
  if (failure_ == nullptr) failure_ = failure;
  for (const auto& worker : workers_) worker->call();
  return false;
}

// Hands the outputs over; the mutex is held. Wakes only those that have all they need now.
void ParallelSession::publish(size_t index, std::vector<Tensor> outputs) {
  const Segment& segment = plan_.segments[index];
  for (size_t i = 0; i < outputs.size(); ++i) values_[segment.outputs[i]] = std::move(outputs[i]);
  for (size_t reader : readers_[index]) {
    if (--missing_[reader] != 0) continue;
    times_[reader].ready_ns = times_[index].end_ns;
    const size_t part = plan_.segments[reader].part;
    if (part != segment.part) workers_[part]->call();
  }
}

}  // namespace dnn::place
