// Presentation of a report; see present.h.
#include "metrics/present.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace dnn::metrics {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kWidth = 100;

struct Column {
  std::string title;
  bool left = false;  // alignment
  std::vector<std::string> cells;

  size_t width() const {
    size_t width = title.size();
    for (const std::string& cell : cells) width = std::max(width, cell.size());
    return width;
  }
  bool empty() const {
    return std::all_of(cells.begin(), cells.end(), [](const std::string& cell) { return cell.empty(); });
  }
};

std::string padded(const std::string& text, size_t width, bool left) {
  const std::string space(width - std::min(width, text.size()), ' ');
  return left ? text + space : space + text;
}

// Columns side by side; those that do not fit go into further tables, each beginning with the first column.
std::string layout(const std::vector<Column>& columns) {
  std::string out;
  size_t next = 1;
  while (next < columns.size()) {
    std::vector<const Column*> row = {&columns[0]};
    size_t width = columns[0].width();
    while (next < columns.size() && (row.size() == 1 || width + 2 + columns[next].width() <= kWidth)) {
      width += 2 + columns[next].width();
      row.push_back(&columns[next++]);
    }
    if (!out.empty()) out += "\n";
    for (size_t line = 0; line <= columns[0].cells.size(); ++line) {
      std::string text;
      for (const Column* column : row) {
        if (column != row[0]) text += "  ";
        text += padded(line == 0 ? column->title : column->cells[line - 1], column->width(), column->left);
      }
      text.erase(text.find_last_not_of(' ') + 1);
      out += text + "\n";
    }
  }
  return out;
}

std::string value_text(const Row& row, const Values& values) {
  const auto it = values.find(row.key);
  if (it == values.end()) return "";
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, row.format, it->second);
  return buffer;
}

// The columns of all metrics of a scope that some row has a value for; absent values show as "-".
template <class Item>
void add_metrics(Scope scope, const std::vector<Item>& items, std::vector<Column>* columns) {
  for (const Row& row : rows()) {
    if (row.scope != scope || row.title.empty()) continue;
    Column column{std::string(row.title), false, {}};
    for (const Item& item : items) column.cells.push_back(value_text(row, item.values));
    if (column.empty()) continue;
    for (std::string& cell : column.cells) cell = cell.empty() ? "-" : cell;
    columns->push_back(std::move(column));
  }
}

// Text from a stream as it may go to a terminal.
std::string plain(const std::string& text) {
  const std::string q = dnn::quoted(text);
  return q.substr(1, q.size() - 2);
}

std::string model_name(const stream::Header& header) {
  const std::string& path = header.model.path.empty() ? header.tool : header.model.path;
  return plain(path.substr(path.rfind('/') + 1));
}

std::vector<Column> run_columns(const Report& report) {
  std::vector<Column> columns = {{"run", true, {}}, {"model", true, {}}, {"level", true, {}},    {"device", true, {}},
                                 {"isa", true, {}}, {"dtype", true, {}}, {"samples", false, {}}, {"judged", false, {}}};
  for (size_t i = 0; i < report.runs.size(); ++i) {
    const RunReport& run = report.runs[i];
    const stream::Header& h = run.header;
    const std::string cells[] = {
        run_letter(i), model_name(h),  h.opt ? cat("-O", *h.opt) : "", plain(h.device),
        plain(h.isa),  plain(h.dtype), cat(run.n_predictions),         run.n_judged == 0 ? "" : cat(run.n_judged)};
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

Json values_json(Scope scope, const Values& values) {
  Json map = Json::object();
  for (const Row& row : rows()) {
    if (row.scope != scope) continue;
    const auto it = values.find(row.key);
    map[std::string(row.key)] = it == values.end() ? Json() : number(it->second);
  }
  return map;
}

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

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

std::string_view better_name(Better better) {
  return better == Better::Higher ? "higher" : better == Better::Lower ? "lower" : "neither";
}

std::string_view scope_name(Scope scope) {
  return scope == Scope::Run ? "run" : scope == Scope::Pair ? "pair" : "report";
}

}  // namespace

std::string run_letter(size_t run_i) {
  return run_i < 26 ? std::string(1, static_cast<char>('A' + run_i)) : cat("R", run_i + 1);
}

std::string report_table(const Report& report) {
  std::vector<Column> columns = run_columns(report);
  add_metrics(Scope::Run, report.runs, &columns);
  std::string out = layout(columns) + latency_note(report);
  if (report.pairs.empty()) return out;

  std::vector<Column> pairs = {{"pair", true, {}}, {"common", false, {}}};
  for (const PairReport& pair : report.pairs) {
    pairs[0].cells.push_back(cat(run_letter(pair.other), " against ", run_letter(pair.base)));
    pairs[1].cells.push_back(cat(pair.n_common));
  }
  add_metrics(Scope::Pair, report.pairs, &pairs);
  out += "\n" + layout(pairs);
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

std::string report_json(const Report& report) {
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
                            {"header", Json::parse(stream::record_to_json(run.header))},
                            {"n_samples", run.n_samples},
                            {"n_predictions", run.n_predictions},
                            {"n_judged", run.n_judged},
                            {"values", values_json(Scope::Run, run.values)},
                            {"classes", classes_json(run.confusion)},
                            {"confusion", confusion_json(run.confusion)}});
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
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string disagreement_lines(const Report& report) {
  std::string out;
  for (const PairReport& pair : report.pairs) {
    for (const Disagreement& d : pair.disagreements) {
      out += cat(run_letter(pair.base), "\t", run_letter(pair.other), "\t", d.sample, "\t", d.base_label, "\t",
                 d.other_label, "\n");
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
