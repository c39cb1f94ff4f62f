// Checks: what was asked of a report, one for each run or pair of runs that was judged, kept or missed.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace dnn::metrics {

struct Check {
  std::string kind;     // the option that asked: "require"; "input" for streams that were cut off
  std::string key;      // the metric, where it is of one
  std::string rule;     // "--require 'top1_agreement >= 99 %'"; the same in every report
  std::string subject;  // "run A", "B against A"; "" where there was nothing to judge
  std::string said;     // what is the case: "has 50 %"
  bool kept = false;
  std::optional<size_t> run = {}, base = {};  // in Report::runs

  std::string line() const { return rule + ": " + (subject.empty() ? "" : subject + " ") + said; }
};

}  // namespace dnn::metrics
