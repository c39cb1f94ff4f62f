// Measuring ways to run a network against each other: in turns, so that a disturbance meets them alike.
#pragma once
#include <functional>
#include <vector>

#include "graph/graph.h"

namespace dnn::place {

inline constexpr int kTurns = 10;
// Below this ratio to the best single device, several devices are reported as not worth it.
inline constexpr double kWorthIt = 1.05;

// Microseconds of one way to run a network.
struct Latency {
  double median = 0, min = 0, p95 = 0, mean = 0;
};
Latency latency_of(std::vector<double> us);

// One way to run the network, and how long its runs took.
struct Way {
  std::function<std::vector<Tensor>()> run;
  std::vector<int> processors = {};  // the calling thread is kept to the first
  std::vector<double> us = {};
  std::vector<Tensor> outputs = {};
};

void run_once(Way& way, bool timed);

// `warmup` untimed runs of each way, then `runs` timed ones in kTurns turns; a way's first run of a turn brings its weights back into the
// caches and is not timed.
void run_in_turns(std::vector<Way>& ways, int64_t warmup, int64_t runs);

// Microseconds that a run of `way` takes, behind `warmup` untimed ones: of `runs` timed ones, and of
// more where these differ. Where another program shares a processor, a run is as fast as without it
// or waits for the other's time slice, and the median of short runs does not tell the other's share.
// The result then is an average over many slices, without a disturbance that came once.
struct TypicalTime {
  double us = 0;
  bool runs_are_alike = true;
};
TypicalTime typical_time(const Way& way, int64_t warmup, int64_t runs);
inline double typical_us(const Way& way, int64_t warmup, int64_t runs) { return typical_time(way, warmup, runs).us; }

// Nanoseconds that a cache line takes to the other processor and back, at best: some 70 where they
// share a cache, 300 where they do not. A virtual machine's processors may be moved apart and back.
double line_round_trip_ns(int one, int other);

// Inputs of the graph's types without zeros and denormals: what a network computes on.
std::vector<Tensor> inputs_for(const Graph& graph);

}  // namespace dnn::place
