// What is decided before a run; see setup.h.
#include "infer/setup.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include "base/counted.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/threads.h"
#include "compile/arithmetic.h"
#include "devices/library.h"
#include "devices/remote.h"
#include "graph/bind.h"
#include "image/pack.h"
#include "ops/op.h"
#include "passes/pass.h"
#include "usage/machine.h"

namespace dnn {
namespace {

// By the type of what it reads: how much arithmetic there is; where nothing is computed, as in networks that move numbers, how many
// numbers are made.
std::map<DType, double> work_by_type(const Variant& variant) {
  const Graph& graph = *variant.graph;
  std::map<DType, double> work;
  const auto add = [&](const Node& node, double flops) {
    const ValueId x = node.input(0);
    if (x != kNoValue && flops > 0) work[graph.value(x).type.dtype] += flops;
  };
  for (const Step& step : variant.steps) {
    if (step.node >= 0) add(graph.node(step.node), step.flops);
  }
  if (!work.empty()) return work;
  for (NodeId id : graph.order()) add(graph.node(id), node_flops(graph, graph.node(id)));
  if (!work.empty()) return work;
  for (NodeId id : graph.order()) {
    for (ValueId v : graph.node(id).outputs) {
      if (v == kNoValue || !graph.value(v).type.fixed()) continue;
      work[graph.value(v).type.dtype] += static_cast<double>(element_count(graph.value(v).type.fixed_shape()));
    }
  }
  return work;
}

// The dtype that most of the arithmetic reads: "int8" or "int16" of integers of so many bits, with or without a sign, which passes exchange;
// that of networks of other integers, of float64 and of 16-bit floats; otherwise `element`, which packages name.
std::string precision_run(const Variant& variant, const std::string& element) {
  std::map<DType, double> work = work_by_type(variant);
  work.erase(DType::Undefined);  // of types that are not known
  const auto most =
      std::max_element(work.begin(), work.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == work.end() || most->first == DType::Float32) return element;
  const size_t size = dtype_size(most->first);
  return is_integer(most->first) && size <= 2 ? cat("int", 8 * size) : std::string(dtype_name(most->first));
}

std::string metadata_of(const Package& package, std::string_view key) {
  for (const auto& [name, text] : package.graph().metadata) {
    if (name == key) return text;
  }
  return "";
}

std::string milliseconds(const metrics::Values& values, const char* key) {
  const auto it = values.find(key);
  if (it == values.end()) return "-";
  return number_text(it->second, "%.3f");
}

// The best instruction set of those that another machine has and that code is compiled for here; "" where it has none.
std::string best_of(const std::vector<std::string>& of_machine) {
  std::string best;
  for (const Isa& known : isas()) {
    if (known.architecture == Arch::None) continue;
    if (std::find(of_machine.begin(), of_machine.end(), known.name) != of_machine.end()) best = known.name;
  }
  return best;
}

bool is_level(int64_t number) { return number >= 0 && number <= levels().back().number; }

}  // namespace

std::optional<int> framework_level(const NetworkOptions& o) {
  const Framework* framework = o.device.framework();
  if (framework == nullptr) return std::nullopt;
  if (!o.passes.empty() || !o.isa.empty() || o.precision || o.arithmetic)
    fail_usage(!o.passes.empty() ? "--pass"
               : !o.isa.empty()  ? "--isa"
               : o.precision     ? "--precision"
                                 : "--arithmetic",
               " is for what is compiled here; ", o.device, " is a framework");
  if (o.level && !framework->levels)
    fail_usage("-O ", *o.level, ": ", framework->name, " has no levels, it runs as it is");
  int64_t level = 3;
  if (o.level && !parse_int(*o.level, &level)) level = -1;
  if (!is_level(level)) fail_usage("-O ", *o.level, ": choose from 0 to ", levels().back().number);
  return framework->levels ? std::optional<int>(static_cast<int>(level)) : std::nullopt;
}

OpenOptions open_options(const NetworkOptions& o) {
  OpenOptions open;
  open.compile.device = o.device.kind();
  if (o.precision) open.compile.element = element_named(*o.precision);
  if (o.device.float64()) {
    if (o.precision) fail_usage("--precision ", *o.precision, ": ", o.device, " computes in float64");
    if (o.arithmetic.value_or("onnx") != "onnx")
      fail_usage("--arithmetic ", *o.arithmetic, ": ", o.device, " computes in float64");
    open.compile.element = DType::Float64;
  }
  int64_t level = open.compile.device == std::string("reference") ? 0 : 3;
  if (o.level && (!parse_int(*o.level, &level) || !is_level(level)))
    fail_usage("-O ", *o.level, ": choose from 0 to ", levels().back().number);
  framework_level(o);
  open.compile.opt = o.device.framework() != nullptr ? 0 : static_cast<int>(level);
  const bool as_written = o.device.float64() || (!o.arithmetic && (o.as_written || o.device.framework() != nullptr));
  open.compile.pass_changes =
      as_written ? o.passes : with_arithmetic(o.passes, arithmetic_named(o.arithmetic.value_or("onnx")));
  const RemoteFacts* there = o.device.is_remote() ? &o.device.remote()->facts() : nullptr;
  const std::vector<std::string> known = there == nullptr ? known_isas(open.compile.element) : there->isas;
  if (!o.isa.empty() && std::find(known.begin(), known.end(), o.isa) == known.end())
    fail_usage("--isa ", o.isa, ": choose from ", join(known));
  const Backend* backend = backend_of_device(open.compile.device);
  const bool builds_here = backend != nullptr && backend->builds_here;
  if (!o.isa.empty() && !builds_here) fail_usage("--isa ", o.isa, " is for --device cpu, not ", o.device);
  // What is compiled to be run here needs no kernels for other processors.
  if (o.isa.empty() && builds_here) open.compile.processor = there == nullptr ? processor_kind() : there->processor;
  if (o.device.on_gpu()) open.compile.processor = kGpu;
  open.compile.isas = {!o.isa.empty()     ? o.isa
                       : there == nullptr ? supported_isas(open.compile.element).back()
                                          : best_of(there->isas)};
  open.shapes = o.shapes;
  open.batch = o.batch.value_or(1);
  if (open.batch < 1) fail_usage("--batch ", open.batch, " is less than 1");
  open.trust = o.trust;
  return open;
}

void compile_for_machine_of(const DeviceSpec& device, CompileOptions* options) {
  NetworkOptions network;
  network.device = device;
  const CompileOptions there = open_options(network).compile;
  options->isas = there.isas;
  options->processor = there.processor;
}

DeviceSpec device_of_package(const Package& package) {
  for (const Device& row : devices()) {
    if (DeviceSpec::runs_packages(row) && row.target() == package.backend()) return DeviceSpec(row.kind);
  }
  fail_unsupported("the package is for ", package.backend(), ", and no device here runs that");
}

std::vector<std::string> device_lines(const DeviceSpec& device, const DeviceOptions& options,
                                      const std::function<void(const std::string& message)>& warn) {
  if (device.is_remote()) return device.remote()->list();
  std::vector<std::string> lines;
  for (const Device& row : devices()) {
    for (std::string& line : list_devices(row, options, warn)) lines.push_back(std::move(line));
  }
  return lines;
}

void check_package(const std::string& path, const NetworkOptions& o, const Package& package, const BatchPlan& plan) {
  if (o.level && o.device.framework() == nullptr && *o.level != std::to_string(package.info.opt))
    fail_usage(path, ": compiled at -O", package.info.opt, ", -O", *o.level, " is asked for");
  if (o.device.float64() && package.info.dtype != dtype_name(DType::Float64))
    fail_usage(path, ": compiled for ", package.info.dtype, ", ", o.device, " is asked for");
  if (o.precision && package.info.dtype != dtype_name(element_named(*o.precision)))
    fail_usage(path, ": compiled for ", package.info.dtype, ", --precision ", *o.precision, " is asked for");
  std::error_code not_there;
  const bool ready = (o.arithmetic || !o.passes.empty()) && std::filesystem::is_regular_file(path, not_there) &&
                     looks_like_package(as_bytes(read_head(path, 8)));
  if (ready && o.arithmetic && arithmetic_named(*o.arithmetic) != arithmetic_of(package.info.passes))
    fail_usage(path, ": compiled for another arithmetic than --arithmetic ", *o.arithmetic);
  if (ready && !o.passes.empty()) fail_usage(path, " is compiled already: --pass is for models");
  if (!o.shapes.empty()) {
    Graph source = package.source.structure();
    for (const std::string& shape : o.shapes) bind_shape(source, shape);
  }
  if (o.batch && *o.batch != plan.batch)
    fail_usage("--batch ", *o.batch, ": the model's batch is fixed at ", plan.batch);
}

int decode_threads(const std::optional<int64_t>& asked, const Session& session) {
  constexpr int64_t kMost = 1024;
  if (!asked) return session.threads() < available_processors() ? 1 : 0;
  if (*asked < 0 || *asked > kMost) fail_usage("--decode-threads ", *asked, ": choose from 0 to ", kMost);
  return static_cast<int>(*asked);
}

std::optional<Preprocess> choose_preprocess(const Package& package, const BatchPlan& plan, const std::string& name,
                                            const PreprocessOptions& spelled_out, bool apply_orientation) {
  const std::string stored = metadata_of(package, "preprocess");
  if (name.empty() && stored.empty() && !spelled_out.any()) return std::nullopt;
  if (plan.slots.size() != 1) fail_usage("images are for models with one input; this one has ", plan.slots.size());
  const InputSlot& slot = plan.slots[0];
  const auto has = [&](int64_t channels) { return slot.shape[1] == channels || slot.shape[3] == channels; };
  if (slot.shape.size() != 4 || slot.shape[0] != 1 || (!has(3) && !has(1)))
    fail_unsupported("input '", slot.name, "' is ", shape_text(slot.shape), ", which no RGB or grey image fits");
  const bool grey = !has(3);
  const Layout layout = slot.shape[1] == (grey ? 1 : 3) ? Layout::Nchw : Layout::Nhwc;
  const size_t height_axis = layout == Layout::Nchw ? 2 : 1;
  const auto height = static_cast<int>(slot.shape[height_axis]), width = static_cast<int>(slot.shape[height_axis + 1]);
  Preprocess preprocess;
  if (name.empty() && !stored.empty() && stored[0] == '{') {
    preprocess = preprocess_from_json(stored, named_preprocess("none", height, width, layout));
    preprocess.height = height;
    preprocess.width = width;
    preprocess.layout = layout;  // which another format may have exchanged
  } else {
    const std::string base = !name.empty() ? name : !stored.empty() ? stored : "none";
    if (grey && base != "none")
      fail_usage("preprocessing '", base, "' is for RGB, input '", slot.name,
                 "' is grey: spell it out (--scale, --mean)");
    preprocess = named_preprocess(base, height, width, layout);
    if (grey) preprocess.channels = Channels::Grey;
  }
  apply_options(spelled_out, &preprocess);
  if (grey != (preprocess.channels == Channels::Grey))
    fail_usage("input '", slot.name, "' is ", shape_text(slot.shape), ": the channels cannot be ",
               grey ? "those of colour" : "grey");
  if (is_integer(slot.dtype) && !(slot.scale > 0) && preprocess != without_arithmetic(preprocess))
    fail_usage("input '", slot.name, "' is ", dtype_name(slot.dtype),
               " and takes the bytes of an image: give --preprocess none, or leave out --preprocess, --scale, --mean "
               "and --std");
  preprocess.apply_orientation = preprocess.apply_orientation || apply_orientation;
  return preprocess;
}

int64_t class_count(const Package& package, const BatchPlan& plan, const std::string& output) {
  for (size_t i = 0; i < package.output_types.size(); ++i) {
    if (!output.empty() && package.graph().value(package.graph().outputs[i]).name != output) continue;
    if (!package.output_types[i].fixed()) return 0;
    Shape shape = package.output_types[i].fixed_shape();
    if (plan.batched && !shape.empty()) shape[0] = 1;
    const int64_t extent = shape.empty() ? 1 : *std::max_element(shape.begin(), shape.end());
    return extent == element_count(shape) ? extent : 0;
  }
  return 0;
}

RunLabels choose_labels(const Package& package, const std::string& path, const std::vector<std::string>& inputs,
                        int64_t n_classes) {
  RunLabels labels;
  if (!path.empty()) {
    const LabelSet set = LabelSet::read(path);
    labels.name = set.name();
    labels.set = set.for_outputs(n_classes);
    labels.offset = labels.set->has_background() ? 1 : 0;
    return labels;
  }
  if (const std::string stored = metadata_of(package, "labels"); !stored.empty()) {
    LabelSet own = LabelSet::parse(stored, "model");
    if (own.size() == n_classes) {
      labels.name = own.name();
      labels.offset = own.has_background() ? 1 : 0;
      labels.set = std::move(own);
      return labels;
    }
  }
  if (!names_images(inputs)) return labels;
  for (const std::string& input : inputs) {
    if (!std::filesystem::is_directory(input) && !is_pack(input)) return labels;
  }
  if (n_classes < 2) return labels;
  labels.set = labels_of_folders(list_images(inputs), n_classes);
  if (labels.set) labels.name = labels.set->name();
  return labels;
}

stream::Header make_header(const Session& session, const BatchPlan& plan, const std::string& device,
                           const RunLabels& labels, const std::optional<Preprocess>& preprocess, const Shard& shard) {
  const PackageInfo& info = session.package().info;
  stream::Header header;
  header.model = {info.model_path, info.model_sha256, info.model_format};
  header.opt = session.opt();
  header.passes = info.passes.empty() ? "" : pass_changes(info.opt, info.passes);
  header.device = device;
  header.isa = session.isa();
  header.dtype = precision_run(session.variant(), info.dtype);
  header.label_set = labels.name;
  header.label_offset = labels.offset;
  if (preprocess) header.preprocess = to_json(*preprocess);
  header.batch = static_cast<int>(plan.batch);
  header.threads = session.threads();
  header.shard = shard.text();
  if (const stream::Header* machine = session.machine(); machine != nullptr) {
    header.host = machine->host;
    header.topology = machine->topology;
  } else {
    usage::describe_machine(&header);
  }
  for (const auto& [key, value] : session.facts()) header.host.try_emplace(key, value);
  return header;
}

void inherit(std::vector<stream::Header> inputs, stream::Header* header) {
  header->inputs = std::move(inputs);
  if (header->inputs.empty()) return;
  const stream::Header& origin = header->inputs.front();
  if (header->preprocess.empty()) header->preprocess = origin.preprocess;
  if (!header->label_set.empty()) return;
  header->label_set = origin.label_set;
  header->label_offset = origin.label_offset;
}

void describe_usage(const usage::Source& usage, int interval_ms, stream::Header* header) {
  header->host["usage_every_ms"] = std::to_string(interval_ms);
  header->host["energy"] = usage.energy_text();
  header->host["gpus"] = usage.gpus_text();
}

int usage_interval_ms(const std::string& text) {
  constexpr int64_t kMost = 60'000;  // processors' energy counters go round within minutes
  int64_t ms = 0;
  if (!parse_int(text, &ms) || ms < 1 || ms > kMost) fail_usage("--usage=", text, ": give milliseconds, 1 to ", kMost);
  return static_cast<int>(ms);
}

namespace {

std::string usage_line(const metrics::Values& v, const usage::Source& usage) {
  std::vector<std::string> parts;
  const auto add = [&](const char* before, const char* key, const char* format, const char* after) {
    const auto it = v.find(key);
    if (it == v.end()) return;
    parts.push_back(cat(before, number_text(it->second, format), after));
  };
  add("processors ", "cpu_percent", "%.0f", " %");
  add("", "cpu_time", "%.3f", " ms of them a sample");
  add("peak memory ", "memory_peak", "%.1f", " MiB");
  add("energy ", "energy", "%.1f", " mJ a sample");
  if (!v.contains("energy")) {
    const std::string meters = usage.energy_text();
    parts.push_back(cat("energy not known", starts_with(meters, "none: ") ? cat(" (", meters.substr(6), ")") : ""));
  }
  add("GPU ", "gpu_percent", "%.0f", " %");
  add("GPU memory ", "gpu_memory_peak", "%.1f", " MiB");
  add("GPU energy ", "gpu_energy", "%.1f", " mJ a sample");
  const usage::Source::Cost cost = usage.cost();
  char measured[96];
  std::snprintf(measured, sizeof measured, "; %lld records, one every %.3g ms, took %.2g %% of the time",
                static_cast<long long>(cost.n_records), cost.interval_ms, 100 * cost.share);
  return cat("usage: ", join(parts), measured);
}

}  // namespace

std::vector<std::string> summary_lines(const RunSummary& summary, const BatchPlan& plan, const usage::Source* usage) {
  const metrics::Values& v = summary.values;
  char rates[96] = "";
  if (const auto it = v.find("throughput"); it != v.end())
    std::snprintf(rates, sizeof rates, ", %.1f samples/s in the network", it->second);
  char wall[32];
  std::snprintf(wall, sizeof wall, "%.2f", summary.wall_s);
  std::vector<std::string> lines = {cat(counted(summary.n_samples, "sample"), " in ", wall, " s; ",
                                        counted(summary.n_runs, "timed run"), " of batch ", plan.batch, rates)};
  if (summary.n_runs == 0) return lines;
  const auto ms = [&](const char* key) { return milliseconds(v, key); };
  lines.push_back(cat("latency ms: mean ", ms("latency_mean"), ", std ", ms("latency_std"), ", min ", ms("latency_min"),
                      ", median ", ms("latency_median"), ", p90 ", ms("latency_p90"), ", p95 ", ms("latency_p95"),
                      ", p99 ", ms("latency_p99"), ", max ", ms("latency_max")));
  if (summary.transport_ns > 0)
    lines.push_back(
        cat("transport ms: mean ",
            number_text(static_cast<double>(summary.transport_ns) * 1e-6 / static_cast<double>(summary.n_runs), "%.3f"),
            " a run, beside the latency"));
  if (usage != nullptr) lines.push_back(usage_line(v, *usage));
  return lines;
}

std::string modes_warning(const metrics::Values& values, bool pinned) {
  const auto high = values.find("latency_high_mode");
  if (high == values.end()) return "";
  const double share = values.at("latency_high_share");
  const auto mode = [](double ms, double percent) {
    return cat(number_text(ms, "%.3g"), " ms (", number_text(percent, "%.0f"), " %)");
  };
  return cat("latencies have two modes, ", mode(values.at("latency_low_mode"), 100 - share), " and ",
             mode(high->second, share), ": ",
             pinned ? "something else runs on these processors, or their speed changes"
                    : "the system moves threads, something else runs, or the speed changes; try --affinity");
}

}  // namespace dnn
