// Top-1 and top-5 accuracy against the samples' truth, in percent, with the interval that the number of samples leaves.
#include <algorithm>

#include "metrics/metric.h"
#include "metrics/statistics.h"

namespace dnn::metrics {
namespace {

class Accuracy : public RunMetric {
 public:
  void add(const Outcome& outcome) override {
    if (!outcome.truth || outcome.labels.empty()) return;
    ++n_judged_;
    const size_t n = std::min(kTop, outcome.labels.size());
    all_list_five_ = all_list_five_ && n == kTop;
    for (size_t i = 0; i < n; ++i) {
      if (outcome.labels[i].item() != *outcome.truth) continue;
      if (i == 0) ++n_first_;
      ++n_listed_;
      break;
    }
  }

  void result(Values* values) const override {
    if (n_judged_ == 0) return;
    const auto n = static_cast<double>(n_judged_);
    (*values)["top1_accuracy"] = 100.0 * static_cast<double>(n_first_) / n;
    const Interval interval = wilson_interval(n_first_, n_judged_);
    (*values)["top1_accuracy_low"] = 100 * interval.low;
    (*values)["top1_accuracy_high"] = 100 * interval.high;
    // A list of fewer classes would make top-5 look like a smaller top-k.
    if (all_list_five_) (*values)["top5_accuracy"] = 100.0 * static_cast<double>(n_listed_) / n;
  }

 private:
  int64_t n_judged_ = 0, n_first_ = 0, n_listed_ = 0;
  bool all_list_five_ = true;
};

}  // namespace

std::unique_ptr<RunMetric> make_accuracy() { return std::make_unique<Accuracy>(); }

}  // namespace dnn::metrics
