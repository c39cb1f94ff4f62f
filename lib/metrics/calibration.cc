// Expected calibration error: how far the best class's probability is from the share of samples that it is right on.
#include <algorithm>
#include <array>
#include <cmath>

#include "metrics/metric.h"

namespace dnn::metrics {
namespace {

constexpr size_t kBins = 15;

// Guo, Pleiss, Sun, Weinberger: On calibration of modern neural networks, ICML 2017, equation 3; bin m holds the
// probabilities in (m / 15, (m + 1) / 15], the first one 0 also.
class Calibration : public RunMetric {
 public:
  void add(const Outcome& outcome) override {
    if (!outcome.truth || outcome.scored.empty()) return;
    for (const Scored& s : outcome.scored) probabilities_ = probabilities_ && s.score >= 0 && s.score <= 1;
    if (!probabilities_) return;
    ++n_;
    const double p = outcome.scored[0].score;
    const size_t bin = std::max(std::ceil(p * kBins) - 1, 0.0);
    excess_[bin] += (outcome.scored[0].item == *outcome.truth ? 1 : 0) - p;
  }

  void result(Values* values) const override {
    if (n_ == 0 || !probabilities_) return;
    double sum = 0;
    for (const double excess : excess_) sum += std::abs(excess);
    (*values)["calibration_error"] = 100.0 * sum / static_cast<double>(n_);
  }

 private:
  int64_t n_ = 0;
  bool probabilities_ = true;
  std::array<double, kBins> excess_ = {};  // of each bin: samples that are right less the sum of probabilities
};

}  // namespace

std::unique_ptr<RunMetric> make_calibration() { return std::make_unique<Calibration>(); }

}  // namespace dnn::metrics
