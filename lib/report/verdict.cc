// Verdict; see verdict.h.
#include "report/verdict.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "metrics/families.h"
#include "report/sections/sections.h"

namespace dnn::report {
namespace {

Verdict verdict_of(const Data& data, size_t run) {
  const metrics::Report& report = data.evaluation;
  Verdict v;
  v.run = run;
  v.base = metrics::held_against(report, run);
  const metrics::PairReport& pair = metrics::pair_of(report, run, v.base);
  const std::optional<double> flips = value_of(pair.values, "flips");
  if (!flips || pair.n_common == 0) return v;
  v.n_common = pair.n_common;
  v.flips = static_cast<int64_t>(*flips);
  v.near_ties = static_cast<int64_t>(value_of(pair.values, "near_ties").value_or(0));
  v.change = value_of(pair.values, "accuracy_change");
  v.low = value_of(pair.values, "accuracy_change_low");
  v.high = value_of(pair.values, "accuracy_change_high");
  v.p = value_of(pair.values, "mcnemar_p");
  v.holm = value_of(pair.values, "mcnemar_p_holm");
  const bool shown = v.holm && *v.holm < kSignificance && v.change && *v.change != 0;
  v.finding = shown             ? (*v.change < 0 ? Finding::Worse : Finding::Better)
              : v.flips > 0     ? Finding::Different
              : v.near_ties > 0 ? Finding::NearTies
                                : Finding::Same;
  return v;
}

}  // namespace

std::vector<VerdictGroup> verdict_groups(const Data& data) {
  const metrics::Report& report = data.evaluation;
  std::map<std::tuple<bool, Finding, size_t>, VerdictGroup> groups;  // of runs, by finding and model
  for (size_t run = 0; run < report.runs.size(); ++run) {
    if (run == report.baseline) continue;
    const Verdict v = verdict_of(data, run);
    const bool of_models = report.own_run[run] == run;
    const bool differs = v.finding != Finding::Same && v.finding != Finding::NearTies;
    VerdictGroup& group = groups[{!of_models, v.finding, differs ? report.own_run[run] : SIZE_MAX}];
    group.finding = v.finding;
    group.of_models = of_models;
    group.verdicts.push_back(v);
  }
  std::vector<VerdictGroup> result;
  for (auto& [key, group] : groups) {
    std::stable_sort(group.verdicts.begin(), group.verdicts.end(),
                     [](const Verdict& a, const Verdict& b) { return a.flips > b.flips; });
    result.push_back(std::move(group));
  }
  std::stable_sort(result.begin(), result.end(), [](const VerdictGroup& a, const VerdictGroup& b) {
    if (a.of_models != b.of_models) return a.of_models;
    if (a.finding != b.finding) return a.finding < b.finding;
    return a.verdicts[0].flips > b.verdicts[0].flips;
  });
  return result;
}

}  // namespace dnn::report
