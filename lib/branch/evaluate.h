// Measuring branched networks: all branches at once, against each device alone and against the best of them with all its threads.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "branch/config.h"
#include "branch/judge.h"
#include "branch/placement.h"
#include "place/measure.h"
#include "place/timeline.h"

namespace dnn::branch {

using place::kWorthIt;

struct EvaluateRequest {
  std::vector<std::string> configs;  // files, models and configurations; of a folder all .yaml files below it
  std::string baseline;              // the model that runs on single devices; "": the branched one itself
  std::vector<Part> parts;
  std::string output;    // result.csv; the JSON stands beside it
  std::string timeline;  // where a Chrome trace of one inference goes; "": nowhere
  std::string image, preprocess = "imagenet-torch";
  std::string data;     // labelled images that each network is judged on; "": none
  std::string weights;  // of configurations: a file, or a folder of files called as they are; "": random ones
  int64_t runs = 50, warmup = 5, image_size = 0;
  uint64_t seed = 1;
  CompileOptions compile;
  std::function<void(const std::string&)> say, warn;
};

using place::Latency;
using place::latency_of;

struct Baseline {
  std::string name;  // "C (cpu@0)", "cpu@0-1"
  Latency latency;
  bool same_bits = false;  // as the branches give together
};

struct EvaluateResult {
  std::string cfg;
  int64_t image_size = 0, params = 0, flops = 0;
  bool branched = false;
  Latency latency;
  std::optional<Accuracy> accuracy;
  std::optional<double> energy_uj;
  std::string energy_contains;
  place::RunReport runs;             // segments, merges and copies of the branches
  std::vector<Baseline> alone;       // each part alone
  std::optional<Baseline> together;  // all processors of the parts as one device, where there are several
  // By turn, of the first two of these processors: place::line_round_trip_ns().
  std::vector<double> line_ns;
  // The best of these baselines, its time by this one's, and 1/(sum of 1/t) of the parts alone.
  std::string best;
  double best_us = 0, ratio = 0, bound_us = 0;
};

// A configuration, or a model of any format whose nodes are called after devices.
EvaluateResult evaluate_config(const std::string& cfg, const EvaluateRequest& request);

// The network `cfg`, in memory, with `alone` on single devices. Types inferred and fixed. The counts stay 0.
EvaluateResult evaluate_graph(const std::string& cfg, const Graph& graph, const Graph& alone,
                              const EvaluateRequest& request);

// Each configuration that the CSV does not hold yet, into CSV and JSON as soon as it is measured. Throws Usage before anything is
// measured where a configuration needs a device that is not given.
void evaluate(const EvaluateRequest& request);

// Rows of "cfg,latency,energy" in us and uJ; an energy that cannot be read is empty.
std::string csv_row(const EvaluateResult& result);
std::string result_json(const EvaluateResult& result);  // one object
std::string result_line(const EvaluateResult& result);  // for the person
// A line as pycls writes it: 'json_stats: {"_type":"test_epoch", ...}'. The result has an accuracy.
std::string stats_line(const EvaluateResult& result);
// Chrome's trace events of the last run of each.
std::string timeline_json(const std::vector<EvaluateResult>& results);

}  // namespace dnn::branch
