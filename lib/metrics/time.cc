// Change of the mean latency per sample between two runs, over the samples that both timed; a sample run
// repeatedly counts with the mean of its runs.
#include "metrics/metric.h"

namespace dnn::metrics {
namespace {

double seconds_per_sample(const Outcome& outcome) {
  return static_cast<double>(*outcome.latency_ns) * 1e-9 / static_cast<double>(outcome.batch);
}

class TimeChange : public PairMetric {
 public:
  void add(const Meeting& m) override {
    if (!m.base.latency_ns || !m.other.latency_ns) return;
    base_ += seconds_per_sample(m.base);
    other_ += seconds_per_sample(m.other);
  }

  void result(Values* values) const override {
    if (base_ > 0) (*values)["time_change"] = 100 * (other_ - base_) / base_;
  }

 private:
  double base_ = 0, other_ = 0;
};

}  // namespace

std::unique_ptr<PairMetric> make_time() { return std::make_unique<TimeChange>(); }

}  // namespace dnn::metrics
