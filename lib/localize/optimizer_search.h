// Optimiser search: which pass of somebody else's optimiser makes a model compute something else.
//
// An optimiser has named passes and rewrites a model by any of them, in its own order. What it leaves is read and interpreted, so that
// no runtime has a say. The shortest run of passes from the first on whose result departs ends in a guilty one (Zeller, Yesterday, my
// program worked, 1999, for two states that differ by many changes); it is left out, and the search goes on until the rest agrees.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "graph/graph.h"
#include "localize/bisect_side.h"

namespace dnn {

struct Optimizer {
  std::string name;
  std::vector<std::string> passes;  // in the order in which it applies them
  // The model as these passes leave it. Throws what reading throws, and Unsupported where the optimiser fails.
  std::function<Graph(const std::vector<std::string>& passes)> apply;
};

struct OptimizerFinding {
  std::string pass;
  double max_abs_before = 0, max_abs_after = 0, largest = 0;  // of the outputs, without it and with it
  std::string error;                                          // where what it leaves does not run
  // Nodes that went and that came, by name; "" where they have none.
  std::vector<std::pair<std::string, std::string>> gone, new_nodes;  // name, operator
};

struct OptimizerReport {
  size_t n_samples = 0, n_passes = 0, n_runs = 0;
  size_t differs_most = 0;  // sample
  double max_abs = 0, largest = 0;
  bool differs = false;
  std::string error;  // why what all passes leave does not run
  std::vector<OptimizerFinding> findings;
  bool ended = true;             // false: the time was over
  double remaining_max_abs = 0;  // with the passes found left out
  bool mended = false;
};

struct OptimizerOptions {
  OutputTolerance tolerance;
  size_t max_findings = 8;
  Deadline deadline;
  std::function<void(const std::string& message)> note;  // may be empty
};

// Throws what interpreting the model throws.
OptimizerReport search_optimizer(const Graph& model, const std::vector<BisectSample>& samples,
                                 const Optimizer& optimizer, const OptimizerOptions& options);

}  // namespace dnn
