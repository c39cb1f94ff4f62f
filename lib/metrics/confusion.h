// Confusion: how often each class was predicted where another was true, and what follows for each class.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
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

// The counts of each class, without the cells between them.
class ClassTally {
 public:
  void add(int64_t truth, int64_t predicted, int64_t n = 1);
  // The classes that occur in truth or prediction, by label.
  std::vector<ClassCounts> classes() const;

 private:
  std::unordered_map<int64_t, ClassCounts> by_label_;
};

// Only the cells that are not 0 take memory, 24 bytes each.
class Confusion {
 public:
  using Cell = std::pair<std::pair<int64_t, int64_t>, int64_t>;  // (truth, predicted), count
  class Cells : public std::vector<Cell> {                       // ascending
   public:
    const_iterator find(const std::pair<int64_t, int64_t>& truth_and_predicted) const;
  };

  void add(int64_t truth, int64_t predicted);
  // Of all that was added; not for two threads at once.
  const Cells& cells() const;
  std::vector<ClassCounts> classes() const;
  // Gives back the memory that only more predictions would need.
  void shrink();

 private:
  void settle() const;

  mutable Cells cells_;
  mutable std::vector<std::pair<int64_t, int64_t>> added_;  // not yet in cells_
};

}  // namespace dnn::metrics
