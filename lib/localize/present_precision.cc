// Reports of layers' precision; see precision_model.h.
#include <algorithm>

#include "base/counted.h"
#include "base/rows.h"
#include "localize/precision_model.h"
#include "localize/words.h"

namespace dnn {
namespace {

using Json = nlohmann::ordered_json;
using words::json_number;
using words::number;

constexpr size_t kMostNamed = 12;  // in one line

const char* role_name(PrecisionSpot::Role role) {
  switch (role) {
    case PrecisionSpot::Role::Input: return "input";
    case PrecisionSpot::Role::Constant: return "constant";
    case PrecisionSpot::Role::Output: return "output";
  }
  return "";
}

// A layer by the first of its nodes that has a name, or by what it makes.
std::string precision_label(const PrecisionLayer& layer) {
  const auto named =
      std::find_if(layer.nodes.begin(), layer.nodes.end(), [](const std::string& name) { return !name.empty(); });
  return plain(named == layer.nodes.end() ? layer.value : *named);
}

std::string effect_text(const PrecisionReport& report, const PrecisionEffect& effect) {
  return cat(report.labelled ? cat(effect.relabelled.size(), " of ", counted(report.n_samples, "label"),
                                   report.n_samples == 1 ? " differs, " : " differ, ")
                             : "",
             "outputs by ", number(effect.error), " (relative L2), at most ", number(effect.max_abs), " of ",
             number(effect.largest));
}

std::string bound_text(const PrecisionReport& report) {
  std::string labels = report.labelled ? "no label differs" : "";
  if (!report.tolerance) return labels;
  return cat(labels, labels.empty() ? "" : " and ", "outputs are within ", number(report.tolerance->atol), " + ",
             number(report.tolerance->rtol), " of their largest");
}

std::string spot_text(const PrecisionSpot& spot) {
  std::vector<std::string> what;
  if (spot.loss.to_infinity > 0) what.push_back(cat(spot.loss.to_infinity, " to infinity"));
  if (spot.loss.to_zero > 0) what.push_back(cat(spot.loss.to_zero, " to 0"));
  return cat(role_name(spot.role), " ", plain(spot.value), ": of ", spot.loss.n, " numbers ", join(what));
}

std::string kept_text(const PrecisionReport& report) {
  const std::string bound = bound_text(report);
  if (!report.keeps) {
    const auto holds =
        std::find_if(report.trials.rbegin(), report.trials.rend(), [](const auto& t) { return t.holds; });
    return cat("the time ran out before it was known how few layers must stay in float32",
               holds == report.trials.rend() ? "" : cat("; ", holds->kept, " are enough"), "\n");
  }
  const size_t n = *report.keeps;
  if (n == 0) return cat("no layer has to stay in float32: ", bound, "\n");
  std::string out = cat(counted(n, "layer"), " of ", report.layers.size(), n == 1 ? " has" : " have",
                        " to stay in float32, so that ", bound, ":\n");
  for (size_t i = 0; i < std::min(n, kMostNamed); ++i)
    out += cat(i == 0 ? "  " : ", ", precision_label(report.layers[i]));
  out += n > kMostNamed ? cat(" and ", n - kMostNamed, " more\n") : "\n";
  for (size_t k : {n, n - 1}) {
    const PrecisionReport::Trial* trial = report.trial(k);
    if (trial != nullptr && k > 0)
      out += cat("  the first ", k, " in float32, all others rounded: ", effect_text(report, trial->effect), "\n");
  }
  return out;
}

Json effect_json(const PrecisionReport& report, const PrecisionEffect& effect) {
  Json paths = Json::array();
  for (size_t s : effect.relabelled) paths.push_back(report.paths[s]);
  return {{"error", json_number(effect.error)},
          {"max_abs", json_number(effect.max_abs)},
          {"largest", json_number(effect.largest)},
          {"relabelled", paths}};
}

Json trial_json(const PrecisionReport& report, const PrecisionReport::Trial& trial) {
  return {{"kept", trial.kept}, {"outputs", effect_json(report, trial.effect)}, {"holds", trial.holds}};
}

}  // namespace

std::string precision_text(const JudgedPrecision& judged, int64_t top) {
  const PrecisionReport& report = judged.report;
  std::string out = cat("model ", plain(judged.model), "\n", counted(report.n_samples, "sample"),
                        judged.not_judged.text(), ", ", counted(report.layers.size(), "layer"), " in ",
                        dtype_name(report.dtype), " or float32, on ", judged.device, "\n");
  if (report.ran_out == true) out += "the time ran out (--time-limit): samples or trials were left out\n";
  if (!report.left_alone.empty())
    out += cat("in float32 throughout, as they hold subgraphs: ", plain(join(report.left_alone)), "\n");
  if (const PrecisionReport::Trial* all = report.trial(0))
    out += cat("all layers rounded: ", effect_text(report, all->effect), "\n");
  out += kept_text(report);
  const size_t n = top == 0 ? report.layers.size() : std::min(report.layers.size(), static_cast<size_t>(top));
  out += cat("\neach layer rounded by itself, worst first", n < report.layers.size() ? cat(" (the first ", n, ")") : "",
             ":\n");
  std::vector<words::Row> rows = {{"", "layer", "ops", "labels", "outputs", "itself", "to inf", "to 0", ""}};
  for (size_t i = 0; i < n; ++i) {
    const PrecisionLayer& layer = report.layers[i];
    const RoundingLoss loss = layer.loss();
    rows.push_back({cat(i + 1), precision_label(layer), plain(join(layer.ops, "+")),
                    cat(layer.effect.relabelled.size()), number(layer.effect.error), number(layer.own_error),
                    cat(loss.to_infinity), cat(loss.to_zero), layer.stays ? "stays" : ""});
  }
  out += words::table(rows, {false, true, true, false, false, false, false, false, true});
  out += "outputs, itself: relative L2 error of the network's outputs and of what the layer makes\n";
  std::string overflows;
  for (size_t i = 0; i < n; ++i) {
    for (const PrecisionSpot& spot : report.layers[i].spots) {
      if (spot.loss.to_infinity > 0)
        overflows += cat("  ", precision_label(report.layers[i]), ": ", spot_text(spot), "\n");
    }
  }
  if (!overflows.empty()) out += cat("\nbeyond the largest ", dtype_name(report.dtype), ":\n", overflows);
  return out;
}

std::string precision_json(const JudgedPrecision& judged) {
  const PrecisionReport& report = judged.report;
  Json layers = Json::array();
  for (const PrecisionLayer& layer : report.layers) {
    Json spots = Json::array();
    for (const PrecisionSpot& spot : layer.spots)
      spots.push_back({{"role", role_name(spot.role)},
                       {"value", spot.value},
                       {"numbers", spot.loss.n},
                       {"to_infinity", spot.loss.to_infinity},
                       {"to_zero", spot.loss.to_zero}});
    layers.push_back({{"value", layer.value},
                      {"nodes", layer.nodes},
                      {"ops", layer.ops},
                      {"parameters", layer.n_parameters},
                      {"error", json_number(layer.own_error)},
                      {"outputs", effect_json(report, layer.effect)},
                      {"lost", spots},
                      {"stays", layer.stays}});
  }
  Json trials = Json::array();
  for (const PrecisionReport::Trial& trial : report.trials) trials.push_back(trial_json(report, trial));
  const auto tolerance = [&](double OutputTolerance::*part) {
    return report.tolerance ? json_number((*report.tolerance).*part) : Json();
  };
  Json json = {{"model", judged.model},
               {"dtype", dtype_name(report.dtype)},
               {"device", judged.device},
               {"samples", report.paths},
               {"labelled", report.labelled},
               {"atol", tolerance(&OutputTolerance::atol)},
               {"rtol", tolerance(&OutputTolerance::rtol)},
               {"layers", layers},
               {"left_alone", report.left_alone},
               {"keeps", report.keeps ? Json(*report.keeps) : Json()},
               {"trials", trials}};
  judged.not_judged.put_into(&json);
  if (report.ran_out) json["ran_out"] = *report.ran_out;
  return words::json_line(json);
}

std::string precision_csv(const JudgedPrecision& judged) {
  std::string out = words::csv_line({"rank", "layer", "nodes", "ops", "parameters", "samples", "labels_differing",
                                     "output_error", "output_max_abs", "error", "to_infinity", "to_zero", "stays"});
  size_t rank = 0;
  for (const PrecisionLayer& layer : judged.report.layers) {
    const RoundingLoss loss = layer.loss();
    out +=
        words::csv_line({cat(++rank), layer.value, join(layer.nodes, " "), join(layer.ops, " "),
                         cat(layer.n_parameters), cat(judged.report.n_samples), cat(layer.effect.relabelled.size()),
                         exact_text(layer.effect.error), exact_text(layer.effect.max_abs), exact_text(layer.own_error),
                         cat(loss.to_infinity), cat(loss.to_zero), layer.stays ? "1" : "0"});
  }
  return out;
}

}  // namespace dnn
