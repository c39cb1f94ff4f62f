// Presentation of a report; see present.h.
#include "metrics/present.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json_text.h"
#include "base/printable.h"
#include "base/text.h"
#include "metrics/groups.h"
#include "metrics/table.h"

namespace dnn::metrics {
namespace {

using Json = nlohmann::ordered_json;

std::string model_name(const stream::Header& header) {
  return plain(header.model.path.empty() ? header.tool : field_text(header, "model"));
}

std::vector<Column> run_columns(const Report& report) {
  std::vector<Column> columns = {{"run", true, {}}, {"model", true, {}}, {"level", true, {}},    {"device", true, {}},
                                 {"isa", true, {}}, {"dtype", true, {}}, {"samples", false, {}}, {"judged", false, {}}};
  for (size_t i = 0; i < report.runs.size(); ++i) {
    const RunReport& run = report.runs[i];
    const stream::Header& h = run.header;
    const std::string cells[] = {
        run_letter(i), model_name(h),  level_text(h),          plain(h.device),
        plain(h.isa),  plain(h.dtype), cat(run.n_predictions), run.n_judged == 0 ? "" : cat(run.n_judged)};
    for (size_t c = 0; c < columns.size(); ++c) columns[c].cells.push_back(cells[c]);
  }
  std::erase_if(columns, [](const Column& column) { return column.empty(); });
  return columns;
}

std::string latency_note(const Report& report) {
  std::map<std::string, std::vector<std::string>> who;
  for (size_t i = 0; i < report.runs.size(); ++i) {
    const RunReport& run = report.runs[i];
    if (run.values.contains("latency_mean")) who[plain(run.header.latency_contains)].push_back(run_letter(i));
  }
  std::string out;
  for (const auto& [what, letters] : who) {
    out +=
        cat("latency of ", join(letters), ": ", what.empty() ? "its stream does not say what it contains" : what, "\n");
  }
  return out;
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(exact_text(value)); }

std::string signed_text(const Row& row, double value) {
  const std::string text = value_text(row, value);
  return text.starts_with('-') || text.starts_with('+') ? text : "+" + text;
}

std::string group_label(size_t group_i) { return cat("G", group_i + 1); }

// "A", "A-C"; the runs stand one after another.
std::string letters(const std::vector<size_t>& runs) {
  if (runs.size() == 1) return run_letter(runs[0]);
  return cat(run_letter(runs.front()), "-", run_letter(runs.back()));
}

std::vector<std::string> letters_of(const std::vector<size_t>& runs) {
  std::vector<std::string> list;
  for (const size_t run : runs) list.push_back(run_letter(run));
  return list;
}

// "A-C, E, F": three and more in a row by their ends.
std::string letter_ranges(const std::vector<size_t>& runs) {
  std::vector<std::string> parts;
  for (size_t from = 0; from < runs.size();) {
    size_t to = from;
    while (to + 1 < runs.size() && runs[to + 1] == runs[to] + 1) ++to;
    if (to < from + 2) to = from;
    parts.push_back(run_letter(runs[from]) + (to == from ? "" : "-" + run_letter(runs[to])));
    from = to + 1;
  }
  return join(parts);
}

std::string pair_name(const GroupPairReport& pair) {
  if (pair.base == pair.other) return "within " + group_label(pair.base);
  return cat(group_label(pair.other), " against ", group_label(pair.base));
}

// The mean over pairs and, of several, the worst beside it.
std::string spread_text(const Row& row, const GroupPairReport& pair) {
  const auto it = pair.values.find(row.key);
  if (it == pair.values.end()) return "";
  const Spread& spread = it->second;
  if (spread.least == spread.greatest) return value_text(row, spread.mean);
  return value_text(row, spread.mean) + " / " +
         value_text(row, row.better == Better::Higher ? spread.least : spread.greatest);
}

std::string group_tables(const Grouping& by) {
  std::vector<Column> groups = {{"group", true, {}}};
  for (const std::string& field : by.fields) groups.push_back({plain(field), true, {}});
  for (size_t i = 0; i < by.groups.size(); ++i) {
    groups[0].cells.push_back(group_label(i));
    for (size_t f = 0; f < by.fields.size(); ++f) groups[f + 1].cells.push_back(plain(by.groups[i].fields[f]));
  }
  Column runs{"runs", true, {}}, samples{"samples", false, {}}, judged{"judged", false, {}};
  for (const GroupReport& group : by.groups) {
    runs.cells.push_back(letters(group.runs));
    samples.cells.push_back(cat(group.n_predictions));
    judged.cells.push_back(group.n_judged == 0 ? "" : cat(group.n_judged));
  }
  for (Column* column : {&runs, &samples, &judged}) groups.push_back(std::move(*column));
  std::erase_if(groups, [](const Column& column) { return column.empty(); });
  add_metrics(Scope::Run, by.groups, &groups);
  std::string out = "\n" + layout(groups);
  if (by.pairs.empty()) return out;

  std::vector<Column> pairs = {{"groups", true, {}}, {"pairs", false, {}}};
  bool spread = false;
  for (const GroupPairReport& pair : by.pairs) {
    pairs[0].cells.push_back(pair_name(pair));
    pairs[1].cells.push_back(cat(pair.n_pairs));
    for (const auto& [key, value] : pair.values) spread = spread || value.least != value.greatest;
  }
  for (const Row& row : rows()) {
    if (row.scope != Scope::Pair || row.title.empty()) continue;
    Column column{std::string(row.title), false, {}};
    for (const GroupPairReport& pair : by.pairs) column.cells.push_back(spread_text(row, pair));
    if (column.empty()) continue;
    for (std::string& cell : column.cells) cell = cell.empty() ? "-" : cell;
    pairs.push_back(std::move(column));
  }
  out += "\n" + layout(pairs);
  if (spread) out += "where pairs differ: mean / worst\n";
  for (const Row& row : rows()) {
    const std::string value = row.scope == Scope::Report && by.groups.size() > 1 ? value_text(row, by.values) : "";
    if (!row.title.empty() && !value.empty()) out += cat("groups as runs: ", row.title, " ", value, "\n");
  }
  return out;
}

Json values_json(Scope scope, const Values& values) {
  Json map = Json::object();
  for (const Row& row : rows()) {
    if (row.scope != scope) continue;
    const auto it = values.find(row.key);
    map[std::string(row.key)] = it == values.end() ? Json() : number(it->second);
  }
  return map;
}

Json groups_json(const Grouping& by) {
  Json json = {{"fields", by.fields}, {"groups", Json::array()}, {"pairs", Json::array()}};
  for (size_t g = 0; g < by.groups.size(); ++g) {
    const GroupReport& group = by.groups[g];
    Json fields = Json::object(), runs = Json::array();
    for (size_t i = 0; i < by.fields.size(); ++i) fields[by.fields[i]] = group.fields[i];
    for (const size_t run : group.runs) runs.push_back(run_letter(run));
    json["groups"].push_back({{"group", group_label(g)},
                              {"fields", std::move(fields)},
                              {"runs", std::move(runs)},
                              {"n_predictions", group.n_predictions},
                              {"n_judged", group.n_judged},
                              {"values", values_json(Scope::Run, group.values)}});
  }
  for (const GroupPairReport& pair : by.pairs) {
    Json values = Json::object();
    for (const auto& [key, spread] : pair.values) {
      values[key] = {
          {"least", number(spread.least)}, {"mean", number(spread.mean)}, {"greatest", number(spread.greatest)}};
    }
    json["pairs"].push_back({{"base", group_label(pair.base)},
                             {"group", group_label(pair.other)},
                             {"n_pairs", pair.n_pairs},
                             {"values", std::move(values)}});
  }
  json["values"] = values_json(Scope::Report, by.values);
  return json;
}

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json comparison_json(const Comparison& comparison) {
  Json json = {{"baseline", comparison.baseline},
               {"changes", Json::array()},
               {"gone", comparison.gone},
               {"notes", comparison.notes}};
  for (const Change& change : comparison.changes) {
    Json entry = {{"run", run_letter(change.run)}};
    if (change.base) entry["base"] = run_letter(*change.base);
    entry["metric"] = change.row->key;
    entry["before"] = change.before ? number(*change.before) : Json();
    entry["now"] = change.now ? number(*change.now) : Json();
    entry["allowed"] = number(change.allowed);
    entry["verdict"] = verdict_name(change.verdict);
    json["changes"].push_back(std::move(entry));
  }
  return json;
}

Json classes_json(const Confusion& confusion) {
  Json list = Json::array();
  for (const ClassCounts& c : confusion.classes()) {
    list.push_back({{"class", c.label},
                    {"n_true", c.n_true},
                    {"n_predicted", c.n_predicted},
                    {"n_both", c.n_both},
                    {"precision", number(c.precision())},
                    {"sensitivity", number(c.sensitivity())},
                    {"f1", c.f1()}});
  }
  return list;
}

Json confusion_json(const Confusion& confusion) {
  Json list = Json::array();
  for (const auto& [cell, count] : confusion.cells()) list.push_back({cell.first, cell.second, count});
  return list;
}

std::string_view scope_name(Scope scope) {
  return scope == Scope::Run ? "run" : scope == Scope::Pair ? "pair" : "report";
}

// What users' programs say of runs, under the names that they gave it.
void add_own_metrics(const std::vector<RunReport>& runs, std::vector<Column>* columns) {
  std::set<std::string> names;
  for (const RunReport& run : runs) {
    for (const auto& [name, value] : run.own_values) names.insert(name);
  }
  for (const std::string& name : names) {
    Column column{plain(name), false, {}};
    for (const RunReport& run : runs) {
      const auto it = run.own_values.find(name);
      column.cells.push_back(it == run.own_values.end() ? "-" : number_text(it->second, "%.6g"));
    }
    columns->push_back(std::move(column));
  }
}

}  // namespace

std::string_view better_name(Better better) {
  return better == Better::Higher ? "higher" : better == Better::Lower ? "lower" : "neither";
}

std::string run_letter(size_t run_i) {
  return run_i < 26 ? std::string(1, static_cast<char>('A' + run_i)) : cat("R", run_i + 1);
}

std::string run_title(const stream::Header& header) {
  std::string title = model_name(header);
  for (const std::string& part : {level_text(header), plain(header.device)}) {
    if (!part.empty()) title += (title.empty() ? "" : " ") + part;
  }
  return title.empty() ? "unnamed" : title;
}

std::vector<std::vector<size_t>> alike_runs(const Report& report) {
  std::vector<std::vector<size_t>> groups;
  std::map<size_t, size_t> place;  // by first run
  for (size_t i = 0; i < report.alike.size(); ++i) {
    const auto [at, is_new] = place.emplace(report.alike[i], groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].push_back(i);
  }
  return groups;
}

std::vector<std::string> shard_notes(const Report& report) {
  std::vector<std::string> notes;
  for (size_t i = 0; i < report.runs.size(); ++i) {
    if (const std::string note = shard_note(report.runs[i]); !note.empty())
      notes.push_back(cat("run ", run_letter(i), ": ", note));
  }
  return notes;
}

std::string report_table(const Report& report) {
  std::vector<Column> columns = run_columns(report);
  add_metrics(Scope::Run, report.runs, &columns);
  add_own_metrics(report.runs, &columns);
  std::string out = layout(columns) + latency_note(report);
  for (const std::string& note : shard_notes(report)) out += note + "\n";
  if (!report.by.fields.empty()) return out + group_tables(report.by);
  if (report.pairs.empty()) return out;

  std::vector<Column> pairs = {{"pair", true, {}}, {"common", false, {}}};
  for (const PairReport& pair : report.pairs) {
    pairs[0].cells.push_back(cat(run_letter(pair.other), " against ", run_letter(pair.base)));
    pairs[1].cells.push_back(cat(pair.n_common));
  }
  add_metrics(Scope::Pair, report.pairs, &pairs);
  out += "\n" + layout(pairs);
  if (report.runs.size() > 2) {
    for (const std::vector<size_t>& runs : alike_runs(report)) {
      if (runs.size() > 1) out += cat("same predictions: ", letter_ranges(runs), "\n");
    }
  }
  for (const PairReport& pair : report.pairs) {
    if (!pair.note.empty())
      out += cat(run_letter(pair.other), " against ", run_letter(pair.base), ": ", pair.note, "\n");
  }
  if (report.runs.size() > 2) {  // of two runs the pair says it all
    for (const Row& row : rows()) {
      const std::string value = row.scope == Scope::Report ? value_text(row, report.values) : "";
      if (!row.title.empty() && !value.empty()) out += cat(row.title, " ", value, "\n");
    }
  }
  return out;
}

std::string report_json(const Report& report, const Comparison* comparison) {
  Json json = {{"metrics", Json::object()},
               {"runs", Json::array()},
               {"pairs", Json::array()},
               {"values", values_json(Scope::Report, report.values)}};
  for (const Row& row : rows()) {
    json["metrics"][std::string(row.key)] = {
        {"unit", row.unit}, {"better", better_name(row.better)}, {"text", row.text}};
  }
  for (size_t i = 0; i < report.runs.size(); ++i) {
    const RunReport& run = report.runs[i];
    json["runs"].push_back({{"run", run_letter(i)},
                            {"header", parse_ordered_json(stream::record_to_json(run.header))},
                            {"n_samples", run.n_samples},
                            {"n_predictions", run.n_predictions},
                            {"n_judged", run.n_judged},
                            {"values", values_json(Scope::Run, run.values)},
                            {"classes", classes_json(run.confusion)},
                            {"confusion", confusion_json(run.confusion)}});
    if (!run.shards.empty()) {
      for (const std::string& shard : run.shards) json["runs"].back()["shards"].push_back(utf8(shard));
      json["runs"].back()["n_missing_shards"] = run.n_missing_shards;
    }
    if (const std::string note = shard_note(run); !note.empty()) json["runs"].back()["note"] = note;
    for (const auto& [name, value] : run.own_values) json["runs"].back()["own_values"][utf8(name)] = number(value);
  }
  if (!report.runs.empty()) json["baseline"] = run_letter(report.baseline);
  json["alike"] = Json::array();
  for (const std::vector<size_t>& runs : alike_runs(report)) {
    if (runs.size() > 1) json["alike"].push_back(letters_of(runs));
  }
  for (const PairReport& pair : report.pairs) {
    Json entry = {{"base", run_letter(pair.base)},
                  {"run", run_letter(pair.other)},
                  {"n_common", pair.n_common},
                  {"values", values_json(Scope::Pair, pair.values)},
                  {"disagreements", Json::array()}};
    for (const Disagreement& d : pair.disagreements) {
      entry["disagreements"].push_back({{"sample", d.sample}, {"base_label", d.base_label}, {"label", d.other_label}});
    }
    if (!pair.note.empty()) entry["note"] = pair.note;
    json["pairs"].push_back(std::move(entry));
  }
  if (!report.by.fields.empty()) json["by"] = groups_json(report.by);
  if (comparison != nullptr) json["against"] = comparison_json(*comparison);
  return json_text(json) + "\n";
}

std::string comparison_table(const Comparison& comparison) {
  std::vector<Column> columns = {{"against " + plain(comparison.baseline), true, {}},
                                 {"metric", true, {}},
                                 {"before", false, {}},
                                 {"now", false, {}},
                                 {"change", false, {}},
                                 {"allowed", false, {}},
                                 {"unit", true, {}},
                                 {"", true, {}}};
  std::map<Verdict, size_t> counts;
  for (const Change& change : comparison.changes) {
    ++counts[change.verdict];
    if (change.verdict == Verdict::Same || change.verdict == Verdict::New) continue;
    const Row& row = *change.row;
    const std::string cells[] = {subject_of(change),
                                 std::string(row.key),
                                 value_text(row, *change.before),
                                 change.now ? value_text(row, *change.now) : "-",
                                 change.now ? signed_text(row, *change.now - *change.before) : "-",
                                 value_text(row, change.allowed),
                                 std::string(row.unit),
                                 std::string(verdict_name(change.verdict))};
    for (size_t c = 0; c < columns.size(); ++c) columns[c].cells.push_back(cells[c]);
  }
  std::string out = columns[0].cells.empty() ? "" : layout(columns);
  for (const std::string& title : comparison.gone) out += cat("gone: ", title, "\n");
  std::vector<std::string> parts;
  for (const Verdict verdict : {Verdict::Worse, Verdict::Gone, Verdict::Better, Verdict::Same, Verdict::New}) {
    if (counts[verdict] > 0) parts.push_back(cat(counts[verdict], " ", verdict_name(verdict)));
  }
  out += cat("against ", plain(comparison.baseline), ": ", parts.empty() ? "nothing to compare" : join(parts), "\n");
  for (const std::string& note : comparison.notes) out += cat("against ", plain(comparison.baseline), ": ", note, "\n");
  return out;
}

std::string disagreement_lines(const Report& report) {
  // A label's name, as one of the two runs has it; "" where neither does.
  const auto name_of = [&](const PairReport& pair, int64_t label) -> std::string {
    for (const size_t run : {pair.base, pair.other}) {
      const auto& names = report.runs[run].label_names;
      if (const auto name = names.find(label); name != names.end()) return clean(name->second);
    }
    return "";
  };
  std::string out;
  for (const PairReport& pair : report.pairs) {
    const bool named = !report.runs[pair.base].label_names.empty() || !report.runs[pair.other].label_names.empty();
    for (const Disagreement& d : pair.disagreements) {
      out += cat(run_letter(pair.base), "\t", run_letter(pair.other), "\t", clean(d.sample), "\t", d.base_label, "\t",
                 d.other_label);
      if (named) out += cat("\t", name_of(pair, d.base_label), "\t", name_of(pair, d.other_label));
      out += "\n";
    }
  }
  return out;
}

std::string confusion_lines(const Report& report) {
  std::string out;
  for (size_t i = 0; i < report.runs.size(); ++i) {
    for (const auto& [cell, count] : report.runs[i].confusion.cells()) {
      out += cat(run_letter(i), "\t", cell.first, "\t", cell.second, "\t", count, "\n");
    }
  }
  return out;
}

std::string metrics_list() {
  std::string out;
  for (const Row& row : rows()) {
    out +=
        cat(row.key, "\t", scope_name(row.scope), "\t", row.unit, "\t", better_name(row.better), "\t", row.text, "\n");
  }
  return out;
}

}  // namespace dnn::metrics
