// The table of metrics; see metric.h.
#include "metrics/metric.h"

#include <set>

#include "base/error.h"

namespace dnn::metrics {

// Each file's maker, declared from the rows; a file of scope Run makes RunMetrics, one of scope Pair makes PairMetrics.
using MadeByRun = std::unique_ptr<RunMetric>;
using MadeByPair = std::unique_ptr<PairMetric>;
#define DNN_METRIC(key, scope, title, unit, better, format, file, text) MadeBy##scope make_##file();
#include "metrics/metrics.def"

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {
#define DNN_METRIC(key, scope, title, unit, better, format, file, text) \
  {#key, Scope::scope, title, unit, Better::better, format, #file, text},
#include "metrics/metrics.def"
  };
  return kRows;
}

namespace {

void make(Scope wanted, std::vector<std::unique_ptr<RunMetric>>* run, std::vector<std::unique_ptr<PairMetric>>* pair) {
  std::set<std::string_view> made;
  const auto keep = [&](auto maker) {
    if constexpr (std::is_same_v<decltype(maker()), MadeByRun>) {
      if (run != nullptr) run->push_back(maker());
    } else {
      if (pair != nullptr) pair->push_back(maker());
    }
  };
#define DNN_METRIC(key, scope, title, unit, better, format, file, text) \
  if (Scope::scope == wanted && made.insert(#file).second) keep(make_##file);
#include "metrics/metrics.def"
}

}  // namespace

std::vector<std::unique_ptr<RunMetric>> make_run_metrics() {
  std::vector<std::unique_ptr<RunMetric>> metrics;
  make(Scope::Run, &metrics, nullptr);
  return metrics;
}

std::vector<std::unique_ptr<PairMetric>> make_pair_metrics() {
  std::vector<std::unique_ptr<PairMetric>> metrics;
  make(Scope::Pair, nullptr, &metrics);
  return metrics;
}

}  // namespace dnn::metrics
