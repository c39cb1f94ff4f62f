// The table of metrics; see metric.h.
#include "metrics/metric.h"

#include <set>

#include "base/text.h"

namespace dnn::metrics {

// Each file's maker, declared from the rows; a file of scope Run makes RunMetrics, and so on.
using MadeByRun = std::unique_ptr<RunMetric>;
using MadeByPair = std::unique_ptr<PairMetric>;
using MadeByReport = std::unique_ptr<ReportMetric>;
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

// One of each file whose maker gives a Metric.
template <class Metric>
std::vector<std::unique_ptr<Metric>> make() {
  std::vector<std::unique_ptr<Metric>> metrics;
  std::set<std::string_view> made;
  const auto keep = [&](std::string_view file, auto maker) {
    if constexpr (std::is_same_v<decltype(maker()), std::unique_ptr<Metric>>) {
      if (made.insert(file).second) metrics.push_back(maker());
    }
  };
#define DNN_METRIC(key, scope, title, unit, better, format, file, text) keep(#file, make_##file);
#include "metrics/metrics.def"
  return metrics;
}

}  // namespace

std::vector<std::unique_ptr<RunMetric>> make_run_metrics() { return make<RunMetric>(); }
std::vector<std::unique_ptr<PairMetric>> make_pair_metrics() { return make<PairMetric>(); }
std::vector<std::unique_ptr<ReportMetric>> make_report_metrics() { return make<ReportMetric>(); }

std::string_view holm_key(std::string_view key) {
  for (const Row& row : rows()) {
    if (row.key.size() == key.size() + kHolm.size() && row.key.starts_with(key) && row.key.ends_with(kHolm))
      return row.key;
  }
  return "";
}

}  // namespace dnn::metrics
