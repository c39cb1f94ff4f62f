// Area under the ROC curve, one class against the rest, over whole score vectors.
#include <algorithm>
#include <cmath>
#include <map>

#include "metrics/metric.h"

namespace dnn::metrics {
namespace {

// Scores are ranked only, so logits and probabilities do alike. Memory: 24 bytes a sample; the outputs
// lie on the evaluation's shelf.
class RocArea : public RunMetric {
 public:
  void add(const Outcome& outcome) override {
    if (!outcome.truth || !complete_) return;
    const Tensor* scores = outcome.outputs.size() == 1 ? &outcome.outputs[0].second : nullptr;
    complete_ = scores != nullptr && scores->rank() > 0 && scores->shape().back() == scores->size() &&
                dtype_class(scores->dtype()) != DTypeClass::Other && *outcome.truth >= 0 &&
                *outcome.truth < scores->size() && outcome.label_offset < scores->size() - *outcome.truth &&
                (samples_.empty() || n_classes_ == scores->size());
    if (complete_) {
      shelf_ = outcome.shelf;
      n_classes_ = scores->size();
      samples_.emplace_back(outcome.shelved[0], *outcome.truth + outcome.label_offset);
    } else {
      samples_ = {};
    }
  }

  void result(Values* values) const override {
    // The area is the chance that a sample of the class scores above one of the rest, ties counting half
    // (Hanley, McNeil: The meaning and use of the area under a ROC curve, Radiology 1982).
    struct OneClass {
      std::vector<double> positives;  // sorted scores of the samples of this class
      int64_t half_wins = 0;          // over the pairs with a sample of the rest, each win counting 2, each tie 1
    };
    std::map<int64_t, OneClass> classes;
    for (const auto& [scores, truth] : samples_) {
      classes[truth].positives.push_back(to_doubles(shelf_->get(scores).second)[truth]);
    }
    if (classes.size() < 2) return;
    for (auto& [label, one] : classes) std::sort(one.positives.begin(), one.positives.end());
    for (const auto& [shelved, truth] : samples_) {
      const std::vector<double> scores = to_doubles(shelf_->get(shelved).second);
      if (std::any_of(scores.begin(), scores.end(), [](double s) { return std::isnan(s); })) return;
      for (auto& [label, one] : classes) {
        if (label == truth) continue;
        const auto [first, last] = std::equal_range(one.positives.begin(), one.positives.end(), scores[label]);
        one.half_wins += (one.positives.end() - first) + (one.positives.end() - last);
      }
    }
    double sum = 0;
    for (const auto& [label, one] : classes) {
      const auto n = static_cast<double>(one.positives.size());
      sum += static_cast<double>(one.half_wins) / (2 * n * (static_cast<double>(samples_.size()) - n));
    }
    (*values)["roc_auc"] = sum / static_cast<double>(classes.size());
  }

 private:
  bool complete_ = true;  // each judged prediction has one score vector, all of one length
  int64_t n_classes_ = 0;
  const Shelf* shelf_ = nullptr;
  std::vector<std::pair<Shelved, int64_t>> samples_;  // scores, and the truth's index among them
};

}  // namespace

std::unique_ptr<RunMetric> make_roc() { return std::make_unique<RocArea>(); }

}  // namespace dnn::metrics
