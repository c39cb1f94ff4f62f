// Bounds: limits that a report must keep, and which of them it misses.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "metrics/evaluation.h"

namespace dnn::metrics {

struct Bounds {
  std::optional<double> min_accuracy;      // top-1, percent, of every run
  std::optional<double> max_disagreement;  // top-1, percent, of every pair
  std::optional<double> atol, rtol;        // of every output element of every pair; see Tolerance

  Tolerance tolerance() const { return {atol.value_or(0), rtol.value_or(0)}; }
};

// One line for each bound missed, naming bound, value and limit. What cannot be judged is missed.
std::vector<std::string> missed(const Report& report, const Bounds& bounds);

}  // namespace dnn::metrics
