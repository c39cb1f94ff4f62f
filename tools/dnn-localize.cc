// dnn-localize: finds the layer in which two networks, or two runs of one, part from each other.
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "base/file.h"
#include "base/mappings.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "cli/output.h"
#include "compile/open.h"
#include "devices/library.h"
#include "infer/setup.h"
#include "localize/bisect_model.h"
#include "localize/preprocess_model.h"
#include "localize/present.h"
#include "ops/op.h"

namespace {

using namespace dnn;

const cli::Tool kTool = {
    .name = "dnn-localize",
    .summary =
        "Finds what makes two networks part. Runs SOURCE and TARGET on the same inputs, gives each layer of TARGET "
        "what "
        "SOURCE computes in front of it, and lists those that are wrong by themselves, told from rounding by float64: "
        "where, what is not the same, how sure, what would mend it; then what diverges in the run, and parameters and "
        "attributes that are not the same. Of two traces of dnn-infer, only what diverges. With --passes one MODEL "
        "takes the place of the two, and what is found is the rewrite or the kernel of --device at -O (default 3) that "
        "moves its outputs from those of --source-device at --source-opt. With --preprocessing what is found is the "
        "other preprocessing of TARGET, or order of its classes, that explains the difference, from outputs alone.",
    .negative = "a layer is wrong, or diverges beyond rounding, or nothing could be lined up",
    .examples = {{"dnn-localize --preprocess imagenet-torch right.onnx wrong.onnx photos/", "two models"},
                 {"dnn-localize -O0 --json=parting.json a.onnx b.onnx x.npy", "the whole report for a program"},
                 {"dnn-localize reference.dnns opencl.dnns", "two streams of dnn-infer --trace"},
                 {"dnn-localize --passes -O4 model.onnx photos/", "which pass changes a label"}}};

struct Options {
  std::string source, target, device = "cpu", preprocess, sort = "divergence", pass_changes, target_preprocess, reduce;
  std::optional<std::string> source_level, source_device;
  std::optional<std::string> level, json;
  std::vector<std::string> inputs, shapes;
  ParameterTolerance tolerance;
  int64_t top = 20;
  int threads = 0;
  bool trust = false, passes = false, preprocessing = false;
};

void declare(cli::Args& args, Options& o) {
  args.positional(&o.source, "SOURCE", "a model, a package, or a trace: what is right");
  args.positional(&o.target, "TARGET", "the same of what is doubted");
  args.positionals(&o.inputs, "INPUT", "for models, as for dnn-infer: images, folders, lists, .npy, .npz", 0);
  args.option(&o.level, "-O,--opt", "0..4", "optimisation level of models (default 0)");
  args.flag(&o.passes, "--passes", "MODEL INPUT...: find the pass, its rewrite or the kernel");
  args.option(&o.source_level, "--source-opt", "0..4", "with --passes, the level that is right (default 0)");
  args.option(&o.source_device, "--source-device", "NAME", "with --passes, where it is right (default: --device)");
  args.option(&o.reduce, "--reduce", "DIR", "with --passes, write the smallest model that differs");
  args.option(&o.pass_changes, "--pass", "CHANGES", "with --passes, passes on or off, as for dnn-infer");
  args.option(&o.preprocess, "--preprocess", "NAME", join(preprocess_names(), ", "));
  args.flag(&o.preprocessing, "--preprocessing", "search the target's preprocessing and labels");
  args.option(&o.target_preprocess, "--target-preprocess", "SPEC", "its own, as \"none scale=1/255 channels=bgr\"");
  args.list(&o.shapes, "--shape", "NAME:DIMS", "extents that a model leaves open, as x:1x3x224x224");
  args.option(&o.tolerance.atol, "--atol", "X",
              "a layer diverges when an element differs by more than X + R times the layer's largest", 0);
  args.option(&o.tolerance.rtol, "--rtol", "R", "see --atol", 0);
  args.choice(&o.sort, "--sort", {"divergence", "added", "order"}, "by error, by what a layer adds, by execution");
  args.option(&o.top, "--top", "N", "rows of each table; 0 for all", 0);
  args.optional_value(&o.json, "--json", "FILE", "-",
                      "the report as JSON, instead of the tables or into FILE beside them");
  args.flag(&o.trust, "--trust", "run the code of a package that another user made");
  args.device(&o.device);
  args.threads(&o.threads);
}

// Whether `path` is something else than a trace. What cannot be looked at twice, a pipe, is believed to be one; so is an
// empty file, a trace that was cut off at once.
bool is_model(const std::string& path) {
  if (std::filesystem::is_directory(path)) return true;
  if (!std::filesystem::is_regular_file(path) || std::filesystem::file_size(path) == 0) return false;
  return !stream::looks_like_stream(MappedFile(path).bytes());
}

OpenOptions open_options(const Options& o) {
  OpenOptions open;
  open.compile.device = find_device(o.device).kind;
  open.compile.float64 = wants_float64(o.device);
  int64_t level = 0;
  if (o.level && (!parse_int(*o.level, &level) || level < 0 || level > 4))
    fail_usage("-O ", *o.level, ": choose from 0 to 4");
  open.compile.opt = static_cast<int>(level);
  open.shapes = o.shapes;
  open.trust = o.trust;
  use_folders(&open, std::getenv("XDG_CACHE_HOME"), std::getenv("XDG_CONFIG_HOME"), std::getenv("HOME"));
  open.note = cli::note;
  open.warn = cli::warn;
  return open;
}

// A network ready to run, with the samples as it wants them.
struct Side {
  Side(const Options& o, const std::string& path, const std::string& preprocess)
      : session(open_session(o.device, open_package(path, open_options(o)), {.threads = o.threads, .isa = {}})),
        plan(plan_batch(session->package())) {
    if (plan.batch != 1)
      fail_usage(path, ": its batch is fixed at ", plan.batch, "; layers are compared sample by sample");
    if (o.level && *o.level != std::to_string(session->package().info.opt))
      fail_usage(path, ": compiled at -O", session->package().info.opt, ", -O", *o.level, " is asked for");
    SourceOptions options;
    options.inputs = o.inputs;
    std::string name;
    PreprocessOptions spelled_out;
    parse_preprocess_spec(preprocess, &name, &spelled_out);
    if (names_images(o.inputs))
      options.preprocess = choose_preprocess(session->package(), plan, name, spelled_out, false);
    samples = open_samples(options, plan);
    graph = session->package().source;
    infer_types(graph);
  }
  std::unique_ptr<Session> session;
  BatchPlan plan;
  std::unique_ptr<SampleSource> samples;
  Graph graph;  // as it was read, typed
};

LocalizeReport localize_models(const Options& o) {
  for (const std::string& path : {o.source, o.target}) {
    if (std::filesystem::is_regular_file(path) && stream::looks_like_stream(MappedFile(path).bytes()))
      fail_usage(path,
                 " is a trace: it takes no INPUT, and is compared with another trace (dnn-infer --trace makes one)");
  }
  Side source(o, o.source, o.preprocess);
  Side target(o, o.target, o.target_preprocess.empty() ? o.preprocess : o.target_preprocess);
  forget_mapped_files();  // they have been packed
  Localizer localizer(&source.graph, &target.graph);
  OwnErrorOptions own_options;
  own_options.device = o.device;
  own_options.compile = open_options(o).compile;
  own_options.run.threads = o.threads;
  OwnErrors own(source.graph, target.graph, own_options);
  if (!wants_float64(o.device)) localizer.measure_own(&own);
  cli::Progress progress("samples", source.samples->count().value_or(0));
  compare_sessions(*source.session, *source.samples, *target.session, *target.samples, &localizer, cli::warn,
                   [&] { progress.advance(); });
  return localizer.finish(o.tolerance);
}

LocalizeReport localize_traces(const Options& o, std::optional<Error>* cut_off) {
  for (const std::string& path : {o.source, o.target}) {
    if (is_model(path)) fail_usage(path, " is no trace, and there is no INPUT to run a model on");
  }
  const std::unique_ptr<ByteSource> a = open_source(o.source), b = open_source(o.target);
  stream::Reader source(*a, source_name(o.source)), target(*b, source_name(o.target));
  Localizer localizer(nullptr, nullptr);
  *cut_off = compare_traces(source, target, &localizer);
  try {
    return localizer.finish(o.tolerance);
  } catch (const Error&) {
    if (*cut_off) throw **cut_off;
    throw;
  }
}

std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

int search_preprocessing(const Options& o) {
  PreprocessRequest request;
  request.source = o.source;
  request.target = o.target;
  request.inputs = o.inputs;
  request.preprocess = o.preprocess;
  request.target_preprocess = o.target_preprocess;
  request.network.device = o.device;
  request.network.level = o.level;
  request.network.shapes = o.shapes;
  request.network.trust = o.trust;
  use_folders(&request.folders, std::getenv("XDG_CACHE_HOME"), std::getenv("XDG_CONFIG_HOME"), std::getenv("HOME"));
  request.folders.note = cli::note;
  request.folders.warn = cli::warn;
  request.threads = o.threads;
  const SearchedPreprocess searched = search_preprocess_of(request);
  if (o.json) {
    cli::Output output(*o.json, cli::Output::Content::Text);
    output.write(preprocess_report_json(searched));
    output.commit();
  }
  if (o.json != "-") std::cout << preprocess_report_text(searched);
  return searched.report.verdict == PreprocessReport::Verdict::Agree ? 0 : static_cast<int>(ErrorKind::Negative);
}

int bisect_passes(const Options& o) {
  BisectRequest request;
  request.model = o.source;
  request.inputs = {o.target};
  request.inputs.insert(request.inputs.end(), o.inputs.begin(), o.inputs.end());
  request.preprocess = o.preprocess;
  request.target.device = o.device;
  request.target.level = o.level;
  request.target.passes = o.pass_changes;
  request.target.shapes = o.shapes;
  request.target.trust = o.trust;
  request.source.device = o.source_device.value_or(o.device);
  request.source.level = o.source_level;
  if (!o.source_level && find_framework(request.source.device) == nullptr) request.source.level = "0";
  use_folders(&request.folders, std::getenv("XDG_CACHE_HOME"), std::getenv("XDG_CONFIG_HOME"), std::getenv("HOME"));
  request.folders.note = request.options.note = cli::note;
  request.folders.warn = cli::warn;
  request.threads = o.threads;
  request.variable = variable;
  request.reduce = o.reduce;
  request.options.tolerance = {o.tolerance.atol, o.tolerance.rtol};
  const BisectedModel bisected = bisect_model(request);
  if (o.json) {
    cli::Output output(*o.json, cli::Output::Content::Text);
    output.write(bisect_json(bisected));
    output.commit();
  }
  if (o.json != "-") std::cout << bisect_text(bisected);
  return bisected.report.differs() ? static_cast<int>(ErrorKind::Negative) : 0;
}

int work(const Options& o) {
  if (o.passes && o.preprocessing) fail_usage("--passes and --preprocessing are two searches: give one");
  if (o.passes) return bisect_passes(o);
  if (o.preprocessing) return search_preprocessing(o);
  for (const auto& [given, name] :
       {std::pair(o.source_level.has_value(), "--source-opt"),
        std::pair(o.source_device.has_value(), "--source-device"), std::pair(!o.pass_changes.empty(), "--pass"),
        std::pair(!o.reduce.empty(), "--reduce")}) {
    if (given) fail_usage(name, " is for --passes");
  }
  std::optional<Error> cut_off;
  const LocalizeReport report = o.inputs.empty() ? localize_traces(o, &cut_off) : localize_models(o);
  const LocalizePresentation how = {o.source, o.target, o.sort, o.top};
  if (o.json) {
    cli::Output output(*o.json, cli::Output::Content::Text);
    output.write(localize_json(report, how));
    output.commit();
  }
  if (o.json != "-") std::cout << localize_table(report, how);
  std::cout.flush();
  if (cut_off) throw *cut_off;
  // Compiled without passes, what the graphs mean is all that runs; else a divergence may be a pass's or a kernel's.
  const bool plain = o.level.value_or("0") == "0" && (o.device == "cpu" || o.device == "reference");
  const bool no_fault = report.findings.empty() && (!report.first || (report.explained && plain));
  return no_fault ? 0 : static_cast<int>(ErrorKind::Negative);
}

}  // namespace

int main(int argc, char** argv) { return cli::run(kTool, argc, argv, declare, work); }
