// Change of the accuracy between two runs on the samples that both judged, and whether it is real.
#include "metrics/metric.h"
#include "metrics/statistics.h"

namespace dnn::metrics {
namespace {

constexpr uint64_t kSeed = 1;

class McNemar : public PairMetric {
 public:
  void add(const Meeting& m) override {
    if (!m.base.truth || !m.other.truth || m.base.labels.empty() || m.other.labels.empty()) return;
    const bool base = m.base.labels[0].item() == *m.base.truth, other = m.other.labels[0].item() == *m.other.truth;
    ++(base ? (other ? counts_.both : counts_.only_a) : (other ? counts_.only_b : counts_.none));
  }

  void result(Values* values) const override {
    if (counts_.total() == 0) return;
    const auto only_base = static_cast<double>(counts_.only_a), only_other = static_cast<double>(counts_.only_b);
    const Interval interval = bootstrap_difference(counts_, kSeed);
    (*values)["accuracy_change"] = 100 * (only_other - only_base) / static_cast<double>(counts_.total());
    (*values)["accuracy_change_low"] = 100 * interval.low;
    (*values)["accuracy_change_high"] = 100 * interval.high;
    (*values)["mcnemar_p"] = mcnemar_p(counts_);
    if (only_base > 0) (*values)["mcnemar_odds_ratio"] = only_other / only_base;
  }

 private:
  FourCounts counts_;  // a is the base
};

}  // namespace

std::unique_ptr<PairMetric> make_mcnemar() { return std::make_unique<McNemar>(); }

}  // namespace dnn::metrics
