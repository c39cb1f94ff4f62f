// Throughput: samples per second of latency; a prediction carries its batch's time divided by the batch's samples.
#include "metrics/metric.h"

namespace dnn::metrics {
namespace {

class Throughput : public RunMetric {
 public:
  void add(const Outcome& outcome) override {
    if (!outcome.latency_ns || *outcome.latency_ns < 0) return;
    ++n_;
    seconds_ += static_cast<double>(*outcome.latency_ns) * 1e-9 / static_cast<double>(outcome.batch);
  }

  void result(Values* values) const override {
    if (seconds_ > 0) (*values)["throughput"] = static_cast<double>(n_) / seconds_;
  }

 private:
  int64_t n_ = 0;
  double seconds_ = 0;
};

}  // namespace

std::unique_ptr<RunMetric> make_throughput() { return std::make_unique<Throughput>(); }

}  // namespace dnn::metrics
