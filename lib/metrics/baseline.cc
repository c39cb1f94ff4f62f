// Baselines; see baseline.h.
#include "metrics/baseline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/printable.h"
#include "base/text.h"
#include "metrics/bounds.h"
#include "metrics/groups.h"
#include "metrics/present.h"

namespace dnn::metrics {
namespace {

using ParsedJson = nlohmann::json;

constexpr int kMaxDepth = 64;       // a report has five, and its headers' provenance more
constexpr double kRounding = 1e-9;  // relative; values are stated in decimal

double number_of(const ParsedJson& value, const std::string& where) {
  if (value.is_number()) return value.get<double>();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  fail_malformed(where, ": not a number");
}

// Metrics that this program does not know are not for it to compare.
Values values_of(const ParsedJson& entry, const std::string& where) {
  Values values;
  const auto map = entry.find("values");
  if (map == entry.end() || !map->is_object()) fail_malformed(where, ": no values");
  for (const Row& row : rows()) {
    const auto it = map->find(row.key);
    if (it != map->end() && !it->is_null()) values[std::string(row.key)] = number_of(*it, cat(where, ": ", row.key));
  }
  return values;
}

const ParsedJson& list_of(const ParsedJson& json, const char* key, const std::string& name) {
  const auto it = json.find(key);
  if (it == json.end() || !it->is_array()) fail_malformed(name, ": not a report of dnn-eval --json: no list of ", key);
  for (const ParsedJson& entry : *it) {
    if (!entry.is_object()) fail_malformed(name, ": ", key, " holds what is no object");
  }
  return *it;
}

stream::Header header_of(const ParsedJson& entry, const std::string& where) {
  const auto it = entry.find("header");
  if (it == entry.end() || !it->is_object()) fail_malformed(where, ": no header");
  try {
    std::optional<stream::Record> record = stream::record_from_json(it->dump());
    if (record && std::holds_alternative<stream::Header>(*record)) return std::get<stream::Header>(std::move(*record));
  } catch (Error& e) {
    throw e.within(where);
  }
  fail_malformed(where, ": its header is none");
}

// What makes a run the same as one of another report.
std::string identity_of(const stream::Header& header) {
  std::vector<std::string> parts;
  for (const char* field : {"model", "opt", "passes", "device", "dtype"}) parts.push_back(field_text(header, field));
  return join(parts, std::string_view("\0", 1));
}

// For each run of `before` its counterpart in `now`: the n-th of the same identity.
std::vector<std::optional<size_t>> counterparts(const std::vector<std::string>& before,
                                                const std::vector<std::string>& now) {
  std::map<std::string, std::vector<size_t>> places;
  for (size_t i = 0; i < now.size(); ++i) places[now[i]].push_back(i);
  std::map<std::string, size_t> n_used;
  std::vector<std::optional<size_t>> result;
  for (const std::string& identity : before) {
    const std::vector<size_t>& here = places[identity];
    const size_t n = n_used[identity]++;
    result.push_back(n < here.size() ? std::optional(here[n]) : std::nullopt);
  }
  return result;
}

std::optional<double> find(const Values& values, std::string_view key) {
  const auto it = values.find(key);
  return it == values.end() ? std::nullopt : std::optional(it->second);
}

Verdict verdict_of(const Change& change) {
  if (!change.now) return Verdict::Gone;
  if (!change.before) return Verdict::New;
  const double before = *change.before, now = *change.now;
  if (before == now) return Verdict::Same;
  if (std::isnan(now)) return std::isnan(before) ? Verdict::Same : Verdict::Worse;
  if (std::isnan(before)) return Verdict::Better;
  const double worsening = change.row->better == Better::Higher ? before - now : now - before;
  const double noise = change.allowed + kRounding * std::max(std::abs(before), std::abs(now));
  if (std::isinf(worsening)) return worsening > 0 ? Verdict::Worse : Verdict::Better;
  return worsening > noise ? Verdict::Worse : -worsening > noise ? Verdict::Better : Verdict::Same;
}

void compare_values(const Allowance& allowance, const Values& before, const Values& now, Change change,
                    std::vector<Change>* changes) {
  change.row = allowance.row;
  change.before = find(before, allowance.row->key);
  change.now = find(now, allowance.row->key);
  if (!change.before && !change.now) return;
  change.allowed = allowance.amount;
  if (allowance.relative) change.allowed *= std::abs(change.before.value_or(0));
  change.verdict = verdict_of(change);
  changes->push_back(change);
}

std::string unit_of(const Row& row) { return row.unit.empty() ? "" : cat(" ", row.unit); }

// As many digits as tell it from the other.
std::string short_text(double value, double other) {
  const std::string text = cat(value);
  return text == cat(other) && value != other ? exact_text(value) : text;
}

}  // namespace

const std::vector<Allowance>& default_allowances() {
  // Counts are exact; what follows every change of rounding, and what the machine's load decides, has room.
  static const std::vector<Allowance> kDefaults = [] {
    struct Default {
      std::string_view key;
      double amount;
      bool relative = false;
    };
    const Default table[] = {{"top1_accuracy", 0},
                             {"top5_accuracy", 0},
                             {"macro_f1", 0},
                             {"calibration_error", 0.1},
                             {"roc_auc", 0.001},
                             {"throughput", 0.1, true},
                             {"latency_median", 0.1, true},
                             {"memory_peak", 0.1, true},
                             {"energy", 0.2, true},
                             {"top1_agreement", 0},
                             {"topk_agreement", 0.1},
                             {"kendall_tau", 0.001},
                             {"rbo", 0.001},
                             {"output_max_abs", 1, true},
                             {"output_l2", 1, true},
                             {"output_cosine", 1e-6}};
    std::vector<Allowance> result;
    for (const Default& row : table) result.push_back({&row_of(row.key, "--allow"), row.amount, row.relative});
    return result;
  }();
  return kDefaults;
}

Allowance parse_allowance(std::string_view text) {
  text = trimmed(text);
  const size_t blank = text.find_first_of(" \t");
  if (blank == std::string_view::npos) fail_usage("--allow: ", quoted(text), " is not of the form 'KEY AMOUNT'");
  Allowance result;
  result.row = &row_of(text.substr(0, blank), "--allow");
  const Row& row = *result.row;
  if (row.scope == Scope::Report || row.better == Better::Neither)
    fail_usage("--allow: ", row.key, " is not compared: neither way is better");
  std::string_view number = trimmed(text.substr(blank));
  if (!row.unit.empty() && ends_with(number, row.unit)) {
    number = trimmed(number.substr(0, number.size() - row.unit.size()));
  } else if (ends_with(number, "%")) {
    result.relative = true;
    number = trimmed(number.substr(0, number.size() - 1));
  }
  if (!parse_double(number, &result.amount) || !(result.amount >= 0) || std::isinf(result.amount))
    fail_usage("--allow: ", quoted(number), " is not a number from 0",
               row.unit.empty() ? cat("; ", row.key, " has no unit") : cat(" of ", row.unit));
  if (result.relative) result.amount /= 100;
  return result;
}

Baseline parse_baseline(std::string_view text, std::string name) {
  const auto shallow = [&](int depth, ParsedJson::parse_event_t, ParsedJson&) {
    if (depth > kMaxDepth) fail_malformed(name, ": nested deeper than ", kMaxDepth);
    return true;
  };
  ParsedJson json;
  try {
    json = ParsedJson::parse(text, shallow);
  } catch (const ParsedJson::exception&) {
    fail_malformed(name, ": not JSON; a baseline is what dnn-eval --json=FILE wrote");
  }
  if (!json.is_object()) fail_malformed(name, ": not a report of dnn-eval --json");
  Baseline baseline;
  std::map<std::string, size_t> by_letter;
  for (const ParsedJson& entry : list_of(json, "runs", name)) {
    const std::string where = cat(name, ": run ", baseline.runs.size() + 1);
    by_letter.emplace(run_letter(baseline.runs.size()), baseline.runs.size());
    baseline.runs.push_back({header_of(entry, where), values_of(entry, where)});
    const auto n = entry.find("n_predictions");
    if (n != entry.end() && n->is_number_integer()) baseline.runs.back().n_predictions = n->get<int64_t>();
  }
  for (const ParsedJson& entry : list_of(json, "pairs", name)) {
    const std::string where = cat(name, ": pair ", baseline.pairs.size() + 1);
    const auto run_of = [&](const char* key) {
      const auto it = entry.find(key);
      const auto place =
          it != entry.end() && it->is_string() ? by_letter.find(it->get<std::string>()) : by_letter.end();
      if (place == by_letter.end()) fail_malformed(where, ": its ", key, " is none of the runs");
      return place->second;
    };
    baseline.pairs.push_back({run_of("base"), run_of("run"), values_of(entry, where)});
  }
  baseline.name = std::move(name);
  return baseline;
}

std::string_view verdict_name(Verdict verdict) {
  static constexpr std::string_view kNames[] = {"worse", "better", "as before", "gone", "new"};
  return kNames[static_cast<size_t>(verdict)];
}

namespace {

// The default allowances, in their places, and what was given for further keys behind them.
std::vector<Allowance> all_allowances(const std::vector<Allowance>& given) {
  std::vector<Allowance> allowances = default_allowances();
  for (const Allowance& allowance : given) {
    const auto it =
        std::find_if(allowances.begin(), allowances.end(), [&](const Allowance& a) { return a.row == allowance.row; });
    if (it == allowances.end()) {
      allowances.push_back(allowance);
    } else {
      *it = allowance;
    }
  }
  return allowances;
}

// By run of the baseline: its counterpart in the report.
using Places = std::vector<std::optional<size_t>>;

Places counterparts_in(const Report& report, const Baseline& baseline, std::vector<std::string>* notes) {
  std::vector<std::string> before, now;
  for (const Baseline::Run& run : baseline.runs) before.push_back(identity_of(run.header));
  for (const RunReport& run : report.runs) now.push_back(identity_of(run.header));
  Places places = counterparts(before, now);
  const bool none = std::none_of(places.begin(), places.end(), [](const auto& place) { return place.has_value(); });
  if (none && !places.empty() && before.size() == now.size()) {
    for (size_t i = 0; i < places.size(); ++i) places[i] = i;
    notes->emplace_back("no run has the model, level, device and type of one here; compared in their order");
  }
  return places;
}

void compare_runs(const Report& report, const Baseline& baseline, const Places& places,
                  const std::vector<Allowance>& allowances, Comparison* result) {
  std::vector<bool> known(report.runs.size(), false);
  for (size_t i = 0; i < places.size(); ++i) {
    const Baseline::Run& run = baseline.runs[i];
    if (!places[i]) {
      result->gone.push_back(run_title(run.header));
      continue;
    }
    known[*places[i]] = true;
    const int64_t n = report.runs[*places[i]].n_predictions;
    if (run.n_predictions.value_or(n) != n) {
      result->notes.push_back(cat("run ", run_letter(*places[i]), " has ", n, " predictions, had ", *run.n_predictions,
                                  ": are the samples the same?"));
    }
    for (const Allowance& allowance : allowances) {
      if (allowance.row->scope != Scope::Run) continue;
      compare_values(allowance, run.values, report.runs[*places[i]].values,
                     {.run = *places[i], .base = {}, .before = {}, .now = {}}, &result->changes);
    }
  }
  std::vector<std::string> unknown;
  for (size_t i = 0; i < known.size(); ++i) {
    if (!known[i]) unknown.push_back(run_letter(i));
  }
  if (!unknown.empty()) result->notes.push_back(cat("not in it: ", join(unknown)));
}

void compare_pairs(const Report& report, const Baseline& baseline, const Places& places,
                   const std::vector<Allowance>& allowances, Comparison* result) {
  const size_t n_default = default_allowances().size();
  std::map<std::pair<size_t, size_t>, const PairReport*> pairs;
  for (const PairReport& pair : report.pairs) pairs.emplace(std::minmax(pair.base, pair.other), &pair);
  for (const Baseline::Pair& pair : baseline.pairs) {
    if (!places[pair.base] || !places[pair.other]) continue;
    const size_t a = *places[pair.base], b = *places[pair.other];
    const auto it = pairs.find(std::minmax(a, b));
    if (it == pairs.end()) continue;
    const bool turned = a != it->second->base;  // the default ones have no direction
    for (size_t k = 0; k < (turned ? n_default : allowances.size()); ++k) {
      if (allowances[k].row->scope != Scope::Pair) continue;
      compare_values(allowances[k], pair.values, it->second->values,
                     {.run = it->second->other, .base = it->second->base, .before = {}, .now = {}}, &result->changes);
    }
  }
}

}  // namespace

Comparison compare_with(const Report& report, const Baseline& baseline, const std::vector<Allowance>& given) {
  const std::vector<Allowance> allowances = all_allowances(given);
  Comparison result;
  result.baseline = baseline.name;
  const Places places = counterparts_in(report, baseline, &result.notes);
  compare_runs(report, baseline, places, allowances, &result);
  compare_pairs(report, baseline, places, allowances, &result);
  return result;
}

std::string subject_of(const Change& change) {
  return change.base ? cat(run_letter(change.run), " against ", run_letter(*change.base)) : run_letter(change.run);
}

std::vector<Check> checks_of(const Comparison& comparison) {
  std::vector<Check> checks;
  for (const std::string& title : comparison.gone) {
    checks.push_back(
        {.kind = "against", .key = "", .rule = "--against", .subject = title, .said = "is in the baseline alone"});
  }
  for (const Change& change : comparison.changes) {
    const Row& row = *change.row;
    if (change.verdict == Verdict::New) continue;
    Check check{.kind = "against",
                .key = std::string(row.key),
                .rule = cat("--against: ", row.key),
                .subject = (change.base ? "" : "run ") + subject_of(change),
                .said = "",
                .kept = change.verdict != Verdict::Worse && change.verdict != Verdict::Gone,
                .run = change.run,
                .base = change.base};
    if (!change.now) {
      check.said = cat("is not defined any more, was ", with_unit(*change.before, row));
    } else {
      check.said = cat("has ", short_text(*change.now, *change.before), unit_of(row), ", had ",
                       short_text(*change.before, *change.now), unit_of(row), "; it may ",
                       row.better == Better::Higher ? "fall" : "rise", " by ", change.allowed,
                       row.unit == "%" ? " points" : unit_of(row));
    }
    checks.push_back(std::move(check));
  }
  return checks;
}

std::vector<Check> all_checks(const Report& report, const Bounds& bounds, const Comparison* comparison,
                              const std::vector<Error>& cut_off) {
  std::vector<Check> checks = judged(report, bounds);
  if (comparison != nullptr) {
    for (Check& check : checks_of(*comparison)) checks.push_back(std::move(check));
  }
  for (const Error& error : cut_off) {
    checks.push_back({.kind = "input", .key = "", .rule = "input", .subject = "", .said = error.what()});
  }
  return checks;
}

}  // namespace dnn::metrics
