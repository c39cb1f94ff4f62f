// Kenning's measurements of a run; see legacy.h.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/text.h"
#include "metrics/groups.h"
#include "report/legacy.h"

namespace dnn::report {
namespace {

using Json = nlohmann::json;
using metrics::Outcome;

constexpr std::string_view kRequestTime = "protocol_inference_step";
constexpr int64_t kMostClasses = 10'000;  // of the dense confusion matrix
// Its cells, nearly all of them 0: as many as ImageNet's classes have, and more only where that many predictions ask for it.
constexpr int64_t kMostCells = 1'000'000, kCellsPerPrediction = 100;

// Classes that have a number in the matrix; what stands before the first label (a background class) has none.
bool in_matrix(int64_t label) { return label >= 0 && label < kMostClasses; }

void put_classes(const metrics::Evaluation& evaluation, const metrics::RunReport& run, size_t run_i, Json* json) {
  std::map<std::pair<int64_t, int64_t>, int64_t> cells;
  int64_t n_classes = run.label_names.empty() ? 0 : run.label_names.rbegin()->first + 1;
  int64_t n_judged = 0, n_top5 = 0;
  bool all_have_five = true, all_in_matrix = n_classes <= kMostClasses;
  evaluation.for_each(run_i, [&](const std::string&, const Outcome& outcome) {
    if (!outcome.truth || outcome.labels.empty()) return;
    ++n_judged;
    const int64_t truth = *outcome.truth, best = outcome.labels[0].item();
    all_in_matrix = all_in_matrix && in_matrix(truth) && in_matrix(best);
    if (!all_in_matrix) return;
    ++cells[{truth, best}];
    n_classes = std::max({n_classes, truth + 1, best + 1});
  });
  evaluation.for_each(run_i, [&](const std::string&, const Outcome& outcome) {
    if (!outcome.truth || outcome.labels.empty()) return;
    all_have_five = all_have_five && outcome.labels.size() >= 5;
    const size_t n = std::min<size_t>(5, outcome.labels.size());
    for (size_t i = 0; i < n; ++i) n_top5 += outcome.labels[i].item() == *outcome.truth;
  });
  if (n_classes <= kMostClasses) {
    Json names = Json::array();
    for (int64_t label = 0; label < n_classes; ++label) {
      const auto it = run.label_names.find(label);
      names.push_back(it == run.label_names.end() ? std::to_string(label) : it->second);
    }
    (*json)["class_names"] = std::move(names);
  }
  if (n_judged == 0) return;
  (*json)["total"] = n_judged;
  if (all_have_five) (*json)["top_5_count"] = n_top5;
  if (!all_in_matrix || n_classes * n_classes > std::max(kMostCells, kCellsPerPrediction * n_judged)) return;
  const size_t size = n_classes;
  std::vector<std::vector<int64_t>> matrix(size, std::vector<int64_t>(size, 0));  // rows are the truth
  for (const auto& [cell, count] : cells) {
    matrix[cell.first][cell.second] = count;
  }
  (*json)["eval_confusion_matrix"] = matrix;
}

// Under the name of what was measured: the device's own time, or the whole way there and back.
void put_times(const metrics::Evaluation& evaluation, const stream::Header& header, size_t run_i, Json* json) {
  Json times = Json::array(), timestamps = Json::array();
  double sum = 0;
  evaluation.for_each(run_i, [&](const std::string&, const Outcome& outcome) {
    if (!outcome.latency_ns) return;
    const double seconds = static_cast<double>(*outcome.latency_ns) * 1e-9 / static_cast<double>(outcome.batch);
    sum += seconds;
    times.push_back(seconds);
    timestamps.push_back(sum);
  });
  if (times.empty()) return;
  const std::string name =
      starts_with(header.latency_contains, kRequestTime) ? std::string(kRequestTime) : "target_inference_step";
  (*json)[name] = std::move(times);
  (*json)[name + "_timestamp"] = std::move(timestamps);  // time in the network so far
}

// A series of each thing that was measured at all; one without is not there.
void put_usage(const metrics::RunReport& run, Json* json) {
  Json cores = Json::array(), timestamps = Json::array(), gpu = Json::array(), gpu_timestamps = Json::array();
  for (const stream::Usage& usage : run.usage) {
    const double seconds = static_cast<double>(usage.time_ns) * 1e-9;
    if (!usage.cores_percent.empty()) {
      Json percents = Json::array();
      for (const std::optional<double>& percent : usage.cores_percent)
        percents.push_back(percent ? Json(*percent) : Json());
      cores.push_back(std::move(percents));
      timestamps.push_back(seconds);
    }
    if (usage.gpu_percent) {
      gpu.push_back(*usage.gpu_percent);
      gpu_timestamps.push_back(seconds);
    }
  }
  if (!cores.empty()) {
    (*json)["session_utilization_cpus_percent"] = std::move(cores);
    (*json)["session_utilization_timestamp"] = std::move(timestamps);
  }
  if (!gpu.empty()) {
    (*json)["session_utilization_gpu_utilization"] = std::move(gpu);
    (*json)["session_utilization_gpu_timestamp"] = std::move(gpu_timestamps);
  }
}

}  // namespace

std::string measurements_json(const metrics::Evaluation& evaluation, const metrics::RunReport& run, size_t run_i) {
  const stream::Header& header = run.header;
  const std::string framework = metrics::field_text(header, "framework");
  const bool own = framework == "own" && header.tool != "kenning";
  const auto others = header.host.find("compiler");  // of a run that Kenning measured
  Json json = {{"model_framework", header.model.format},
               {"model_version", nullptr},
               {"compiler_framework", own                           ? Json("dnn-tools")
                                      : others != header.host.end() ? Json(others->second)
                                      : framework == "own"          ? Json()
                                                                    : Json(framework)},
               {"compiler_version", own || header.isa.empty() ? Json() : Json(header.isa)},
               {"command", header.command}};
  put_classes(evaluation, run, run_i, &json);
  put_times(evaluation, header, run_i, &json);
  put_usage(run, &json);
  return json_text(json, 2) + "\n";
}

}  // namespace dnn::report
