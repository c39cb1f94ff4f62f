// The parts of a ParallelSession: each takes the oldest segment that is ready, and sleeps where there is none.
#include "place/executor.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <utility>

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
// After its processor was taken from it, a part's thread sleeps at once for so many waits: some runs of a network.
constexpr int kWaitsAsleep = 100;

Lane lane_of(std::vector<std::unique_ptr<Session>> sessions) {
  Lane lane;
  for (std::unique_ptr<Session>& session : sessions) lane.sessions.push_back(std::move(session));
  return lane;
}

}  // namespace

// The session's mutex is held.
void ParallelSession::Worker::call() {
  calls.fetch_add(1, std::memory_order_release);
  wake.notify_all();
}

void ParallelSession::Worker::choose_how_to_wait() {
  rusage usage{};
  if (::getrusage(RUSAGE_THREAD, &usage) != 0) return;
  asleep_for = usage.ru_nivcsw > preemptions ? kWaitsAsleep : std::max(0, asleep_for - 1);
  preemptions = usage.ru_nivcsw;
  stays_awake = asleep_for == 0;
}

template <class Ready>
void ParallelSession::Worker::wait(std::unique_lock<std::mutex>& lock, Ready&& ready) {
  auto until = std::chrono::steady_clock::now() + kAwake;
  while (!ready()) {
    const uint64_t seen = calls.load(std::memory_order_relaxed);
    const auto is_called = [&] { return calls.load(std::memory_order_acquire) != seen; };
    if (stays_awake) {
      lock.unlock();
      while (!is_called() && std::chrono::steady_clock::now() < until) {
        if (!has_processor) std::this_thread::yield();
      }
      lock.lock();
    }
    if (is_called()) continue;
    wake.wait(lock, is_called);
    until = std::chrono::steady_clock::now() + kAwake;
  }
}

ParallelSession::ParallelSession(Plan plan, std::vector<Part> parts, std::vector<std::unique_ptr<Session>> sessions)
    : ParallelSession(std::vector<Plan>{std::move(plan)}, std::move(parts), {lane_of(std::move(sessions))}) {}

ParallelSession::ParallelSession(std::vector<Plan> ways, std::vector<Part> parts, std::vector<Lane> lanes)
    : parts_(std::move(parts)), lanes_(std::move(lanes)), flights_(lanes_.size()) {
  DNN_CHECK(!ways.empty() && !lanes_.empty());
  for (Plan& plan : ways) {
    DNN_CHECK(plan.parts <= parts_.size());
    Route& route = routes_.emplace_back();
    route.of_part.resize(parts_.size());
    route.readers.resize(plan.segments.size());
    std::vector<size_t> maker(plan.values, plan.segments.size());
    for (size_t s = 0; s < plan.segments.size(); ++s) {
      route.of_part[plan.segments[s].part].push_back(s);
      for (ValueId v : plan.segments[s].outputs) maker[v] = s;
    }
    for (size_t s = 0; s < plan.segments.size(); ++s) {
      for (ValueId v : plan.segments[s].inputs) {
        if (maker[v] < plan.segments.size()) route.readers[maker[v]].push_back(s);
      }
    }
    route.plan = std::move(plan);
  }
  for (size_t i = 0; i < lanes_.size(); ++i) {
    flights_[i].lane = &lanes_[i];
    flights_[i].route = &routes_.at(lanes_[i].way);
    flights_[i].times.resize(lanes_[i].sessions.size());
    DNN_CHECK(lanes_[i].sessions.size() == flights_[i].route->plan.segments.size());
  }
  const Plan& first = flights_.front().route->plan;
  callers_ = first.segments.empty() ? 0 : first.segments.back().part;
  collector_.stays_awake = false;
  for (const Part& part : parts_) {
    workers_.push_back(std::make_unique<Worker>());
    workers_.back()->has_processor = !part.cores.empty();
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
    const bool is_used =
        std::any_of(routes_.begin(), routes_.end(), [&](const Route& route) { return !route.of_part[p].empty(); });
    if (!is_used || (caller_works() && p == callers_)) continue;
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

const std::vector<int>& ParallelSession::callers_processors() const {
  static const std::vector<int> kAnywhere;
  return caller_works() ? parts_[callers_].cores : kAnywhere;
}

std::vector<Tensor> ParallelSession::run(const std::vector<Tensor>& inputs) {
  submit(inputs);
  return collect();
}

void ParallelSession::submit(const std::vector<Tensor>& inputs) {
  const std::lock_guard lock(mutex_);
  DNN_CHECK(submitted_ - collected_ < flights_.size());
  Flight& flight = flights_[submitted_ % flights_.size()];
  const Plan& plan = flight.route->plan;
  if (inputs.size() != plan.inputs.size())
    fail_malformed("the network has ", plan.inputs.size(), " inputs, ", inputs.size(), " are given");
  flight.values.assign(plan.values, Tensor());
  for (size_t i = 0; i < inputs.size(); ++i) flight.values[plan.inputs[i]] = inputs[i];
  flight.missing.clear();
  for (const Segment& segment : plan.segments) {
    flight.missing.push_back(segment.inputs.size());
    for (ValueId v : segment.inputs) flight.missing.back() -= flight.values[v].defined() ? 1 : 0;
  }
  flight.next.assign(parts_.size(), 0);
  std::fill(flight.times.begin(), flight.times.end(), SegmentTime());
  flight.left = plan.segments.size();
  flight.running = 0;
  flight.failure = nullptr;
  flight.start_ns = flight.end_ns = clock_ns();
  ++submitted_;
  // All of them: who has nothing to do yet stays awake for what comes.
  for (const auto& worker : workers_) worker->call();
}

std::vector<Tensor> ParallelSession::collect() {
  std::unique_lock lock(mutex_);
  DNN_CHECK(collected_ < submitted_);
  Flight& flight = flights_[collected_ % flights_.size()];
  for (Flight* ready = nullptr; !flight.is_done();) {
    collector().wait(lock, [&] {
      ready = caller_works() ? ready_for(callers_) : nullptr;
      return flight.is_done() || ready != nullptr;
    });
    if (!flight.is_done()) run_segment(callers_, *ready, lock);
  }
  ++collected_;
  if (flight.failure) std::rethrow_exception(flight.failure);
  std::vector<Tensor> outputs;
  for (ValueId v : flight.route->plan.outputs) outputs.push_back(flight.values[v]);
  return outputs;
}

void ParallelSession::work(size_t part) {
  // Other parts wait for this one as soon as it is called, and it sleeps until then.
  take_short_slices();
  std::unique_lock lock(mutex_);
  for (;;) {
    Flight* flight = nullptr;
    workers_[part]->choose_how_to_wait();
    workers_[part]->wait(lock, [&] { return stop_ || (flight = ready_for(part)) != nullptr; });
    if (stop_) return;
    run_segment(part, *flight, lock);
  }
}

// The oldest inference whose next segment on the part is ready, or null.
ParallelSession::Flight* ParallelSession::ready_for(size_t part) {
  for (uint64_t n = collected_; n < submitted_; ++n) {
    Flight& flight = flights_[n % flights_.size()];
    const std::vector<size_t>& segments = flight.route->of_part[part];
    const size_t next = flight.next[part];
    if (flight.failure == nullptr && next < segments.size() && flight.missing[segments[next]] == 0) return &flight;
  }
  return nullptr;
}

void ParallelSession::run_segment(size_t part, Flight& flight, std::unique_lock<std::mutex>& lock) {
  const size_t index = flight.route->of_part[part][flight.next[part]++];
  const Segment& segment = flight.route->plan.segments[index];
  std::vector<Tensor> inputs;
  for (ValueId v : segment.inputs) inputs.push_back(flight.values[v]);
  ++flight.running;
  flight.times[index].begin_ns = clock_ns() - flight.start_ns;
  lock.unlock();
  std::vector<Tensor> outputs;
  std::exception_ptr failure;
  try {
    outputs = flight.lane->sessions[index]->run(inputs);
    inputs.clear();
  } catch (Error& e) {
    failure = std::make_exception_ptr(e.within(cat("part ", parts_[part].label(), ", ", segment.name)));
  } catch (const std::exception& e) {
    failure = std::make_exception_ptr(
        Error(ErrorKind::Internal, cat("part ", parts_[part].label(), ", ", segment.name, ": ", e.what())));
  }
  lock.lock();
  flight.end_ns = clock_ns();
  flight.times[index].end_ns = flight.end_ns - flight.start_ns;
  --flight.running;
  --flight.left;
  if (failure == nullptr) {
    publish(flight, index, std::move(outputs));
  } else if (flight.failure == nullptr) {
    flight.failure = failure;
  }
  if (flight.is_done()) collector().call();
}

// Hands the outputs over; the mutex is held. Wakes only those that have all they need now.
void ParallelSession::publish(Flight& flight, size_t index, std::vector<Tensor> outputs) {
  const std::vector<Segment>& segments = flight.route->plan.segments;
  for (size_t i = 0; i < outputs.size(); ++i) flight.values[segments[index].outputs[i]] = std::move(outputs[i]);
  for (size_t reader : flight.route->readers[index]) {
    if (--flight.missing[reader] != 0) continue;
    flight.times[reader].ready_ns = flight.times[index].end_ns;
    const size_t part = segments[reader].part;
    if (part != segments[index].part) workers_[part]->call();
  }
}

}  // namespace dnn::place
