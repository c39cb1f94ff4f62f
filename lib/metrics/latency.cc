// Latency of a batch in milliseconds: mean, spread, extremes, percentiles and modes, in bounded memory.
#include <algorithm>
#include <cmath>

#include "metrics/metric.h"
#include "metrics/modes.h"
#include "metrics/quantiles.h"

namespace dnn::metrics {
namespace {

// Every prediction counts with the latency of its batch, so batches of equal size count equally.
class Latency : public RunMetric {
 public:
  void add(const Outcome& outcome) override {
    if (!outcome.latency_ns || *outcome.latency_ns < 0) return;
    const double ms = static_cast<double>(*outcome.latency_ns) * 1e-6;
    quantiles_.add(ms);
    n_batches_ += 1 / static_cast<double>(outcome.batch);
    least_ = quantiles_.count() == 1 ? ms : std::min(least_, ms);
    greatest_ = std::max(greatest_, ms);
    const double delta = ms - mean_;  // Welford 1962
    mean_ += delta / static_cast<double>(quantiles_.count());
    squares_ += delta * (ms - mean_);
  }

  void result(Values* values) const override {
    const int64_t n = quantiles_.count();
    if (n == 0) return;
    (*values)["latency_mean"] = mean_;
    if (n > 1) (*values)["latency_std"] = std::sqrt(squares_ / static_cast<double>(n - 1));
    (*values)["latency_min"] = least_;
    (*values)["latency_max"] = greatest_;
    (*values)["latency_median"] = quantiles_.at(0.5);
    (*values)["latency_p50"] = quantiles_.at(0.5);
    (*values)["latency_p90"] = quantiles_.at(0.9);
    (*values)["latency_p95"] = quantiles_.at(0.95);
    (*values)["latency_p99"] = quantiles_.at(0.99);
    constexpr double kFewest = 19.5;  // 20, less what rounding takes
    if (n_batches_ < kFewest) return;
    const std::optional<Modes> modes = two_modes(quantiles_.counted(), n_batches_);
    (*values)["latency_modes"] = modes ? 2 : 1;
    if (!modes) return;
    (*values)["latency_low_mode"] = modes->low;
    (*values)["latency_high_mode"] = modes->high;
    (*values)["latency_high_share"] = 100 * modes->high_share;
  }

 private:
  Quantiles quantiles_;
  double n_batches_ = 0;
  double mean_ = 0, squares_ = 0, least_ = 0, greatest_ = 0;
};

}  // namespace

std::unique_ptr<RunMetric> make_latency() { return std::make_unique<Latency>(); }

}  // namespace dnn::metrics
