// Partition search: the nodes that a device computes wrongly, where its passes and kernels cannot be seen: a framework, one of its
// execution providers or delegates, a driver.
//
// A run of neighbouring nodes, in the model's order, is given what the interpreter makes of its inputs, and what the device makes of it
// is held against the interpreter's. The whole is halved as long as a half departs. Where neither does, the device goes wrong on both
// together, as by fusing them, and the run shrinks from its ends. At the end the nodes found run on the source and all others on the
// device, each on what the others made.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "graph/graph.h"
#include "localize/bisect_findings.h"
#include "localize/bisect_side.h"

namespace dnn {

// Runs a model on several samples.
using RunSamples =
    std::function<std::vector<Outcome>(const Graph& model, const std::vector<std::vector<Tensor>>& inputs)>;

struct PartitionFinding {
  std::vector<NodeText> nodes;  // one, or neighbours that are wrong together
  std::string value;            // which of their outputs departs most
  double max_abs = 0, largest = 0;
  std::string error;  // where the device does not run them
};

struct PartitionReport {
  size_t n_samples = 0, n_runs = 0;
  size_t differs_most = 0;          // sample
  double max_abs = 0, largest = 0;  // of the model's outputs there
  bool differs = false;
  std::string error;  // why the whole does not run there
  std::vector<PartitionFinding> findings;
  bool ended = true;  // false: time or runs were over before all was searched
  // With the nodes found on the source and the others on the device.
  double remaining_max_abs = 0;
  bool mended = false;
};

struct PartitionOptions {
  OutputTolerance tolerance;
  size_t max_runs = 400;
  Deadline deadline;
  std::function<void(const std::string& message)> note;  // may be empty
};

// `device` runs what is doubted. The interpreter is what counts as right. Throws what the interpreter throws.
PartitionReport search_partition(const Graph& model, const std::vector<BisectSample>& samples, const RunSamples& device,
                                 const PartitionOptions& options);

}  // namespace dnn
