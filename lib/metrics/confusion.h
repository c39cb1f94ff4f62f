// Confusion: how often each class was predicted where another was true, and what follows for each class.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace dnn::metrics {

// What is known of one class; a share is absent where its denominator is 0.
struct ClassCounts {
  int64_t label = 0;
  int64_t n_true = 0, n_predicted = 0, n_both = 0;

  std::optional<double> precision() const;    // n_both / n_predicted
  std::optional<double> sensitivity() const;  // n_both / n_true, also called recall
  double f1() const;                          // 2 n_both / (n_true + n_predicted)
};

// Only the cells that are not 0 take memory.
class Confusion {
 public:
  using Cells = std::map<std::pair<int64_t, int64_t>, int64_t>;  // (truth, predicted) -> count

  void add(int64_t truth, int64_t predicted) { ++cells_[{truth, predicted}]; }
  const Cells& cells() const { return cells_; }
  // The classes that occur in truth or prediction, by label.
  std::vector<ClassCounts> classes() const;

 private:
  Cells cells_;
};

}  // namespace dnn::metrics
