// dnn-infer: runs a model or a package on images, arrays or a stream, and writes predictions as a stream.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "base/affinity.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "cli/output.h"
#include "compile/open.h"
#include "convert/framework_file.h"
#include "devices/remote.h"
#include "infer/affinity.h"
#include "infer/preprocess_hint.h"
#include "infer/profile.h"
#include "infer/programs.h"
#include "infer/remote_usage.h"
#include "infer/setup.h"
#include "infer/trace.h"
#include "place/package.h"
#include "place/timeline.h"
#include "usage/sampler.h"
#include "usage/topology.h"

namespace {

using namespace dnn;

const cli::Tool kTool = {
    .name = "dnn-infer",
    .summary = "Runs a network on samples and writes a stream. A model is compiled first, through a cache.",
    .negative = ""};

struct Options {
  std::string model, output = "-", device = "cpu", preprocess, labels, shard = "0/1", postprocess;
  NetworkOptions network;
  PreprocessOptions spelled_out;
  SourceOptions source;
  RunOptions run;
  std::optional<int64_t> decode_threads;
  std::string key, adb_host, timeline;
  std::vector<std::string> given;
  std::optional<std::string> usage, affinity, trace;
  std::vector<std::string> select;
  int threads = 0;
  bool exif = false, list_devices = false;
  std::vector<std::string> command;
};

void declare(cli::Args& args, Options& o) {
  o.command = args.command();
  args.optional_positional(&o.model, "MODEL", "a model of any format, or a package of dnn-compile");
  args.positionals(&o.source.inputs, "INPUT", "images, folders, lists .txt, [NAME=]FILE.npy, FILE.npz, a stream, -", 0);
  args.option(&o.network.level, "-O,--opt", "0..4", "optimisation level of a model (default 3; reference 0)");
  args.option(&o.network.passes, "--pass", "CHANGES", "passes on or off, as +fuse-ops,-fold-constant");
  args.option(&o.network.precision, "--precision", "TYPE",
              "run a float32 model in bf16 or f16: docs/explanation/precision.md");
  args.option(&o.network.arithmetic, "--arithmetic", "NAME",
              "of quantised layers: onnx (default), or tflite: its kernels' bits");
  args.list(&o.network.shapes, "--shape", "NAME:DIMS", "extents that the model leaves open, as x:1x3x224x224");
  args.option(&o.network.batch, "--batch", "N", "samples in one run, where the model leaves that open (default 1)");
  args.option(&o.network.isa, "--isa", "NAME", cat("force cpu's instruction set: ", join(known_isas(), ", ")));
  args.preprocess(&o.preprocess, &o.spelled_out, &o.exif);
  args.option(&o.postprocess, "--postprocess", "CMD",
              "exec:COMMAND that works on predictions (docs/howto/programs.md)");
  args.option(&o.labels, "--labels", "FILE", "the classes, one a line, a synset id first where known");
  args.option(&o.source.fill, "--fill", "WHAT", "in place of INPUTs: zeros, ones, random (--seed), or exec:COMMAND");
  args.option(&o.shard, "--shard", "I/N", "every N-th sample, from the I-th on");
  args.option(&o.run.top_k, "--top-k", "K", "classes of each prediction, by the outputs as they are", 0);
  args.list(&o.run.outputs, "--output", "NAME", "only this output of the model; the first named is ranked");
  args.flag(&o.run.full_outputs, "--outputs", "predictions hold the outputs in full");
  args.flag(&o.run.sample_tensors, "--sample-tensors", "samples hold the input tensors, for a next dnn-infer");
  args.optional_value(&o.trace, "--trace", "LAYERS", "", "every value of the source model, or of LAYERS alone, as A,B");
  args.list(&o.select, "--select", "LAYER", "");  // one of --trace's, whose name may hold a comma
  args.option(&o.run.warmup, "--warmup", "N", "untimed runs before the first", 0);
  args.option(&o.run.iterations, "-n,--iterations", "N", "timed runs of each batch", 1);
  args.option(&o.run.duration_s, "-t,--duration", "S", "repeat each batch until S seconds in all are over", 0);
  args.option(&o.decode_threads, "--decode-threads", "N",
              "threads that decode ahead, 0: none (default: 1 if one is free)");
  args.option(&o.affinity, "--affinity", "LIST", "processors, a thread on each in turn: 0,2-5; or cores: big, little");
  args.flag(&o.run.profile, "--profile", "a table of the package's steps or segments, and what bounds them");
  args.option(&o.timeline, "--timeline", "FILE", "of a placed package: write one run as a Chrome trace");
  args.optional_value(&o.usage, "--usage", "MS", "100",
                      "record what the run takes, every MS (100): memory, energy, ...");
  args.option(&o.source.most_expanded, "--max-expanded", "BYTES", "", 0);  // --max-memory, of an .npz alone
  args.flag(&o.network.trust, "--trust", "run the code of a package that another user made");
  args.flag(&o.network.trust_model, "--trust-model", "give lib:NAME the model's own file, whose code it may run");
  args.flag(&o.list_devices, "--list-devices", "print the devices of this machine, tab-separated, and stop");
  args.device(&o.device, "where to run: cpu, opencl:0, lib:NAME, ssh://HOST/cpu");
  args.option(&o.key, "--key", "FILE", "the key of the dnn-serve at --device tcp://HOST:PORT/cpu");
  args.option(&o.adb_host, "--adb-host", "HOST", "");  // as DNN_ADB_HOST: docs/howto/use-other-machines.md
  args.threads(&o.threads);
  args.given(&o.given);
  args.seed(&o.source.seed);
  args.option(&o.output, "-o", "FILE", "where the stream goes; '-' is standard output");
}

// Warnings and figures; the exit code.
int report(const RunSummary& summary, const BatchPlan& plan, const usage::Source* usage, bool pinned) {
  if (!summary.outputs_vary) cli::warn("the predictions do not vary with the input: is the preprocessing the model's?");
  if (!summary.outputs_finite) cli::warn("some outputs are NaN or infinite");
  if (const std::string modes = modes_warning(summary.values, pinned); !modes.empty()) cli::warn(modes);
  if (!cli::console().quiet) {
    for (const std::string& line : summary_lines(summary, plan, usage)) cli::say(line);
  }
  if (summary.n_failed == 0) return 0;
  cli::say_error(cat(summary.n_failed, " of ", summary.n_failed + summary.n_samples, " inputs could not be read"));
  return static_cast<int>(*summary.first_failure);
}

bool is_given(const Options& o, const char* name) {
  return std::find(o.given.begin(), o.given.end(), name) != o.given.end();
}

// A placed package says itself where it runs.
std::unique_ptr<place::PlacedSession> open_placed(const Options& o, const std::shared_ptr<const Package>& package,
                                                  const DeviceOptions& connection) {
  for (const char* name : {"--device", "--threads", "--affinity", "--isa"}) {
    if (is_given(o, name))
      fail_usage(name, ": ", o.model, " is placed on ", join(package->placed->parts),
                 "; leave it out, or place the model anew (dnn-compile --place)");
  }
  return std::make_unique<place::PlacedSession>(package, place::PlacedOptions{connection});
}

// Shows what a placed run, which was profiled, took.
void report_placed(const Options& o, const place::PlacedSession& session) {
  if (session.runs().empty()) return;
  const place::RunReport report = place::report_runs(session.parallel(), session.runs());
  if (o.run.profile) cli::show(place::profile_text(report));
  if (!o.timeline.empty()) write_file(o.timeline, place::timeline_json({{o.model, report.segments}}));
}

int work(const Options& o) {
  NetworkOptions network = o.network;
  DeviceOptions device_options = {.threads = o.threads, .isa = network.isa};
  device_options.variable = remote::with_adb_host(cli::variable, o.adb_host);
  device_options.key_file = o.key;
  network.device = o.device;
  if (o.list_devices && network.device.is_remote()) {
    network.device.connect(device_options);
    for (const std::string& line : network.device.remote()->list()) std::cout << line << '\n';
    return 0;
  }
  if (o.list_devices) {
    for (const Device& device : devices()) {
      for (const std::string& line : list_devices(device, device_options, cli::warn)) std::cout << line << '\n';
    }
    return 0;
  }
  if (o.model.empty()) fail_usage("no MODEL given");
  if (!stream::is_command(o.source.fill)) check_fill(o.source.fill);
  const int usage_ms = o.usage ? usage_interval_ms(*o.usage) : 0;
  if (network.device.is_remote() && o.affinity)
    fail_usage("--affinity is for devices of this machine, not ", network.device);
  const Framework* framework = network.device.framework();
  const bool is_program = network.device.is_program();
  RunOptions options = o.run;
  options.trace = o.trace || !o.select.empty();
  if (framework != nullptr && ((options.trace && is_program) || o.run.profile || network.trust))
    fail_usage(o.run.profile   ? "--profile"
               : network.trust ? "--trust"
                               : "--trace",
               " is for what is compiled here; ", network.device, is_program ? " is a program" : " is a framework");
  if (network.trust_model && (framework == nullptr || is_program))
    fail_usage("--trust-model is for frameworks, which get a conversion otherwise; ", network.device, " is none");
  if (o.affinity) {
    device_options.processors = choose_processors(*o.affinity, usage::core_classes(), allowed_processors());
    keep_to(device_options.processors);  // before anything starts threads or processes, which inherit it
  }
  cli::Output output(o.output, cli::Output::Content::Binary);
  // Without --device a key may be for a part of a placed package.
  if (o.key.empty() || is_given(o, "--device")) network.device.connect(device_options);
  OpenOptions open = open_options(network);
  use_folders(&open, cli::variable);
  open.note = cli::note;
  open.warn = cli::warn;
  const bool images = o.source.fill.empty() && names_images(o.source.inputs);
  if (images && o.preprocess.empty() && !o.spelled_out.any()) require_stated_preprocess(o.model, open);
  const std::shared_ptr<const Package> package = open_package(o.model, open);
  const BatchPlan plan = plan_batch(*package);
  check_package(o.model, network, *package, plan);
  std::vector<std::string> layers = o.select;
  for (const std::string& layer : split(o.trace.value_or(""), ',')) {
    if (!layer.empty()) layers.push_back(layer);
  }
  options.traced = values_of_layers(package->source.structure(), layers);
  // A package brings its device.
  if (!is_given(o, "--device") && package->placed == nullptr && package->backend() != network.device.device().target())
    network.device = device_of_package(*package);
  FrameworkSession opened;
  const place::PlacedSession* placed = nullptr;
  if (package->placed != nullptr && framework == nullptr) {
    auto session = open_placed(o, package, device_options);
    placed = session.get();
    opened.session = std::move(session);
  } else if (!o.timeline.empty()) {
    fail_usage("--timeline is for a package that is placed on several devices (dnn-compile --place)");
  } else if (framework != nullptr) {
    device_options.opt = framework_level(network);
    device_options.trust_model = network.trust_model;
    opened = open_in_framework(network.device, o.model, package, device_options, options.trace, cli::warn);
    if (!opened.file.converted_from.empty())
      cli::note(cat(o.model, ": converted to ", opened.file.format, " for ", framework->name));
  } else {
    network.device.connect(device_options);
    opened.session = open_session(network.device, package, device_options);
  }
  const FrameworkFile& file = opened.file;
  Session* session = opened.session.get();

  SourceOptions source_options = o.source;
  const double wait_s = stream::seconds_to_wait(cli::variable(stream::kWaitVariable));
  source_options.wait_s = wait_s;
  source_options.for_programs = header_for_program(*package, plan);
  std::optional<RecordProgram> preprocessor, postprocessor;
  if (images && stream::is_command(o.preprocess)) {
    if (o.spelled_out.any())
      fail_usage("--preprocess ", o.preprocess, ": the program does it all, so nothing is spelled out");
    preprocessor.emplace(o.preprocess, source_options.for_programs, wait_s);
    source_options.preprocessor = [&](const stream::Sample& sample) { return preprocessor->ask(sample).tensor; };
    source_options.apply_orientation = o.exif;
  } else if (images) {
    source_options.preprocess = choose_preprocess(*package, plan, o.preprocess, o.spelled_out, o.exif);
  } else if (!o.preprocess.empty() || o.spelled_out.any() || o.exif) {
    cli::warn("no INPUT is an image, so the preprocessing that is asked for has no effect");
  }
  const std::string ranked = o.run.outputs.empty() ? "" : o.run.outputs[0];
  const RunLabels labels = choose_labels(*package, o.labels, o.source.inputs, class_count(*package, plan, ranked));
  source_options.fill_count = plan.batch;
  source_options.shard = Shard::parse(o.shard);
  source_options.labels = labels.set;
  source_options.label_offset = labels.offset;
  const std::unique_ptr<SampleSource> source = open_samples(source_options, plan);

  stream::Writer writer(output);
  options.labels = labels.set;
  options.profile = o.run.profile || !o.timeline.empty();
  if (!o.postprocess.empty()) {
    postprocessor.emplace(o.postprocess, source_options.for_programs, wait_s);
    options.postprocess = [&](const stream::Prediction& prediction) { return postprocessor->ask(prediction); };
  }
  options.decode_threads = decode_threads(o.decode_threads, *session);
  std::unique_ptr<usage::Source> usage;
  if (usage_ms > 0 && network.device.is_remote() && placed == nullptr) {
    usage = std::make_unique<RemoteUsage>(network.device.remote(), usage_ms);
  } else if (usage_ms > 0) {
    usage = std::make_unique<usage::Sampler>(usage::Roots(), ::getpid(), session->process(), usage_ms);
  }
  options.usage = usage.get();
  cli::Progress progress("inference", source->count().value_or(0));
  Runner runner(*session, plan, options, writer, cli::warn, [&](int64_t n) { progress.advance(n); });
  stream::Header header = make_header(*session, plan, placed == nullptr ? network.device.text() : placed->device(),
                                      labels, source_options.preprocess, source_options.shard);
  inherit(source->provenance(), &header);
  header.tool = kTool.name;
  header.command = o.command;
  header.affinity = processors_text(device_options.processors);
  header.latency_contains = latency_contains(options, *session);
  if (preprocessor) header.preprocess = named_by_program(o.preprocess);
  if (postprocessor) header.host["postprocess"] = o.postprocess;
  if (usage) describe_usage(*usage, usage_ms, &header);
  if (!file.converted_from.empty()) header.host["converted"] = cat("from ", file.converted_from, " to ", file.format);
  if (file.trusted) header.host["trusted_model"] = "true";
  if (const auto fell = header.host.find("fell_back"); fell != header.host.end())
    cli::warn(cat(network.device, ": ", fell->second));
  if (const char* node = std::getenv("SLURMD_NODENAME")) header.host["node"] = node;
  writer.write(header);
  const RunSummary summary = runner.run(*source);
  if (preprocessor) preprocessor->finish();
  if (postprocessor) postprocessor->finish();
  writer.end();
  output.commit();
  if (placed != nullptr) {
    report_placed(o, *placed);
  } else if (o.run.profile) {
    std::optional<Peaks> peaks;
    // The peaks of this machine say nothing of another.
    if (session->machine() == nullptr && find_isa(Language::C, session->isa()) != nullptr)
      peaks = measure_peaks(session->isa(), session->threads());
    cli::show(profile_table(session->variant(), session->profile(), peaks, package->info.dtype));
  }
  return report(summary, plan, options.usage, o.affinity.has_value());
}

}  // namespace

cli::Program dnn_infer() { return cli::program(kTool, declare, work); }
