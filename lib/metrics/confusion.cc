// Confusion; see confusion.h.
#include "metrics/confusion.h"

#include <algorithm>

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

void ClassTally::add(int64_t truth, int64_t predicted, int64_t n) {
  ClassCounts& of_truth = by_label_[truth];
  of_truth.n_true += n;
  of_truth.n_both += truth == predicted ? n : 0;
  by_label_[predicted].n_predicted += n;
}

std::vector<ClassCounts> ClassTally::classes() const {
  std::vector<ClassCounts> result;
  for (const auto& [label, counts] : by_label_) {
    result.push_back(counts);
    result.back().label = label;
  }
  std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.label < b.label; });
  return result;
}

Confusion::Cells::const_iterator Confusion::Cells::find(const std::pair<int64_t, int64_t>& key) const {
  const auto it = std::lower_bound(begin(), end(), key, [](const Cell& cell, const auto& k) { return cell.first < k; });
  return it != end() && it->first == key ? it : end();
}

// What was added joins the cells when there is as much of it, which keeps both the work and the memory in proportion.
void Confusion::add(int64_t truth, int64_t predicted) {
  constexpr size_t kFewest = 4096;
  added_.emplace_back(truth, predicted);
  if (added_.size() >= std::max(kFewest, cells_.size())) settle();
}

void Confusion::settle() const {
  if (added_.empty()) return;
  std::sort(added_.begin(), added_.end());
  Cells merged;
  auto old = cells_.begin();
  for (auto it = added_.begin(); it != added_.end();) {
    const auto next = std::upper_bound(it, added_.end(), *it);
    while (old != cells_.end() && old->first < *it) merged.push_back(*old++);
    const bool known = old != cells_.end() && old->first == *it;
    merged.emplace_back(*it, (next - it) + (known ? (old++)->second : 0));
    it = next;
  }
  merged.insert(merged.end(), old, cells_.end());
  cells_ = std::move(merged);
  added_.clear();
}

void Confusion::shrink() {
  settle();
  cells_.shrink_to_fit();
  added_ = {};
}

const Confusion::Cells& Confusion::cells() const {
  settle();
  return cells_;
}

std::vector<ClassCounts> Confusion::classes() const {
  ClassTally tally;
  for (const auto& [cell, count] : cells()) tally.add(cell.first, cell.second, count);
  return tally.classes();
}

}  // namespace dnn::metrics
