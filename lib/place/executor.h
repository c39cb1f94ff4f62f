// ParallelSession: the segments of a plan on their parts at once, for one inference or for several on their way behind one another. A thread
// works for each part; where one inference at a time runs, the caller works for one of them.
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

// When a segment ran, in nanoseconds from the beginning of its inference.
struct SegmentTime {
  int64_t ready_ns = 0;  // its last input was there
  int64_t begin_ns = 0, end_ns = 0;
};

// The way of one inference at a time: a session for each segment of one of the ways. Lanes may share sessions that keep nothing
// from one segment to the next, for a part runs one segment at a time.
struct Lane {
  size_t way = 0;
  std::vector<std::shared_ptr<Session>> sessions;
};

class ParallelSession {
 public:
  // `ways`: plans of the same network on the same parts, of which each inference takes one. Inferences take the lanes in turn, and as many
  // may be on their way as there are lanes. Sessions are opened with the options of their part. A part runs the segments that are ready, of the
  // oldest inference first, those of one inference in the plan's order. Threads are kept to their part's first processor. One that waits
  // stays awake for a while and then sleeps.
  ParallelSession(std::vector<Plan> ways, std::vector<Part> parts, std::vector<Lane> lanes);
  // One way, and one inference at a time.
  ParallelSession(Plan plan, std::vector<Part> parts, std::vector<std::unique_ptr<Session>> sessions);
  ~ParallelSession();
  ParallelSession(const ParallelSession&) = delete;
  ParallelSession& operator=(const ParallelSession&) = delete;

  // Begins an inference. Fewer than most_in_flight() may be on their way.
  void submit(const std::vector<Tensor>& inputs);
  // The outputs of the oldest inference on its way: the bits are those that the segments give one after another. What a segment throws is
  // thrown with its part and its name in front, once no part runs any of that inference; others go on.
  std::vector<Tensor> collect();
  // Both, with nothing else on its way.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs);
  size_t most_in_flight() const { return lanes_.size(); }

  // The processors of the part that the caller works for: that thread should be kept to the first of them. It is the part of the last segment, so
  // that nobody waits for a thread to wake up at the end; with one part no other thread is there at all. Empty where several inferences may be on
  // their way: the caller only waits then.
  const std::vector<int>& callers_processors() const;

  size_t ways() const { return routes_.size(); }
  const Plan& plan(size_t way = 0) const { return routes_[way].plan; }
  const std::vector<Part>& parts() const { return parts_; }
  // Sessions of the first lane.
  const Session& session(size_t segment) const { return *lanes_.front().sessions[segment]; }
  Session& session(size_t segment) { return *lanes_.front().sessions[segment]; }
  const std::vector<Lane>& lanes() const { return lanes_; }
  // By segment, of the inference that was collected last; and how long that was on its way.
  const std::vector<SegmentTime>& times() const { return last().times; }
  int64_t latency_ns() const { return last().end_ns - last().start_ns; }
  size_t last_way() const { return last().lane->way; }

 private:
  struct Worker {
    std::condition_variable wake;
    std::atomic<uint64_t> calls{0};  // counts what it was woken for
    std::thread thread;
    bool has_processor = false;  // of its own, which it need not give way on
    bool stays_awake = true;     // for a while, before it sleeps
    int64_t preemptions = 0;     // of its thread, as counted last
    int asleep_for = 0;          // so many waits

    void call();
    // Called by the part's thread before it waits: sets stays_awake. Where another thread took its
    // processor lately, time awake is time that it lacks in its next segment.
    void choose_how_to_wait();
    // Until `ready` says so, which the lock guards.
    template <class Ready>
    void wait(std::unique_lock<std::mutex>& lock, Ready&& ready);
  };

  // A way, and what follows from it.
  struct Route {
    Plan plan;
    std::vector<std::vector<size_t>> of_part;  // segments in their order
    std::vector<std::vector<size_t>> readers;  // by segment: whose inputs it makes, once for each value
  };

  // The inference in a lane.
  struct Flight {
    const Route* route = nullptr;
    const Lane* lane = nullptr;
    std::vector<Tensor> values;      // by ValueId of the whole graph
    std::vector<size_t> missing;     // by segment: inputs that are not there yet
    std::vector<size_t> next;        // by part: the next of its segments
    std::vector<SegmentTime> times;  // by segment
    size_t left = 0, running = 0;    // segments
    std::exception_ptr failure;
    int64_t start_ns = 0, end_ns = 0;  // of the clock

    bool is_done() const { return failure ? running == 0 : left == 0; }
  };

  void start_threads();
  void end();
  void work(size_t part);
  Flight* ready_for(size_t part);
  void run_segment(size_t part, Flight& flight, std::unique_lock<std::mutex>& lock);
  void publish(Flight& flight, size_t index, std::vector<Tensor> outputs);
  bool caller_works() const { return lanes_.size() == 1; }
  Worker& collector() { return caller_works() ? *workers_[callers_] : collector_; }
  const Flight& last() const { return flights_[collected_ == 0 ? 0 : (collected_ - 1) % flights_.size()]; }

  const std::vector<Part> parts_;
  const std::vector<Lane> lanes_;
  std::vector<Route> routes_;  // by way
  size_t callers_ = 0;         // the part that the caller works for

  std::mutex mutex_;             // guards all below
  std::vector<Flight> flights_;  // by lane
  uint64_t submitted_ = 0, collected_ = 0;
  bool stop_ = false;
  std::vector<std::unique_ptr<Worker>> workers_;  // by part
  Worker collector_;                              // the caller, where it works for no part
};

}  // namespace dnn::place
