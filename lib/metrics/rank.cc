// Rank correlation of two runs' class lists, averaged over the samples on which it is defined.
#include "metrics/metric.h"

namespace dnn::metrics {
namespace {

class Mean {
 public:
  void add(const std::optional<double>& value) {
    if (!value) return;
    sum_ += *value;
    ++n_;
  }
  void state(const char* key, Values* values) const {
    if (n_ > 0) (*values)[key] = sum_ / static_cast<double>(n_);
  }

 private:
  double sum_ = 0;
  int64_t n_ = 0;
};

class Rank : public PairMetric {
 public:
  void add(const Meeting& m) override {
    if (!m.labels_comparable) return;
    tau_.add(kendall_tau_b(m.base.labels, m.other.labels));
    rbo_.add(rank_biased_overlap(m.base.labels, m.other.labels, kRboPersistence));
  }

  void result(Values* values) const override {
    tau_.state("kendall_tau", values);
    rbo_.state("rbo", values);
  }

 private:
  Mean tau_, rbo_;
};

}  // namespace

std::unique_ptr<PairMetric> make_rank() { return std::make_unique<Rank>(); }

}  // namespace dnn::metrics
