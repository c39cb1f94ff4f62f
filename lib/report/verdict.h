// Verdict: what is found of each run against the one that it is held against, and runs of which the same is found together.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "report/data.h"

namespace dnn::report {

enum class Finding : uint8_t {
  Worse,          // its accuracy is lower, and the test says so
  Better,         // higher, likewise
  Different,      // labels differ, without a change of accuracy that the test shows
  NotComparable,  // no labels to compare
  NearTies,       // labels differ where rounding decides, and nowhere else
  Same
};

// Below this p, after Holm's correction, a change of accuracy is called one.
inline constexpr double kSignificance = 0.05;

struct Verdict {
  size_t run = 0, base = 0;
  Finding finding = Finding::NotComparable;
  int64_t n_common = 0, flips = 0, near_ties = 0;
  std::optional<double> change, low, high;  // of top-1 accuracy, percentage points
  std::optional<double> p, holm;
};

// Runs of one model with the same finding, or of several models where nothing differs.
struct VerdictGroup {
  Finding finding = Finding::Same;
  bool of_models = false;         // they are their models' own runs, held against the baseline
  std::vector<Verdict> verdicts;  // the one with most flips first
};

// Verdicts of all runs but the baseline. Every run's own verdict stands in one group. Models first, then the worst first.
std::vector<VerdictGroup> verdict_groups(const Data& data);

}  // namespace dnn::report
