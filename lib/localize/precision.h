// Precision: which layers of a network bear numbers of a smaller type, and which do not.
//
// One layer at a time is rounded to the type, what it reads, its constants and what it makes, and the rest of the network runs on
// from there in float32, so that each layer is judged by what it alone does to the outputs. Ranked by that, the worst are then left in
// float32 with all others rounded at once, as few as hold the bound: found by bisection, and each step is a run of the whole.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "localize/bisect_side.h"
#include "localize/precision_effect.h"
#include "localize/rounded_network.h"

namespace dnn {

struct PrecisionOptions {
  DType dtype = DType::Float16;  // or BFloat16, Int8
  // What outputs may move by. Without it only labels count, and where outputs have no classes kUnlabelled.
  std::optional<OutputTolerance> tolerance;
  DeviceSpec device = "cpu";                                              // where the rest runs, at level 0
  std::function<std::string(const std::string& variable)> variable = {};  // of the environment, which it asks for
  CompileOptions compile;
  int threads = 0;  // samples run side by side
  Deadline deadline;
  std::function<void(int64_t n_samples)> begin;  // may be empty, as may:
  std::function<void()> done;                    // a sample is measured; any thread
};

struct PrecisionLayer {
  std::string value;                    // what it makes
  std::vector<std::string> nodes, ops;  // the source model's
  int64_t n_parameters = 0;             // that are rounded
  double own_error = 0;                 // of what it makes: relative L2 over all samples
  PrecisionEffect effect;
  std::vector<PrecisionSpot> spots;  // where numbers become infinite, or 0
  bool stays = false;                // in float32, for the bound
  RoundingLoss loss() const;         // of all spots
};

struct PrecisionReport {
  DType dtype = DType::Float16;
  size_t n_samples = 0;                      // measured
  std::vector<std::string> paths;            // of these
  bool labelled = false;                     // the outputs have classes
  std::optional<OutputTolerance> tolerance;  // beside labels; without it only that outputs are finite where they were
  std::vector<PrecisionLayer> layers;        // worst first
  std::vector<std::string> left_alone;       // nodes with subgraphs, which stay in float32
  // The first `kept` layers in float32 and all others rounded.
  struct Trial {
    size_t kept = 0;
    PrecisionEffect effect;
    bool holds = false;
  };
  std::vector<Trial> trials;  // in the order they ran: of none kept first
  std::optional<size_t>
      keeps;  // the fewest that hold the bound, where less by one does not; nullopt where no time was left to say
  std::optional<bool> ran_out;  // of time, where that was limited
  const Trial* trial(size_t kept) const;
};

// Throws Unsupported where no layer computes in float32, and what running throws.
PrecisionReport judge_precision(const Graph& model, const std::vector<BisectSample>& samples,
                                const PrecisionOptions& options);

}  // namespace dnn
