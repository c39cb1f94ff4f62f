// Throughput: samples per second of latency; a prediction carries its batch's time divided by the batch's samples. Where several runs were on
// their way at once, their latencies overlap, and the time is that from the first run's beginning to the last one's end.
#include <algorithm>

#include "metrics/metric.h"

namespace dnn::metrics {
namespace {

class Throughput : public RunMetric {
 public:
  void begin_span() override {
    done_seconds_ += last_done_;
    last_done_ = 0;
  }

  void add(const Outcome& outcome) override {
    if (!outcome.latency_ns || *outcome.latency_ns < 0) return;
    ++n_;
    if (outcome.done_ns) {
      last_done_ = std::max(last_done_, static_cast<double>(*outcome.done_ns) * 1e-9);
    } else {
      seconds_ += static_cast<double>(*outcome.latency_ns) * 1e-9 / static_cast<double>(outcome.batch);
    }
  }

  void result(Values* values) const override {
    const double seconds = seconds_ + done_seconds_ + last_done_;
    if (seconds > 0) (*values)["throughput"] = static_cast<double>(n_) / seconds;
  }

 private:
  int64_t n_ = 0;
  double seconds_ = 0, done_seconds_ = 0, last_done_ = 0;
};

}  // namespace

std::unique_ptr<RunMetric> make_throughput() { return std::make_unique<Throughput>(); }

}  // namespace dnn::metrics
