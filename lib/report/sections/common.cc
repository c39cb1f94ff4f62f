// What the sections share; see sections.h.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "metrics/metric.h"
#include "report/palette.h"
#include "report/sections/sections.h"

namespace dnn::report {

const metrics::Row& row_of(std::string_view key) {
  for (const metrics::Row& row : metrics::rows()) {
    if (row.key == key) return row;
  }
  fail_internal("no metric ", key);
}

bool is_time(const metrics::Row& row) { return row.file == "latency" || row.file == "throughput"; }
bool is_resource(const metrics::Row& row) {
  return row.file == "memory" || row.file == "processors" || row.file == "energy";
}
bool is_accuracy(const metrics::Row& row) { return !is_time(row) && !is_resource(row); }

std::optional<double> value_of(const metrics::Values& values, std::string_view key) {
  const auto it = values.find(key);
  return it == values.end() || !std::isfinite(it->second) ? std::nullopt : std::optional(it->second);
}

std::string value_text(const metrics::Values& values, std::string_view key) {
  const auto it = values.find(key);
  return it == values.end() ? "-" : number_text(it->second, row_of(key).format);
}

std::vector<std::string> shown_keys(metrics::Scope scope, const std::function<bool(const metrics::Row&)>& wanted,
                                    const std::vector<const metrics::Values*>& values) {
  std::vector<std::string> keys;
  for (const metrics::Row& row : metrics::rows()) {
    if (row.scope != scope || row.title.empty() || !wanted(row)) continue;
    const bool any = std::any_of(values.begin(), values.end(), [&](const auto* v) { return v->contains(row.key); });
    if (any) keys.emplace_back(row.key);
  }
  return keys;
}

Column column_of(std::string_view key) {
  const metrics::Row& row = row_of(key);
  return {std::string(row.title), true, std::string(row.text)};
}

std::vector<size_t> runs_in_order(const Data& data) {
  std::map<std::string, size_t> models;
  for (const Run& run : data.runs) models.emplace(run.model, models.size());
  std::vector<size_t> order(data.runs.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const stream::Header &x = data.evaluation.runs[a].header, &y = data.evaluation.runs[b].header;
    const auto key = [&](size_t run, const stream::Header& h) {
      return std::tuple(models.at(data.runs[run].model), h.device, h.opt.value_or(-1));
    };
    return key(a, x) < key(b, y);
  });
  return order;
}

std::string letters(const Data& data, const std::vector<uint32_t>& runs, size_t most) {
  std::vector<std::string> list;
  for (size_t i = 0; i < std::min(most, runs.size()); ++i) list.push_back(data.runs[runs[i]].letter);
  return join(list) + (runs.size() > most ? cat(" and ", counted(runs.size() - most, "other")) : "");
}

namespace {

Grouping grouping_by(const std::vector<std::string>& of_run) {
  Grouping result;
  for (const std::string& name : of_run) {
    const auto at = std::find(result.names.begin(), result.names.end(), name);
    result.series.push_back(static_cast<int>(at - result.names.begin()));
    if (at == result.names.end()) result.names.push_back(name);
  }
  return result;
}

// More names than colours would say that what is different is alike.
Grouping without_repeats(Grouping grouping) {
  if (grouping.names.size() > static_cast<size_t>(kSeries)) {
    std::fill(grouping.series.begin(), grouping.series.end(), 0);
    grouping.names.clear();
  }
  return grouping;
}

}  // namespace

Grouping group_by_device(const Data& data) {
  std::vector<std::string> names;
  for (const metrics::RunReport& run : data.evaluation.runs)
    names.push_back(run.header.device.empty() ? "device not known" : run.header.device);
  return without_repeats(grouping_by(names));
}

Grouping group_by_model_or_device(const Data& data) {
  std::vector<std::string> names;
  for (const Run& run : data.runs) names.push_back(run.model);
  const Grouping models = grouping_by(names);
  return models.names.size() > 1 && models.names.size() <= static_cast<size_t>(kSeries) ? models
                                                                                        : group_by_device(data);
}

int64_t flips_of(const metrics::PairReport& pair) {
  const std::optional<double> same = value_of(pair.values, "top1_agreement");
  return same ? std::llround(static_cast<double>(pair.n_common) * (1 - *same / 100)) : 0;
}

}  // namespace dnn::report
