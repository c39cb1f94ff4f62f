// Bounds: limits that a report must keep, and which of them it misses.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "metrics/checks.h"
#include "metrics/evaluation.h"

namespace dnn::metrics {

// A limit for one metric, of every run or pair that it is stated of: "KEY OP NUMBER", with the metric's unit or nothing
// behind the number; OP is one of >= <= > < ==.
struct Requirement {
  const Row* row = nullptr;
  std::string op;
  double limit = 0;
};
Requirement parse_requirement(std::string_view text);  // throws Usage

// The metric of that key, and a number with its unit. `option` is for errors.
const Row& row_of(std::string_view key, std::string_view option);  // throws Usage
std::string with_unit(double value, const Row& row);

struct Bounds {
  std::optional<double> min_accuracy;      // top-1, percent, of every run
  std::optional<double> max_disagreement;  // top-1, percent, of every pair
  std::optional<double> atol, rtol;        // of every output element of every pair; see Tolerance
  std::vector<Requirement> requirements = {};

  Tolerance tolerance() const { return {atol.value_or(0), rtol.value_or(0)}; }
};

// Each bound on each run or pair. What cannot be judged is missed.
std::vector<Check> judged(const Report& report, const Bounds& bounds);
// One line for each bound missed, naming bound, value and limit.
std::vector<std::string> missed(const Report& report, const Bounds& bounds);

}  // namespace dnn::metrics
