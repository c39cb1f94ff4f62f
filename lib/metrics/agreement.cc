// Agreement of two runs on labels: the same best label, near ties apart, and the labels that both have among their best k.
#include <algorithm>

#include "metrics/metric.h"
#include "metrics/statistics.h"

namespace dnn::metrics {
namespace {

class Agreement : public PairMetric {
 public:
  void add(const Meeting& m) override {
    const Ranking a = m.base.labels;
    const Ranking b = m.other.labels;
    if (!m.labels_comparable || a.empty() || b.empty()) return;
    ++n_;
    const bool same = a[0].item() == b[0].item();
    n_same_ += same;
    n_near_ties_ +=
        !same && m.base.near_tie && m.other.near_tie && a[1].item() == b[0].item() && b[1].item() == a[0].item();
    const size_t k = std::min({kTop, a.size(), b.size()});
    size_t n_shared = 0;
    for (size_t i = 0; i < k; ++i) {
      n_shared += std::any_of(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(k),
                              [&](Ranked r) { return r.item() == a[i].item(); });
    }
    overlap_ += static_cast<double>(n_shared) / static_cast<double>(k);
  }

  void result(Values* values) const override {
    if (n_ == 0) return;
    (*values)["top1_agreement"] = 100.0 * static_cast<double>(n_same_) / static_cast<double>(n_);
    const Interval interval = wilson_interval(n_same_, n_);
    (*values)["top1_agreement_low"] = 100 * interval.low;
    (*values)["top1_agreement_high"] = 100 * interval.high;
    (*values)["flips"] = static_cast<double>(n_ - n_same_ - n_near_ties_);
    (*values)["near_ties"] = static_cast<double>(n_near_ties_);
    (*values)["topk_agreement"] = 100.0 * overlap_ / static_cast<double>(n_);
  }

 private:
  int64_t n_ = 0, n_same_ = 0, n_near_ties_ = 0;
  double overlap_ = 0;
};

}  // namespace

std::unique_ptr<PairMetric> make_agreement() { return std::make_unique<Agreement>(); }

}  // namespace dnn::metrics
