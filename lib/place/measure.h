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

// Inputs of the graph's types without zeros and denormals: what a network computes on.
std::vector<Tensor> inputs_for(const Graph& graph);

}  // namespace dnn::place
