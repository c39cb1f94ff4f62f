// Reports; see report.h.
#include "quant/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace dnn::quant {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity: null.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

}  // namespace

std::string summary_text(const QuantizeReport& report) {
  int64_t worst = 0;
  for (size_t i = 0; i < report.quantizers.size(); ++i) {
    if (report.quantizers[i].cost.sqnr_db() < report.quantizers[static_cast<size_t>(worst)].cost.sqnr_db())
      worst = static_cast<int64_t>(i);
  }
  std::string text = cat(report.scheme, ", ", report.method, " of ", report.samples, " samples: ", report.integer_nodes,
                         " operators on integers, ", report.weights.size(), " with int8 weights");
  if (!report.quantizers.empty()) {
    const QuantizerReport& lowest = report.quantizers[static_cast<size_t>(worst)];
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
        "top-1 %lld -> %lld of %lld (%.2f points lost, 95 %% interval %.2f to %.2f); same label on %lld of %lld",
        static_cast<long long>(validation.right_before()), static_cast<long long>(validation.right_after()),
        static_cast<long long>(validation.with_truth), validation.drop(), interval.low, interval.high,
        static_cast<long long>(validation.same_label), static_cast<long long>(validation.samples));
  } else {
    std::snprintf(text, sizeof text, "same label on %lld of %lld (%.2f %% changed, 95 %% interval %.2f to %.2f)",
                  static_cast<long long>(validation.same_label), static_cast<long long>(validation.samples),
                  validation.drop(), interval.low, interval.high);
  }
  return text;
}

std::string report_json(const QuantizeReport& report, const std::optional<Validation>& validation) {
  Json quantizers = Json::array(), weights = Json::array(), left = Json::array();
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
                       {"widened_for_bias", w.widened}});
  }
  for (const QuantizeReport::Left& l : report.left_float)
    left.push_back({{"node", l.node}, {"op", l.op}, {"reason", l.reason}});
  Json json = {{"scheme", report.scheme},   {"method", report.method},
               {"samples", report.samples}, {"integer_nodes", report.integer_nodes},
               {"quantizers", quantizers},  {"weights", weights},
               {"left_float", left},        {"validation", nullptr}};
  if (validation) {
    const metrics::Interval interval = validation->interval();
    json["validation"] = {{"samples", validation->samples},
                          {"same_label", validation->same_label},
                          {"with_truth", validation->with_truth},
                          {"right_before", validation->right_before()},
                          {"right_after", validation->right_after()},
                          {"drop", validation->drop()},
                          {"drop_interval", {interval.low, interval.high}}};
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace dnn::quant
