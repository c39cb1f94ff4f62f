// Bisection: between a model as it is written and as it runs, the single rewrite or kernel that changes what comes out.
//
// Both sides are judged by the model as written, node by node on the reference interpreter. A side that departs from it is
// searched: first its rewrites, all of them interpreted too, so that no kernel has a say: the passes, then the patches of
// the guilty pass, one at a time; then, with the guilty rewrites left out, each kernel against the interpreter on the
// inputs that it had. Rewrites are values (docs/decisions/0003), so that the first N of them, and all but one, can be run.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "localize/bisect_findings.h"
#include "localize/bisect_side.h"

namespace dnn {

struct BisectReport {
  size_t n_samples = 0;
  std::string source_error, target_error;  // why a side did not run
  double max_abs = 0, largest = 0;         // of the outputs of the two sides, in the sample that differs most
  bool beyond_tolerance = false;
  std::vector<SampleMovement> relabelled;               // samples with another label in the target
  std::vector<size_t> searched;                         // samples
  size_t differs_most = 0;                              // the sample whose outputs exceed the tolerance most
  bool source_departs = false, target_departs = false;  // from the model as written
  std::vector<RewriteFinding> rewrites;
  std::vector<KernelFinding> kernels;
  std::vector<UnfinishedSearch> unfinished;
  std::optional<bool> ran_out;  // of time, where that was limited
  // With the rewrites that were found left out, over all samples; nothing where there are none, or a framework runs.
  struct After {
    double max_abs = 0;
    size_t relabelled = 0;
    bool beyond_tolerance = false;
  };
  std::optional<After> after;
  bool differs() const { return beyond_tolerance || !relabelled.empty(); }
};

BisectReport bisect(const Graph& model, const std::vector<BisectSample>& samples, const BisectSide& source,
                    const BisectSide& target, const BisectOptions& options);

}  // namespace dnn
