// Distances of two runs' full outputs; available when both streams hold them.
#include <algorithm>

#include "metrics/metric.h"
#include "tensor/compare.h"

namespace dnn::metrics {
namespace {

class OutputDistance : public PairMetric {
 public:
  void add(const Meeting& m) override {
    for (const auto& [base, other] : m.outputs) {
      const Distance d = compare(base, other);
      ++n_;
      max_abs_ = std::max(max_abs_, d.max_abs);
      max_rel_ = std::max(max_rel_, d.relative());
      l2_ += d.l2();
      cosine_ = std::min(cosine_, d.cosine());
      n_nan_ += d.n_nan;
      if (d.max_ulp) {
        max_ulp_ = std::max(max_ulp_, *d.max_ulp);
      } else {
        all_ulps_ = false;
      }
    }
  }

  void result(Values* values) const override {
    if (n_ == 0) return;
    (*values)["output_max_abs"] = max_abs_;
    (*values)["output_max_rel"] = max_rel_;
    (*values)["output_l2"] = l2_ / static_cast<double>(n_);
    (*values)["output_cosine"] = cosine_;
    (*values)["output_nan"] = static_cast<double>(n_nan_);
    if (all_ulps_) (*values)["output_max_ulp"] = static_cast<double>(max_ulp_);
  }

 private:
  int64_t n_ = 0, n_nan_ = 0;
  double max_abs_ = 0, max_rel_ = 0, l2_ = 0, cosine_ = 1;
  uint64_t max_ulp_ = 0;
  bool all_ulps_ = true;
};

}  // namespace

std::unique_ptr<PairMetric> make_distance() { return std::make_unique<OutputDistance>(); }

}  // namespace dnn::metrics
