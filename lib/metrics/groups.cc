// Groups of runs; see groups.h.
#include "metrics/groups.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "base/text.h"
#include "stream/dialogue.h"

namespace dnn::metrics {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kNoEntry = "-", kOwn = "own", kLibrary = "lib:";

// Those that a run's provenance and command line fill differ in each run.
const std::vector<std::string>& field_names() {
  static const std::vector<std::string> kNames = {
      "tool",       "model", "format",           "framework",    "opt",     "passes", "device",
      "isa",        "dtype", "label_set",        "label_offset", "host",    "batch",  "threads",
      "preprocess", "shard", "latency_contains", "affinity",     "topology"};
  return kNames;
}

std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.contains("name")) return text_of(value["name"]);
  return json_text(value);
}

// What is neither a p-value nor the end of an interval.
bool is_spread(const Row& row) {
  return row.scope == Scope::Pair && row.better != Better::Neither && !ends_with(row.key, "_low") &&
         !ends_with(row.key, "_high");
}

}  // namespace

void check_field(const std::string& field) {
  const std::string first = field.substr(0, field.find('.'));
  const std::vector<std::string>& names = field_names();
  const bool nested = first.size() < field.size();
  const bool may_nest = first == "model" || first == "preprocess" || first == "host" || first == "topology";
  if (std::find(names.begin(), names.end(), first) != names.end() && (!nested || may_nest)) return;
  const std::string near = nearest_word(first, names);
  fail_usage("--by: no header has a field ", quoted(field), near.empty() ? "" : cat("; did you mean ", near, "?"),
             "; there are ", join(names));
}

std::string level_text(const stream::Header& header) {
  return header.opt ? cat("-O", *header.opt, header.passes.empty() ? "" : " ", header.passes) : "";
}

std::string field_text(const stream::Header& header, const std::string& field) {
  if (field == "model") {
    const std::string& path = header.model.path;
    const std::string name = path.substr(path.find_last_of('/', path.size() - std::min<size_t>(path.size(), 2)) + 1);
    return name.empty() ? std::string(kNoEntry) : name;
  }
  if (field == "framework") {
    if (stream::is_command(header.device)) return "exec";
    if (!starts_with(header.device, kLibrary)) return std::string(kOwn);
    const std::string name = header.device.substr(kLibrary.size());
    return name.substr(0, name.find(':'));
  }
  const Json json = parse_ordered_json(stream::record_to_json(header));
  const Json* at = &json;
  std::string rest = field == "format" ? "model.format" : field;
  // Keys of `host` and `preprocess` may themselves hold dots.
  while (!rest.empty()) {
    if (!at->is_object()) return std::string(kNoEntry);
    const size_t dot = rest.find('.');
    const std::string key = at->contains(rest) ? rest : rest.substr(0, dot);
    const auto it = at->find(key);
    if (it == at->end()) return std::string(kNoEntry);
    at = &*it;
    rest = rest.substr(std::min(rest.size(), key.size() + 1));
  }
  return text_of(*at);
}

void Pool::begin_span() {
  for (const auto& metric : metrics_) metric->begin_span();
}

void Pool::add_usage(const stream::Usage& usage) {
  for (const auto& metric : metrics_) metric->add_usage(usage);
}

void Pool::add(const Outcome& outcome) {
  ++report_.n_predictions;
  report_.n_judged += outcome.truth.has_value();
  for (const auto& metric : metrics_) metric->add(outcome);
}

void Pool::add_run(size_t run_i, const Times& times) {
  report_.runs.push_back(run_i);
  all_timed_ = all_timed_ && !times.empty();
  times_.insert(times_.end(), times.begin(), times.end());
}

const Times& Pool::sorted_times() {
  if (!all_timed_) times_.clear();
  std::sort(times_.begin(), times_.end());
  return times_;
}

GroupReport Pool::finish() {
  for (const auto& metric : metrics_) metric->result(&report_.values);
  std::erase_if(report_.values,
                [](const auto& value) { return ends_with(value.first, "_low") || ends_with(value.first, "_high"); });
  return std::move(report_);
}

void PairSpreads::add(size_t base_group, size_t other_group, const Values& values) {
  Sums& sums = sums_[{base_group, other_group}];
  ++sums.n_pairs;
  for (const Row& row : rows()) {
    const auto it = is_spread(row) ? values.find(row.key) : values.end();
    if (it == values.end()) continue;
    auto& [n, spread] = sums.values[std::string(row.key)];
    const double value = it->second;
    spread.least = n == 0 ? value : std::min(spread.least, value);
    spread.greatest = n == 0 ? value : std::max(spread.greatest, value);
    spread.mean += value;
    ++n;
  }
}

std::vector<GroupPairReport> PairSpreads::finish() {
  std::vector<GroupPairReport> result;
  for (const auto& [groups, sums] : sums_) {
    GroupPairReport report;
    report.base = groups.first;
    report.other = groups.second;
    report.n_pairs = sums.n_pairs;
    for (const auto& [key, sum] : sums.values) {
      Spread spread = sum.second;
      spread.mean /= static_cast<double>(sum.first);
      report.values.emplace(key, spread);
    }
    result.push_back(std::move(report));
  }
  return result;
}

}  // namespace dnn::metrics
