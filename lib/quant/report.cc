// Reports; see report.h.
#include "quant/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/json_text.h"
#include "base/printable.h"
#include "base/rows.h"

namespace dnn::quant {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity: null.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json validation_json(const Validation& validation) {
  const metrics::Interval interval = validation.interval();
  return {{"samples", validation.samples},
          {"same_label", validation.same_label},
          {"with_truth", validation.with_truth},
          {"right_before", validation.right_before()},
          {"right_after", validation.right_after()},
          {"drop", validation.drop()},
          {"drop_interval", {interval.low, interval.high}},
          {"expected_drop", validation.expected_drop()},
          {"expected_error", validation.expected_error()}};
}

Json sums_json(const std::optional<Accumulators>& sums) {
  if (!sums) return {};
  Json channels = Json::array();
  for (size_t c = 0; c < sums->low.size(); ++c) channels.push_back({sums->low[c], sums->high[c]});
  return {
      {"channels", channels}, {"wraps", sums->wraps}, {"pairs_saturate", sums->pairs_saturate}, {"ties", sums->ties}};
}

Json part_json(const std::optional<SensitivityReport::Part>& part) {
  if (!part) return {};
  return {{"labels_changed", part->effect.relabelled},
          {"divergence", number(part->effect.mean_divergence())},
          {"output_error", number(part->effect.error())},
          {"sqnr_db", number(part->sqnr_db)}};
}

Json sensitivity_json(const SensitivityReport& report) {
  Json rows = Json::array();
  for (const SensitivityReport::Row& row : report.rows)
    rows.push_back({{"layer", row.layer},
                    {"op", row.op},
                    {"multiply_adds", row.share},
                    {"weights", part_json(row.weights)},
                    {"output", part_json(row.output)}});
  return {{"samples", report.samples}, {"labelled", report.labelled}, {"layers", rows}};
}

Json search_json(const SearchResult& search) {
  Json trials = Json::array();
  for (size_t t = 0; t < search.trials.size(); ++t) {
    const Trial& trial = search.trials[t];
    trials.push_back({{"float_layers", trial.choice.names},
                      {"float_multiply_adds", trial.choice.float_share},
                      {"bytes", trial.bytes},
                      {"median_ms", trial.median_ms},
                      {"search", validation_json(trial.search)},
                      {"judged", trial.judged ? validation_json(*trial.judged) : Json()},
                      {"written", t == search.best}});
  }
  return {{"max_drop", search.max_drop},
          {"seed", search.seed},
          {"searching", search.searching},
          {"judging", search.judging},
          {"holds", search.holds},
          {"searched", search.searched},
          {"trials", trials}};
}

// Labels and top-1 of a validation in a table's cells: what is lost, and of how many.
std::string lost(const Validation& validation) {
  if (validation.with_truth > 0)
    return cat(validation.right_before() - validation.right_after(), " of ", validation.with_truth);
  return cat(validation.samples - validation.same_label, " of ", validation.samples);
}

std::string interval_text(const Validation& validation) {
  const metrics::Interval interval = validation.interval();
  return cat(number_text(interval.low, "%.2f"), "..", number_text(interval.high, "%.2f"));
}

// True if another trial is better in one of accuracy and multiply-adds, and not worse in the other.
bool beaten(const SearchResult& search, const Trial& trial) {
  return std::any_of(search.trials.begin(), search.trials.end(), [&](const Trial& other) {
    const double drop = other.search.drop() - trial.search.drop();
    const double share = other.choice.float_share - trial.choice.float_share;
    return drop <= 0 && share <= 0 && (drop < 0 || share < 0);
  });
}

}  // namespace

std::string summary_text(const QuantizeReport& report) {
  int64_t worst = 0;
  for (size_t i = 0; i < report.quantizers.size(); ++i) {
    if (report.quantizers[i].cost.sqnr_db() < report.quantizers[worst].cost.sqnr_db()) worst = static_cast<int64_t>(i);
  }
  std::string text = cat(report.scheme, ", ", report.method, report.method.empty() ? "" : " of ",
                         counted(report.samples, "sample"), ": ", counted(report.integer_nodes, "operator"),
                         " on integers, ", report.weights.size(), " with int8 weights");
  if (!report.quantizers.empty()) {
    const QuantizerReport& lowest = report.quantizers[worst];
    char figure[32];
    std::snprintf(figure, sizeof figure, "%.1f", lowest.cost.sqnr_db());
    text += cat("; coarsest value '", lowest.values.front(), "', ", figure, " dB");
  }
  if (!report.left_float.empty()) text += cat("; ", report.left_float.size(), " left in float32");
  return text;
}

std::string validation_text(const Validation& validation) {
  const metrics::Interval interval = validation.interval();
  char text[200];
  if (validation.with_truth > 0) {
    std::snprintf(
        text, sizeof text,
        "top-1 %lld -> %lld of %lld (%+.2f points, 95 %% interval %+.2f to %+.2f); same label on %lld of %lld; "
        "expected drop %.2f +- %.2f",
        static_cast<long long>(validation.right_before()), static_cast<long long>(validation.right_after()),
        static_cast<long long>(validation.with_truth), 0 - validation.drop(), 0 - interval.high, 0 - interval.low,
        static_cast<long long>(validation.same_label), static_cast<long long>(validation.samples),
        validation.expected_drop(), validation.expected_error());
  } else {
    std::snprintf(text, sizeof text, "same label on %lld of %lld (%.2f %% changed, 95 %% interval %.2f to %.2f)",
                  static_cast<long long>(validation.same_label), static_cast<long long>(validation.samples),
                  validation.drop(), interval.low, interval.high);
  }
  return text;
}

std::string sensitivity_text(const SensitivityReport& report) {
  std::vector<words::Row> rows = {
      {"", "layer", "ops", "MACs %", "labels w", "labels a", "KL w", "KL a", "dB w", "dB a"}};
  const auto cells = [&](const std::optional<SensitivityReport::Part>& part) -> std::array<std::string, 3> {
    if (!part) return {"", "", ""};
    return {report.labelled ? cat(part->effect.relabelled) : "", number_text(part->effect.mean_divergence(), "%.3g"),
            number_text(part->sqnr_db, "%.1f")};
  };
  for (size_t i = 0; i < report.rows.size(); ++i) {
    const SensitivityReport::Row& row = report.rows[i];
    const auto w = cells(row.weights), a = cells(row.output);
    rows.push_back({cat(i + 1), plain(row.layer), row.op, number_text(100 * row.share, "%.1f"), w[0], a[0], w[1], a[1],
                    w[2], a[2]});
  }
  return cat("each layer rounded alone, worst first; ", counted(report.samples, "sample"),
             "; w: its weights, a: what it makes; labels: that change\n",
             report.labelled ? "KL: mean divergence of the classes' probabilities"
                             : "KL: here the relative squared error of the outputs",
             "; dB: signal over what the rounding adds to the layer's result\n",
             words::table(rows, {false, true, true, false, false, false, false, false, false, false}));
}

std::string split_text(const SearchResult& search) {
  return cat("--validate split by seed ", search.seed, ": ", counted(search.searching, "input"),
             search.searching == 1 ? " searches, " : " search, ", search.judging,
             search.judging == 1 ? " judges; " : " judge; ", counted(search.trials.size(), "choice"),
             " of layers tried");
}

std::string search_text(const SearchResult& search, const std::string& output) {
  std::vector<words::Row> rows = {
      {"layers in float32", "MACs %", "KiB", "ms", "search: lost", "judged: lost", "95 % interval", "expected", ""}};
  for (size_t t = 0; t < search.trials.size(); ++t) {
    const Trial& trial = search.trials[t];
    if (t != search.best && beaten(search, trial)) continue;
    rows.push_back({cat(trial.choice.layers), number_text(100 * trial.choice.float_share, "%.2f"),
                    cat((trial.bytes + 512) / 1024), number_text(trial.median_ms, "%.2f"), lost(trial.search),
                    trial.judged ? lost(*trial.judged) : "", trial.judged ? interval_text(*trial.judged) : "",
                    number_text(trial.all().expected_drop(), "%.2f"),
                    t == search.best ? cat("-> ", plain(output)) : ""});
  }
  return words::table(rows, {false, false, false, false, false, false, false, false, true});
}

std::string report_json(const Reports& reports) {
  const QuantizeReport& report = reports.report;
  Json quantizers = Json::array(), weights = Json::array(), left = Json::array(), underflow = Json::array();
  for (const QuantizerReport& q : report.quantizers) {
    quantizers.push_back({{"values", q.values},
                          {"seen", {q.seen.low, q.seen.high}},
                          {"range", {q.affine.lowest(), q.affine.highest()}},
                          {"scale", q.affine.scale},
                          {"zero_point", q.affine.zero_point},
                          {"dtype", dtype_name(q.affine.dtype)},
                          {"sqnr_db", number(q.cost.sqnr_db())},
                          {"clipped", q.cost.clipped}});
  }
  for (const WeightsReport& w : report.weights) {
    weights.push_back({{"node", w.node},
                       {"op", w.op},
                       {"value", w.value},
                       {"count", w.count},
                       {"channels", w.channels},
                       {"sqnr_db", number(w.sqnr_db)},
                       {"widened_for_bias", w.widened},
                       {"sums", sums_json(w.sums)}});
  }
  for (const QuantizeReport::Left& l : report.left_float)
    left.push_back({{"node", l.node}, {"op", l.op}, {"reason", l.reason}});
  for (const Underflow& u : report.underflow)
    underflow.push_back({{"layer", u.layer}, {"weights", u.weights}, {"zeros", u.zeros}, {"denormal", u.denormal}});
  Json json = {{"scheme", report.scheme},   {"method", report.method.empty() ? Json() : Json(report.method)},
               {"samples", report.samples}, {"integer_nodes", report.integer_nodes},
               {"quantizers", quantizers},  {"weights", weights},
               {"left_float", left},        {"underflow", underflow}};
  json["validation"] = reports.validation ? validation_json(*reports.validation) : Json();
  json["sensitivity"] = reports.sensitivity ? sensitivity_json(*reports.sensitivity) : Json();
  json["search"] = reports.search ? search_json(*reports.search) : Json();
  return json_text(json);
}

}  // namespace dnn::quant
