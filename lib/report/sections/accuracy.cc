// Accuracy: against the truth, and against what it costs in time.
#include <algorithm>

#include "metrics/families.h"
#include "metrics/metric.h"
#include "report/axes.h"
#include "report/sections/sections.h"

namespace dnn::report {
namespace {

bool any_judged(const Data& data) {
  return std::any_of(data.evaluation.runs.begin(), data.evaluation.runs.end(),
                     [](const metrics::RunReport& run) { return run.n_judged > 0; });
}

std::string interval_text(const metrics::Values& values) {
  if (!values.contains("top1_accuracy_low")) return "-";
  return cat(value_text(values, "top1_accuracy_low"), " to ", value_text(values, "top1_accuracy_high"));
}

// What a run is worth: its accuracy, or without a truth its agreement with the first run.
struct Worth {
  std::optional<double> value, low, high;
};

Worth worth_of(const Data& data, size_t run_i, bool judged) {
  if (judged) {
    const metrics::Values& values = data.evaluation.runs[run_i].values;
    return {value_of(values, "top1_accuracy"), value_of(values, "top1_accuracy_low"),
            value_of(values, "top1_accuracy_high")};
  }
  if (run_i == data.evaluation.baseline) return {};
  const metrics::Values& values = metrics::pair_of(data.evaluation, run_i, data.evaluation.baseline).values;
  return {value_of(values, "top1_agreement"), value_of(values, "top1_agreement_low"),
          value_of(values, "top1_agreement_high")};
}

}  // namespace

Blocks section_accuracy(const Data& data, const Options&) {
  Blocks blocks;
  if (!any_judged(data)) return blocks;
  std::vector<const metrics::Values*> values;
  for (const metrics::RunReport& run : data.evaluation.runs) values.push_back(&run.values);
  const std::vector<std::string> keys = shown_keys(metrics::Scope::Run, is_accuracy, values);
  Table table{"accuracy-table", "Each run against the truth", {{"run"}, {"judged", true}}, {}};
  for (const std::string& key : keys) {
    table.columns.push_back(column_of(key));
    if (key == "top1_accuracy") table.columns.push_back({"95 % interval", true, "Wilson's interval of top-1"});
  }
  const Grouping grouping = group_by_device(data);
  std::vector<Dot> list;
  for (const size_t i : runs_in_order(data)) {
    const Run& run = data.runs[i];
    std::vector<Cell> row = {run.full(), cat(data.evaluation.runs[i].n_judged)};
    for (const std::string& key : keys) {
      row.emplace_back(value_text(*values[i], key));
      if (key == "top1_accuracy") row.emplace_back(interval_text(*values[i]));
    }
    table.rows.push_back(std::move(row));
    const Worth worth = worth_of(data, i, true);
    if (!worth.value) continue;
    const std::string label =
        run.name.starts_with(run.model) ? run.letter + run.name.substr(run.model.size()) : run.full();
    if (list.size() < kMostDots)
      list.push_back({run.model, label, *worth.value, worth.low, worth.high, grouping.series[i]});
  }
  if (list.size() > 1) {
    blocks.push_back(Figure{"accuracy-figure", "Top-1 accuracy",
                            "Share of samples whose best class is their truth, with Wilson's interval at 95 %.",
                            dots(list, "top-1 accuracy, %", grouping.names)});
    if (list.size() < table.rows.size())
      blocks.push_back(
          Paragraph{cat("The figure shows ", list.size(), " runs, the table all ", table.rows.size(), "."), true});
  }
  blocks.push_back(std::move(table));
  return blocks;
}

Blocks section_tradeoff(const Data& data, const Options&) {
  Blocks blocks;
  const bool judged = any_judged(data);
  const Grouping grouping = group_by_model_or_device(data);
  std::vector<ScatterPoint> points;
  std::vector<size_t> runs;
  for (size_t i = 0; i < data.runs.size(); ++i) {
    const std::optional<double> x = value_of(data.evaluation.runs[i].values, "latency_median");
    const Worth worth = worth_of(data, i, judged);
    if (!x || !worth.value) continue;
    points.push_back({data.runs[i].letter,
                      cat(data.runs[i].full(), ": ", short_number(*x), " ms, ", short_number(*worth.value), " %"), *x,
                      *worth.value, worth.low, worth.high, false, grouping.series[i]});
    runs.push_back(i);
  }
  if (points.size() < 2) return blocks;
  for (ScatterPoint& p : points) {
    p.front = std::none_of(points.begin(), points.end(), [&](const ScatterPoint& other) {
      return other.x <= p.x && other.y >= p.y && (other.x < p.x || other.y > p.y);
    });
  }
  const std::string what =
      judged ? "top-1 accuracy" : cat("agreement with run ", data.runs[data.evaluation.baseline].letter);
  if (points.size() > 40) {  // intervals of so many hide each other; they are in the table
    for (ScatterPoint& p : points) p.y_low = p.y_high = std::nullopt;
  }
  blocks.push_back(
      Figure{"tradeoff-figure", cat(judged ? "Accuracy" : "Agreement", " against latency"),
             cat("Median latency and ", what,
                 " of each run. Filled: no other run is both as fast and as good (the Pareto front, dashed). ",
                 points.size() > 40 ? "" : "Upright lines are intervals at 95 %."),
             scatter(points, "median latency of a batch, ms", cat(what, ", %"), grouping.names)});
  Table table{"tradeoff-table",
              cat("Runs on the front, fastest first: no other is both as fast and as good"),
              {{"run"}, {"median ms", true}, {cat(what, ", %"), true}},
              {}};
  std::vector<size_t> front;
  for (size_t p = 0; p < points.size(); ++p) {
    if (points[p].front) front.push_back(p);
  }
  std::stable_sort(front.begin(), front.end(), [&](size_t a, size_t b) { return points[a].x < points[b].x; });
  for (const size_t p : front) {
    table.rows.push_back({data.runs[runs[p]].full(), value_text(data.evaluation.runs[runs[p]].values, "latency_median"),
                          number_text(points[p].y, "%.2f")});
  }
  blocks.push_back(std::move(table));
  return blocks;
}

}  // namespace dnn::report
