// Confusion; see confusion.h.
#include "metrics/confusion.h"

namespace dnn::metrics {
namespace {

std::optional<double> share(int64_t part, int64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::optional<double> ClassCounts::precision() const { return share(n_both, n_predicted); }
std::optional<double> ClassCounts::sensitivity() const { return share(n_both, n_true); }
double ClassCounts::f1() const { return *share(2 * n_both, n_true + n_predicted); }

std::vector<ClassCounts> Confusion::classes() const {
  std::map<int64_t, ClassCounts> by_label;
  for (const auto& [cell, count] : cells_) {
    by_label[cell.first].n_true += count;
    by_label[cell.second].n_predicted += count;
    if (cell.first == cell.second) by_label[cell.first].n_both += count;
  }
  std::vector<ClassCounts> result;
  for (auto& [label, counts] : by_label) {
    counts.label = label;
    result.push_back(counts);
  }
  return result;
}

}  // namespace dnn::metrics
