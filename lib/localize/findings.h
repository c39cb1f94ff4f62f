// Findings: what is wrong with the target, where in both networks' own names, how sure that is, and what would mend it.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "localize/own_error.h"

namespace dnn {

// Nodes and values of one side of a finding; of a node without a name what it makes.
struct FindingSide {
  std::vector<std::string> nodes, ops, values;
};

struct Finding {
  std::string what, fix;
  FindingSide source, target;
  std::vector<std::string> evidence;  // parameters, attributes and structure that are not the same
  size_t own = 0;                     // index into the own errors
  double error = 0, max_abs = 0, largest = 0, exact = 0, rounding = 0;
  double hides = 0;           // of the largest magnitude: a smaller difference is lost in rounding
  double times_rounding = 0;  // how many times the difference is what rounding explains
  std::string sure;           // "certain", "likely"; "latent", "hidden": right on all samples, see OwnError
  int64_t n_samples = 0, n_differing = 0;
  bool behind_another = false;  // it reads what another finding makes
  static constexpr size_t kNoOwn = -1;
  std::optional<size_t> quantised;  // of QuantisedVerdict::faults; `own` is kNoOwn where no own error is of it
};

// One for each wrong segment; those that say most first, and of some that lie behind one another the foremost first; then the latent
// and the hidden ones.
std::vector<Finding> findings_of(const Graph& source, const Graph& target, const std::vector<OwnError>& own);

// What rounding leaves, over the segments that are right: the largest difference, and the largest part of its bound.
struct Residual {
  int64_t n_same = 0, n_rounded = 0, n_wrong = 0;
  double largest = 0;            // of a layer's largest magnitude
  double largest_in_bounds = 0;  // as a part of what rounding explains: at most 1
  double hides = 0;              // of a layer's largest magnitude: a smaller difference is lost in rounding
  std::string hides_at;          // the layer of the source where that is so; elsewhere less hides
  std::map<std::string, double> hides_by_layer;  // the same of each layer that differs by rounding
  int64_t n_equivalent = 0;  // layers that are no common values: both compute the same over the larger segment
  bool complete = true;      // every line-up that there was to try has been tried
};
Residual residual_of(const OwnErrors& own);

std::string findings_text(const std::vector<Finding>& findings, const Residual& residual, int64_t top);
// "findings": [...], "residual": {...} as members of a JSON object, without its braces.
std::string findings_json(const std::vector<Finding>& findings, const Residual& residual);

}  // namespace dnn
