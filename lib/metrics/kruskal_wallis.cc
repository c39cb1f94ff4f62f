// Whether the times of all runs of a report could be of one distribution.
#include "metrics/metric.h"
#include "metrics/statistics.h"

namespace dnn::metrics {
namespace {

class KruskalWallis : public ReportMetric {
 public:
  void add(const Times& run) override {
    if (!run.empty()) runs_.emplace_back(run);
  }

  void result(Values* values) const override {
    const std::optional<RankTest> test = kruskal_wallis(runs_);
    if (!test) return;
    (*values)["kruskal_wallis_h"] = test->statistic;
    (*values)["kruskal_wallis_p"] = test->p;
    (*values)["kruskal_wallis_effect"] = *test->effect;
  }

 private:
  std::vector<std::span<const int64_t>> runs_;
};

}  // namespace

std::unique_ptr<ReportMetric> make_kruskal_wallis() { return std::make_unique<KruskalWallis>(); }

}  // namespace dnn::metrics
