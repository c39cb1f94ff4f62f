// dnn-localize: finds the layer in which two networks, or two runs of one, part from each other.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "cli/output.h"
#include "devices/library.h"
#include "localize/alignment_text.h"
#include "localize/bisect_model.h"
#include "localize/localize_models.h"
#include "localize/precision_model.h"
#include "localize/preprocess_model.h"
#include "localize/present.h"
#include "localize/repair_model.h"
#include "remote/address.h"

namespace {

using namespace dnn;

const cli::Tool kTool = {
    .name = "dnn-localize",
    .summary = "Finds TARGET's wrong layers, and what mends them; of one MODEL, what passes and types change.",
    .negative = "a layer is wrong, diverges or must stay float32; not repaired; an INPUT not judged",
    .examples = {{"dnn-localize --preprocess imagenet-torch right.onnx wrong.onnx photos/", ""},
                 {"dnn-localize --passes -O4 model.onnx photos/", ""}}};

std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

struct Options {
  std::string source, target, preprocess, sort = "divergence", target_preprocess, reduce, repair, edits, apply,
                                          alignment, aligned, csv, precision, fill, source_arithmetic;
  NetworkOptions network;
  std::string device = "cpu", key, adb_host;
  std::optional<std::string> source_level, source_device, json;
  std::optional<double> time_limit;
  std::vector<std::string> inputs, given;
  ParameterTolerance tolerance;
  LabelSampling sampling;
  int64_t top = 20;
  int threads = 0;
  bool passes = false, preprocessing = false;
};

const std::vector<std::string> kSorts = {"divergence", "added", "order", "labels"};

void declare(cli::Args& args, Options& o) {
  o.network.variable = variable;
  args.given(&o.given);
  args.positional(&o.source, "SOURCE", "a model, a package, or a trace of dnn-infer: what is right");
  args.positional(&o.target, "TARGET", "the same of what is doubted");
  args.positionals(&o.inputs, "INPUT", "for models, as for dnn-infer: images, folders, lists, .npy, .npz", 0);
  args.option(&o.network.level, "-O,--opt", "0..4", "level of models (default 0; --passes, --preprocessing 3)");
  args.flag(&o.passes, "--passes", "MODEL INPUT...: find the pass, its rewrite or the kernel");
  args.option(&o.source_level, "--source-opt", "0..4", "with --passes, the level that is right (default 0)");
  args.option(&o.source_device, "--source-device", "NAME", "with --passes, where it is right (default: --device)");
  args.option(&o.reduce, "--reduce", "DIR", "write what differs, made small, as models and a report");
  args.option(&o.precision, "--precision", "TYPE", "MODEL INPUT...: rank layers by float16, bfloat16 or int8");
  args.option(&o.network.arithmetic, "--arithmetic", "NAME",
              "of quantised layers: onnx or tflite; --source-arithmetic: SOURCE's");
  args.option(&o.source_arithmetic, "--source-arithmetic", "NAME", "");
  args.option(&o.network.passes, "--pass", "CHANGES", "with --passes, passes on or off, as for dnn-infer");
  args.option(&o.preprocess, "--preprocess", "NAME", join(preprocess_names(), ", "));
  args.flag(&o.preprocessing, "--preprocessing", "search the target's preprocessing and labels");
  args.option(&o.target_preprocess, "--target-preprocess", "SPEC", "its own, as \"none scale=1/255 channels=bgr\"");
  args.option(&o.repair, "--repair", "OUT", "write TARGET repaired, in its own format");
  args.option(&o.edits, "--edits", "FILE", "with --repair, write the edits, as JSON");
  args.option(&o.apply, "--apply", "FILE", "with --repair, make these edits, and search none");
  args.option(&o.alignment, "--alignment", "FILE", "which layers are one: lines of SOURCE<TAB>TARGET, - for none");
  args.option(&o.aligned, "--aligned", "FILE", "write what was lined up, in that form");
  args.option(&o.csv, "--csv", "FILE", "mean, deviation, largest of each layer and its weights, as CSV");
  args.option(&o.fill, "--fill", "WHAT", "in place of INPUTs: " + join(fill_names(), ", ") + " (--seed)");
  args.list(&o.network.shapes, "--shape", "NAME:DIMS", "extents that a model leaves open, as x:1x3x224x224");
  args.option(&o.tolerance.atol, "--atol", "X", "a layer diverges beyond X + R times its largest", 0);
  args.option(&o.tolerance.rtol, "--rtol", "R", "see --atol; --precision has no default", 0);
  args.option(&o.sort, "--sort", "HOW", "order of rows: " + join(kSorts, ", "));
  args.option(&o.sampling.n_equal, "--samples-equal", "N", "rank layers by labels: draw N samples of the same label",
              1);
  args.option(&o.sampling.n_different, "--samples-different", "N", "and N whose label differs", 1);
  args.option(&o.sampling.n_repeats, "--repeats", "N", "draws, whose ranks are joined", 1);
  args.option(&o.top, "--top", "N", "rows of each table; 0 for all", 0);
  args.optional_value(&o.json, "--json", "FILE", "-",
                      "the report as JSON, instead of the text, or into FILE beside it");
  args.option(&o.time_limit, "--time-limit", "SECONDS", "of models, end by then with the best found so far", 0);
  args.flag(&o.network.trust, "--trust", "run the code of a package that another user made");
  args.flag(&o.network.trust_model, "--trust-model", "give --source-device lib:NAME the model's own file");
  args.seed(&o.sampling.seed);
  args.option(&o.key, "--key", "FILE", "the key of the dnn-serve at --device tcp://HOST:PORT/cpu");
  args.option(&o.adb_host, "--adb-host", "HOST", "HOST[:PORT] of the adb server, for --device adb://SERIAL/cpu");
  args.device(&o.device, "where to run: reference (models at -O0), opencl:0, ...");
  args.threads(&o.threads);
}

// What cannot be looked at twice, a pipe, is believed to be a trace; so is an empty file, a trace that was cut off at once.
bool is_model(const std::string& path) {
  if (std::filesystem::is_directory(path)) return true;
  if (!std::filesystem::is_regular_file(path) || std::filesystem::file_size(path) == 0) return false;
  return !stream::looks_like_stream(as_bytes(read_head(path, 32)));
}

bool is_trace(const std::string& path) {
  return std::filesystem::is_regular_file(path) && stream::looks_like_stream(as_bytes(read_head(path, 32)));
}

// What is done, and the options that have a say in it.
enum Task : unsigned { Models = 1, Traces = 2, Passes = 4, Preprocessing = 8, Repair = 16, Precision = 32 };
constexpr unsigned kLevels = Models | Passes | Preprocessing | Repair;
constexpr unsigned kRuns = kLevels | Precision;
const std::vector<std::pair<Task, std::string>> kTasks = {{Models, "two models"}, {Traces, "two traces"},
                                                          {Passes, "--passes"},   {Preprocessing, "--preprocessing"},
                                                          {Repair, "--repair"},   {Precision, "--precision"}};
const std::map<std::string, unsigned> kOptionsOf = {{"--opt", kLevels},
                                                    {"--source-opt", Passes},
                                                    {"--source-device", Passes},
                                                    {"--reduce", Models | Passes},
                                                    {"--pass", Passes},
                                                    {"--arithmetic", Models | Passes},
                                                    {"--source-arithmetic", Models},
                                                    {"--preprocess", kRuns},
                                                    {"--target-preprocess", Models | Preprocessing | Repair},
                                                    {"--alignment", Models | Repair},
                                                    {"--aligned", Models},
                                                    {"--csv", Models | Traces | Precision},
                                                    {"--edits", Repair},
                                                    {"--apply", Repair},
                                                    {"--shape", kRuns},
                                                    {"--atol", Models | Traces | Passes | Precision},
                                                    {"--rtol", Models | Traces | Passes | Precision},
                                                    {"--sort", Models | Traces},
                                                    {"--top", Models | Traces | Precision},
                                                    {"--samples-equal", Models | Traces},
                                                    {"--samples-different", Models | Traces},
                                                    {"--repeats", Models | Traces},
                                                    {"--seed", Models | Traces | Repair},
                                                    {"--fill", Models | Repair},
                                                    {"--time-limit", kRuns},
                                                    {"--trust", kRuns},
                                                    {"--trust-model", Passes},
                                                    {"--device", kRuns},
                                                    {"--key", kRuns},
                                                    {"--adb-host", kRuns},
                                                    {"--threads", kRuns}};

Task task_of(const Options& o) {
  for (const auto& [name, value] :
       {std::pair("--repair", o.repair), std::pair("--edits", o.edits), std::pair("--apply", o.apply),
        std::pair("--reduce", o.reduce), std::pair("--alignment", o.alignment), std::pair("--aligned", o.aligned),
        std::pair("--csv", o.csv), std::pair("--precision", o.precision)}) {
    if (value.empty() && std::find(o.given.begin(), o.given.end(), name) != o.given.end())
      fail_usage(name, ": the name is empty");
  }
  if (std::find(kSorts.begin(), kSorts.end(), o.sort) == kSorts.end())
    fail_usage("--sort: '", o.sort, "' is none of ", join(kSorts));
  if (o.csv == "-" && o.json == "-") fail_usage("--csv and --json cannot both be standard output: name a file for one");
  if (int{o.passes} + int{o.preprocessing} + int{!o.repair.empty()} + int{!o.precision.empty()} > 1)
    fail_usage("--passes, --precision, --preprocessing and --repair are four searches: give one");
  const Task task = o.passes                             ? Passes
                    : o.preprocessing                    ? Preprocessing
                    : !o.repair.empty()                  ? Repair
                    : !o.precision.empty()               ? Precision
                    : o.inputs.empty() && o.fill.empty() ? Traces
                                                         : Models;
  check_fill(o.fill);
  if (!o.fill.empty() && !o.inputs.empty()) fail_usage("--fill generates the inputs, so ", o.inputs[0], " has no use");
  if (task == Repair && o.inputs.empty() && o.fill.empty())
    fail_usage("--repair wants INPUT or --fill, to search and to judge on");
  for (const std::string& path : {o.source, o.target}) {
    if (task == Traces && is_model(path)) fail_usage(path, " is no trace, and there is no INPUT to run a model on");
    if ((task == Models || task == Repair) && is_trace(path))
      fail_usage(path,
                 " is a trace: it takes no INPUT, and is compared with another trace (dnn-infer --trace makes one)");
  }
  for (const std::string& name : o.given) {
    const auto found = kOptionsOf.find(name);
    if (found == kOptionsOf.end() || (found->second & task) != 0) continue;
    std::vector<std::string> tasks;
    for (const auto& [of, what] : kTasks) {
      if ((found->second & of) != 0) tasks.push_back(what);
    }
    fail_usage(name, " is for ", join(tasks, ", "));
  }
  return task;
}

// Asked once, at the start.
Deadline deadline_of(const Options& o) { return o.time_limit ? Deadline(*o.time_limit) : Deadline(); }

template <class Request>
Request request_of(const Options& o) {
  Request request;
  request.inputs = o.inputs;
  request.preprocess = o.preprocess;
  use_folders(&request.folders, std::getenv("XDG_CACHE_HOME"), std::getenv("XDG_CONFIG_HOME"), std::getenv("HOME"));
  request.folders.note = cli::note;
  request.folders.warn = cli::warn;
  request.threads = o.threads;
  return request;
}

template <class Request>
Request one_model_of(const Options& o) {
  auto request = request_of<Request>(o);
  request.model = o.source;
  request.inputs.insert(request.inputs.begin(), o.target);
  return request;
}

bool is_package(const std::string& path) {
  return std::filesystem::is_regular_file(path) && looks_like_package(as_bytes(read_head(path, 8)));
}

// Models as they are written are interpreted, which spares compiling them; with passes, and for the many runs of a search for a
// preprocessing, they are compiled.
NetworkOptions network_of(const Options& o) {
  NetworkOptions network = o.network;
  const bool named = std::find(o.given.begin(), o.given.end(), "--device") != o.given.end();
  if (!named && !o.preprocessing && runs_as_written(network) && !is_package(o.source) && !is_package(o.target))
    network.device = "reference";
  return network;
}

template <class Request>
Request models_of(const Options& o) {
  auto request = request_of<Request>(o);
  request.source = o.source;
  request.target = o.target;
  request.target_preprocess = o.target_preprocess;
  request.network = network_of(o);
  request.deadline = deadline_of(o);
  if constexpr (std::is_base_of_v<LocalizeRequest, Request>) {
    request.fill = o.fill;
    request.seed = o.sampling.seed;
    request.source_arithmetic = o.source_arithmetic;
  }
  return request;
}

std::vector<GivenPair> alignment_of(const Options& o) {
  return o.alignment.empty() ? std::vector<GivenPair>() : parse_alignment(read_file(o.alignment), o.alignment);
}

template <class Request>
void show_progress(Request* request, std::optional<cli::Progress>* progress) {
  request->begin = [progress](int64_t n_samples) { progress->emplace("samples", n_samples); };
  request->done = [progress] { (*progress)->advance(); };
}

// Where one of its options is given.
std::optional<LabelSampling> sampling_of(const Options& o) {
  for (const char* name : {"--samples-equal", "--samples-different", "--repeats"}) {
    if (std::find(o.given.begin(), o.given.end(), name) != o.given.end()) return o.sampling;
  }
  return std::nullopt;
}

LocalizeReport compare_models(const Options& o) {
  auto request = models_of<LocalizeRequest>(o);
  request.tolerance = o.tolerance;
  request.alignment = alignment_of(o);
  request.statistics = !o.csv.empty();
  request.maps = o.json.has_value();
  request.label_sampling = sampling_of(o);
  request.reduce = o.reduce;
  request.reduce_most = o.top;
  std::optional<cli::Progress> progress;
  show_progress(&request, &progress);
  return ModelComparison(request).run();
}

LocalizeReport compare_traces(const Options& o, std::optional<Error>* cut_off) {
  const std::unique_ptr<ByteSource> a = open_source(o.source), b = open_source(o.target);
  stream::Reader source(*a, source_name(o.source)), target(*b, source_name(o.target));
  Localizer localizer(nullptr, nullptr);
  if (!o.csv.empty()) localizer.measure_statistics();
  if (const auto sampling = sampling_of(o)) localizer.rank_labels(*sampling);
  if (o.json) localizer.show_first(o.tolerance);
  *cut_off = dnn::compare_traces(source, target, &localizer);
  try {
    return localizer.finish(o.tolerance);
  } catch (const Error&) {
    if (*cut_off) throw **cut_off;
    throw;
  }
}

void write_text(const std::string& path, const std::string& text) {
  cli::Output output(path, cli::Output::Content::Text);
  output.write(text);
  output.commit();
}

void write_report(const Options& o, const std::string& json, const std::string& text) {
  if (o.json) write_text(*o.json, json);
  if (o.json != "-" && o.csv != "-") std::cout << text;
  std::cout.flush();
}

bool search_preprocessing(const Options& o) {
  const SearchedPreprocess searched = search_preprocess_of(models_of<PreprocessRequest>(o));
  write_report(o, preprocess_report_json(searched), preprocess_report_text(searched));
  return searched.report.verdict == PreprocessReport::Verdict::Agree && searched.report.ran_out != true &&
         !searched.not_judged.any();
}

bool bisect_passes(const Options& o) {
  auto request = one_model_of<BisectRequest>(o);
  request.target = o.network;
  request.source.device = o.source_device ? *o.source_device : o.network.device;
  request.source.level = o.source_level;
  if (!o.source_level && request.source.device.framework() == nullptr) request.source.level = "0";
  request.options.note = cli::note;
  request.options.deadline = deadline_of(o);
  request.source.variable = o.network.variable;
  request.source.trust_model = o.network.trust_model;
  request.reduce = o.reduce;
  request.options.tolerance = {o.tolerance.atol, o.tolerance.rtol};
  const BisectedModel bisected = bisect_model(request);
  write_report(o, bisect_json(bisected), bisect_text(bisected));
  return !bisected.report.differs() && bisected.report.ran_out != true && !bisected.not_judged.any();
}

bool judge_precision(const Options& o) {
  auto request = one_model_of<PrecisionRequest>(o);
  request.network = o.network;
  request.search.dtype = precision_dtype(cli::precision_name(o.precision));
  const auto given = [&](const char* name) { return std::find(o.given.begin(), o.given.end(), name) != o.given.end(); };
  if (given("--atol") || given("--rtol"))
    request.search.tolerance = {o.tolerance.atol, given("--rtol") ? o.tolerance.rtol : 0};
  request.search.deadline = deadline_of(o);
  std::optional<cli::Progress> progress;
  show_progress(&request.search, &progress);
  const JudgedPrecision judged = judge_precision_of(request);
  if (!o.csv.empty()) write_text(o.csv, precision_csv(judged));
  write_report(o, precision_json(judged), precision_text(judged, o.top));
  return judged.report.keeps == size_t{0} && judged.report.ran_out != true && !judged.not_judged.any();
}

bool repair(const Options& o) {
  auto request = models_of<RepairRequest>(o);
  request.output = o.repair;
  request.apply = o.apply;
  request.alignment = alignment_of(o);
  std::optional<cli::Progress> progress;
  show_progress(&request, &progress);
  request.found = [&](const std::vector<Edit>& edits) {
    if (!o.edits.empty()) write_text(o.edits, edits_json(edits));
  };
  const RepairReport report = repair_model(request);
  write_report(o, repair_json(report), repair_text(report));
  return report.verdict != RepairReport::Verdict::NotRepaired;
}

bool compare(const Options& o, Task task) {
  std::optional<Error> cut_off;
  const LocalizeReport report = task == Traces ? compare_traces(o, &cut_off) : compare_models(o);
  if (!o.aligned.empty()) write_file(o.aligned, alignment_text(report));
  if (!o.csv.empty()) write_text(o.csv, statistics_csv(report));
  const LocalizePresentation how = {o.source, o.target, o.sort, o.top};
  write_report(o, localize_json(report, how), localize_table(report, how));
  if (cut_off) throw *cut_off;
  // Compiled with passes, a divergence may be a pass's or a kernel's.
  return report.agree() && report.ran_out != true && !report.not_judged.any() &&
         (!report.first || runs_as_written(o.network));
}

int work(const Options& given) {
  Options o = given;
  const Task task = task_of(o);
  o.network.device = o.device;
  DeviceOptions connection;
  connection.key_file = o.key;
  connection.variable = remote::with_adb_host(variable, o.adb_host);
  o.network.device.connect(connection);
  const bool agree = task == Passes          ? bisect_passes(o)
                     : task == Preprocessing ? search_preprocessing(o)
                     : task == Repair        ? repair(o)
                     : task == Precision     ? judge_precision(o)
                                             : compare(o, task);
  return agree ? 0 : static_cast<int>(ErrorKind::Negative);
}

}  // namespace

cli::Program dnn_localize() { return cli::program(kTool, declare, work); }
