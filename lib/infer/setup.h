// What is decided before a run: preprocessing, labels, the stream's header; and how its figures read.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compile/open.h"
#include "infer/runner.h"
#include "infer/sample_source.h"

namespace dnn {

// What a user says of the network to run; texts as on a command line, empty where not given.
struct NetworkOptions {
  DeviceSpec device = "cpu";
  std::string isa, passes;
  std::optional<std::string> precision;   // that float32 numbers are computed in, as element_named() takes it
  std::optional<std::string> arithmetic;  // of quantised operators, as arithmetic_named() takes it
  bool as_written = false;                // without it, -O0 computes each node as it stands
  std::optional<std::string> level;       // default 3; reference 0, a framework without levels none
  std::vector<std::string> shapes;
  std::optional<int64_t> batch;
  bool trust = false;
  bool trust_model = false;  // a framework gets the model's own file, whatever it may run
  std::function<std::string(const std::string& variable)> variable = {};  // of the environment, which devices ask for
};

// The same as options for open_package; folders and log sinks are the caller's. Throws Usage.
OpenOptions open_options(const NetworkOptions& options);

// Makes code for the best instruction set and the processor that the machine of a connected device has.
void compile_for_machine_of(const DeviceSpec& device, CompileOptions* options);

// The level that a framework runs at; nullopt where it has none, and for other devices. Throws Usage.
std::optional<int> framework_level(const NetworkOptions& options);

// The device that a package was compiled for, the first of its kind.
DeviceSpec device_of_package(const Package& package);

// What --list-devices prints: the devices of this machine, or of the connected one that `device` is on, a line each.
std::vector<std::string> device_lines(const DeviceSpec& device, const DeviceOptions& options,
                                      const std::function<void(const std::string& message)>& warn);

// Throws Usage unless a ready-made package, from `path`, is what is asked for.
void check_package(const std::string& path, const NetworkOptions& options, const Package& package,
                   const BatchPlan& plan);

// Threads that decode ahead: as asked, or else one where the network leaves a processor free, so that the two do not
// compete. Throws Usage.
int decode_threads(const std::optional<int64_t>& asked, const Session& session);

// The preprocessing of images for the network's only input, whose layout and size it follows: the one of that name, or
// where `name` is empty "none" with what is spelled out, or what the model's metadata "preprocess" holds (a name or fields of
// the JSON of to_json); nullopt when nothing says. Throws Usage, Unsupported for an input that neither an RGB nor a grey image fits.
std::optional<Preprocess> choose_preprocess(const Package& package, const BatchPlan& plan, const std::string& name,
                                            const PreprocessOptions& spelled_out, bool apply_orientation);

struct RunLabels {
  std::optional<LabelSet> set;  // fitted to the network
  std::string name;             // of the set; "" without one
  int64_t offset = 0;           // class - offset is the label: 1 for a network with a background class
};

// Classes of an output: its one extent that is not 1, the batch aside.
int64_t class_count(const Package& package, const BatchPlan& plan, const std::string& output);

// The labels in `path` fitted to the network. Without a path those of the model's metadata "labels" (as in a label file), or the
// names of the images' folders, sorted, where they are as many as the network has classes.
RunLabels choose_labels(const Package& package, const std::string& path, const std::vector<std::string>& inputs,
                        int64_t n_classes);

// The facts of a run that the package, the session and the options tell; `device` as the user named it.
stream::Header make_header(const Session& session, const BatchPlan& plan, const std::string& device,
                           const RunLabels& labels, const std::optional<Preprocess>& preprocess, const Shard& shard);

// The same of what usage records hold: at what interval, what their energy covers, which GPUs.
void describe_usage(const usage::Source& usage, int interval_ms, stream::Header* header);

// Milliseconds between usage records, of --usage[=MS]. Throws Usage.
int usage_interval_ms(const std::string& text);

// Adds the headers of the streams that the samples come from, and what they say of the samples.
void inherit(std::vector<stream::Header> inputs, stream::Header* header);

// Two lines: what was done, and the latency's mean, spread, extremes and percentiles in ms; with usage, whose source has stopped, a
// third: what the run took, or why that is not known.
std::vector<std::string> summary_lines(const RunSummary& summary, const BatchPlan& plan,
                                       const usage::Source* usage = nullptr);

// A warning where the latencies are of two kinds, else "". `pinned`: the run was kept to processors.
std::string modes_warning(const metrics::Values& values, bool pinned);

}  // namespace dnn
