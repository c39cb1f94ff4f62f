// What is kept of a run's predictions until all runs are there: at most 64 bytes each, with five labels, and
// 24 for each of its outputs, which lie on a shelf.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "metrics/metric.h"

namespace dnn::metrics {

// One prediction of each sample; samples have numbers, the same in all runs.
class Predictions {
 public:
  size_t size() const { return kept_.size(); }
  // The place of this sample's prediction, or size(). In time that is constant until shrink().
  size_t find(uint32_t sample) const;
  // Keeps a prediction of a sample that has none yet, but its latency; gives its place.
  size_t add(uint32_t sample, const Outcome& outcome, std::span<const Shelved> outputs);
  // One more measurement; what Outcome says is their mean.
  void add_latency(size_t i, int64_t latency_ns);
  void add_output(size_t i, Shelved output) { outputs_.emplace_back(static_cast<uint32_t>(i), output); }
  // Gives back the memory that only more predictions would need.
  void shrink();

  uint32_t sample(size_t i) const { return kept_[i].sample; }
  Outcome operator[](size_t i) const;  // without outputs
  // The outputs of a prediction. After shrink().
  std::span<const std::pair<uint32_t, Shelved>> outputs(size_t i) const;

 private:
  struct Kept {
    uint32_t sample, labels;  // the first of its labels_; they end where the next one's begin
    int64_t truth;            // or kNoTruth
    int64_t total_ns;         // of n_timed measurements
    uint32_t n_timed;
    uint32_t batch : 31, near_tie : 1;
  };
  static constexpr int64_t kNoTruth = INT64_MIN;

  std::vector<Kept> kept_;
  std::vector<Ranked> labels_;
  std::vector<std::pair<uint32_t, Shelved>> outputs_;  // by place; sorted by shrink()
  mutable std::vector<uint32_t> places_;               // by sample, one more than the place; made when it is asked for
};

}  // namespace dnn::metrics
