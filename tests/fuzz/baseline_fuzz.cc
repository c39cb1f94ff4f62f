// Earlier reports of hostile bytes: only Malformed and Unsupported may escape, and what is read compares with itself.
#include <cstdlib>

#include "fuzz/fuzz.h"
#include "metrics/baseline.h"
#include "metrics/present.h"
#include "report/ci.h"

DNN_FUZZ(baseline) {
  using namespace dnn;
  const std::string text(reinterpret_cast<const char*>(data), size);
  return dnn::fuzz::refuse_or_accept([&] {
    const metrics::Baseline baseline = metrics::parse_baseline(text, "fuzz");
    metrics::Report report;
    for (const metrics::Baseline::Run& run : baseline.runs) {
      report.runs.emplace_back();
      report.runs.back().header = run.header;
      report.runs.back().values = run.values;
    }
    for (const metrics::Baseline::Pair& pair : baseline.pairs) {
      report.pairs.emplace_back();
      report.pairs.back().base = std::min(pair.base, pair.other);
      report.pairs.back().other = std::max(pair.base, pair.other);
      report.pairs.back().values = pair.values;
    }
    const metrics::Comparison comparison = metrics::compare_with(report, baseline, {});
    // Pairs that come twice may differ; runs are the same as themselves.
    for (const metrics::Change& change : comparison.changes) {
      if (!change.base && change.verdict != metrics::Verdict::Same) std::abort();
    }
    const std::vector<metrics::Check> checks = metrics::checks_of(comparison);
    metrics::comparison_table(comparison);
    report::junit_xml(report, checks);
    report::sarif_json(report, checks);
    report::comment_markdown(report, checks, &comparison);
    if (metrics::parse_baseline(metrics::report_json(report), "again").runs.size() != baseline.runs.size())
      std::abort();
  });
}
