// What is decided before a run: preprocessing, labels, the stream's header; and how its figures read.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "infer/runner.h"
#include "infer/sample_source.h"

namespace dnn {

// The preprocessing of images for the network's only input, whose layout and size it follows: the one of that name, or
// where `name` is empty "none" with what is spelled out, or what the model's metadata "preprocess" holds (a name or the
// JSON of to_json); nullopt when nothing says. Throws Usage, Unsupported for an input that no RGB image fits.
std::optional<Preprocess> choose_preprocess(const Package& package, const BatchPlan& plan, const std::string& name,
                                            const PreprocessOptions& spelled_out, bool apply_orientation);

struct RunLabels {
  std::optional<LabelSet> set;  // fitted to the network
  std::string name;             // of the set; "" without one
  int64_t offset = 0;           // class - offset is the label: 1 for a network with a background class
};

// Classes of an output: its one extent that is not 1, the batch aside.
int64_t class_count(const Package& package, const BatchPlan& plan, const std::string& output);

// The labels in `path` fitted to the network. Without a path the names of the images' folders, sorted, where they are as
// many as the network has classes.
RunLabels choose_labels(const std::string& path, const std::vector<std::string>& inputs, int64_t n_classes);

// The facts of a run that the package, the session and the options tell; `device` as the user named it.
stream::Header make_header(const Session& session, const BatchPlan& plan, const std::string& device,
                           const RunLabels& labels, const std::optional<Preprocess>& preprocess, const Shard& shard);

// Two lines: what was done, and the latency's mean, spread, extremes and percentiles in ms.
std::vector<std::string> summary_lines(const RunSummary& summary, const BatchPlan& plan);

// Device index text of a name like "cpu:f64" or "opencl:0": whether it asks for float64.
bool wants_float64(const std::string& device);

}  // namespace dnn
