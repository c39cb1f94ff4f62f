// Which steps of a sequence to run a second time, so that what they make need not be kept from its first use to its last. The search
// knows steps and sizes alone; recompute.h brings a graph to it.
#pragma once
#include <cstdint>
#include <vector>

namespace dnn::codegen {

struct RematerialStep {
  std::vector<int> reads, makes;  // values, each once
  double cost = 0;                // of one run, in any unit
  int64_t temporary_bytes = 0;    // that it needs while it runs
  bool repeatable = false;        // a second run makes the same of the same; all that it makes is in `makes`
  bool kept = false;              // it also makes what is not in `makes`, so that it must run
};

struct RematerialProblem {
  std::vector<RematerialStep> steps;  // in an order that works: each value is made before it is read
  std::vector<int64_t> bytes;         // by value
  double most_added = 0.35;           // cost of repeated steps, as a share of that of all steps once
};

// A value that was made again is another version of it: versions below the number of values are those of the first runs.
struct RematerialItem {
  int step;
  bool again;                     // not the step's first run
  std::vector<int> reads, makes;  // versions, in the order of the step's own
};

struct Rematerialized {
  std::vector<RematerialItem> items;
  std::vector<int> value_of;                  // by version
  int64_t before_bytes = 0, after_bytes = 0;  // of an arena by plan_memory()
  double added = 0;                           // share of the cost of all steps once
};

// Greedy search. A move takes one value that is alive at the peak and read behind it: the value is made again right before that read, and
// so is what its step reads and is no longer there, as far as that pays. The move of the largest gain for its cost is made, until memory
// is below a limit everywhere; then the limit falls. Of the states in between the one of the smallest product of planned arena and cost
// is returned, which may be the first. Chains of such moves come to the checkpoints of Chen et al., Training deep nets with sublinear memory cost (2016), wherever sizes and costs
// want them; the gain for the cost is that of Kirisame et al., Dynamic tensor rematerialization (2021).
Rematerialized rematerialize(const RematerialProblem& problem);

// The arena of the steps in their order.
int64_t planned_bytes(const RematerialProblem& problem);

}  // namespace dnn::codegen
