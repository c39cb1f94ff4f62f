// Baselines: an earlier report, and what of it is better and worse in a new one.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/bounds.h"
#include "metrics/checks.h"
#include "metrics/evaluation.h"

namespace dnn::metrics {

// How much worse than in the baseline a metric may be: in its unit, or as a share of the baseline's value.
struct Allowance {
  const Row* row = nullptr;
  double amount = 0;
  bool relative = false;
};
// "KEY AMOUNT": in the metric's unit, which may stand behind the number; "15 %" of a metric in another unit than % is relative.
Allowance parse_allowance(std::string_view text);  // throws Usage

// The metrics that are compared if nothing else is said, and what of each is noise.
const std::vector<Allowance>& default_allowances();

// What a report in JSON said.
struct Baseline {
  struct Run {
    stream::Header header;
    Values values;
    std::optional<int64_t> n_predictions = {};
  };
  struct Pair {
    size_t base = 0, other = 0;
    Values values;
  };
  std::string name;
  std::vector<Run> runs;
  std::vector<Pair> pairs;
};
Baseline parse_baseline(std::string_view json, std::string name);  // throws Malformed

enum class Verdict : uint8_t { Worse, Better, Same, Gone, New };
std::string_view verdict_name(Verdict verdict);

// One value then and now; Gone: not stated now; New: not stated then.
struct Change {
  const Row* row = nullptr;
  size_t run = 0;              // in Report::runs
  std::optional<size_t> base;  // of a pair
  std::optional<double> before, now;
  double allowed = 0;  // in the metric's unit
  Verdict verdict = Verdict::Same;
};

struct Comparison {
  std::string baseline;
  std::vector<Change> changes;
  std::vector<std::string> gone;   // titles of the baseline's runs that are not here
  std::vector<std::string> notes;  // what else a reader must know
};

// Runs are the same where model file, level, device and type are; where there is no such run at all, but as many, in their order.
// `allowances` add to the default ones, and replace those of their keys.
Comparison compare_with(const Report& report, const Baseline& baseline, const std::vector<Allowance>& allowances);

// "A", "B against A".
std::string subject_of(const Change& change);

// Missed: what is worse by more than allowed, and what is no longer stated.
std::vector<Check> checks_of(const Comparison& comparison);

// All that was asked of a report: its bounds, the comparison where there is one (else null), and of the streams that they are whole.
std::vector<Check> all_checks(const Report& report, const Bounds& bounds, const Comparison* comparison,
                              const std::vector<Error>& cut_off);

}  // namespace dnn::metrics
