// Execution times: latencies as a table, as medians with intervals, and in their order.
#include <algorithm>

#include "metrics/metric.h"
#include "report/sections/sections.h"

namespace dnn::report {
namespace {

std::vector<double> latencies_of(const Run& run) { return {run.latencies_ms.begin(), run.latencies_ms.end()}; }

bool any_latency(const Data& data) {
  return std::any_of(data.runs.begin(), data.runs.end(), [](const Run& run) { return !run.latencies_ms.empty(); });
}

Table times_table(const Data& data) {
  std::vector<const metrics::Values*> values;
  for (const metrics::RunReport& run : data.evaluation.runs) values.push_back(&run.values);
  const std::vector<std::string> keys = shown_keys(metrics::Scope::Run, is_time, values);
  Table table{"times-table", "Latency of a batch and throughput of each run", {{"run"}, {"measured", true}}, {}};
  table.columns.push_back({"first ms", true, "the first that was timed; with --warmup others came before it"});
  for (const std::string& key : keys) table.columns.push_back(column_of(key));
  for (const size_t i : runs_in_order(data)) {
    const Run& run = data.runs[i];
    std::vector<Cell> row = {run.full(), cat(run.latencies_ms.size()),
                             run.latencies_ms.empty() ? "-" : number_text(run.latencies_ms[0], "%.3f")};
    for (const std::string& key : keys) row.emplace_back(value_text(*values[i], key));
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_time_figures(const Data& data, Blocks* blocks) {
  const Grouping grouping = group_by_device(data);
  std::vector<Dot> list;
  size_t n_figures = 0;
  const auto draw = [&] {
    if (list.empty()) return;
    ++n_figures;
    blocks->push_back(Figure{
        cat("times-figure-", n_figures), n_figures == 1 ? "Execution times" : cat("Execution times, part ", n_figures),
        "Median latency of each run, by model, device and level; lines from the 5th to the 95th percentile.",
        dots(list, "latency of a batch, ms", grouping.names)});
    list.clear();
  };
  for (const size_t i : runs_in_order(data)) {
    const Run& run = data.runs[i];
    if (run.latencies_ms.empty()) continue;
    if (list.size() >= kMostDots) draw();
    const std::vector<double> values = latencies_of(run);
    const std::string label =
        run.name.starts_with(run.model) ? run.letter + run.name.substr(run.model.size()) : run.full();
    list.push_back(
        {run.model, label, quantile(values, 0.5), quantile(values, 0.05), quantile(values, 0.95), grouping.series[i]});
  }
  draw();
}

}  // namespace

Blocks section_times(const Data& data, const Options&) {
  Blocks blocks;
  if (!any_latency(data)) return blocks;
  std::map<std::string, std::vector<uint32_t>> covers;
  for (size_t i = 0; i < data.runs.size(); ++i) {
    if (!data.runs[i].latencies_ms.empty())
      covers[data.evaluation.runs[i].header.latency_contains].push_back(static_cast<uint32_t>(i));
  }
  for (const auto& [what, runs] : covers) {
    blocks.push_back(Paragraph{cat(covers.size() == 1 ? "A latency" : cat("A latency of ", letters(data, runs)),
                                   " is of: ", what.empty() ? "something that its stream does not say" : what, ".")});
  }
  if (covers.size() > 1)
    blocks.push_back(Paragraph{"Not all latencies cover the same: compare those of different kinds with care.", true});
  add_time_figures(data, &blocks);
  blocks.push_back(times_table(data));
  if (const std::optional<double> p = value_of(data.evaluation.values, "kruskal_wallis_p")) {
    blocks.push_back(Paragraph{cat(
        "All runs together: the Kruskal-Wallis test says p = ", value_text(data.evaluation.values, "kruskal_wallis_p"),
        " for all times being of one distribution; epsilon squared, the share of the ranks' variance that lies "
        "between runs, is ",
        value_text(data.evaluation.values, "kruskal_wallis_effect"), ".")});
  }
  return blocks;
}

Blocks section_latency(const Data& data, const Options&) {
  Blocks blocks;
  if (!any_latency(data)) return blocks;
  const Grouping grouping = group_by_device(data);
  std::vector<Strip> list;
  std::string from, to;
  size_t n_figures = 0;
  const auto draw = [&] {
    if (list.empty()) return;
    Figure figure{
        cat("latency-figure-", ++n_figures), cat("Latency over time, ", from == to ? from : cat(from, " to ", to)),
        "Each run has its own range, named below it; at the right, how often each latency came. Triangles mark "
        "what lies above the range that is drawn.",
        strips(list, "ms", "prediction")};
    list.clear();
    if (n_figures == 1) return blocks.push_back(std::move(figure));
    const std::string title = figure.title;
    blocks.push_back(Fold{"", title, {std::move(figure)}});
  };
  for (const size_t i : runs_in_order(data)) {
    const Run& run = data.runs[i];
    if (run.latencies_ms.empty()) continue;
    if (list.size() >= kStripsOfFigure) draw();
    if (list.empty()) from = run.letter;
    to = run.letter;
    list.push_back({run.full(), latencies_of(run), {}, grouping.series[i]});
  }
  draw();
  blocks.push_back(Paragraph{"The numbers are in the table of execution times."});
  return blocks;
}

}  // namespace dnn::report
