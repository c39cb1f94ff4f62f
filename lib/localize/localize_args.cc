// Options and tasks; see localize_args.h.
#include "localize/localize_args.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "localize/alignment_text.h"

namespace dnn {
namespace {

const std::vector<std::string> kSorts = {"divergence", "added", "order", "labels"};

// A pipe, which cannot be looked at twice, is believed to be a trace; so is an empty file, a trace that was cut off at once.
bool is_model(const std::string& path) {
  if (std::filesystem::is_directory(path)) return true;
  return std::filesystem::is_regular_file(path) && std::filesystem::file_size(path) != 0 && !looks_like_trace(path);
}

constexpr unsigned kModels = 1, kTraces = 2, kPreprocessing = 4, kPrecision = 8;
constexpr unsigned kPairs = kModels | kPreprocessing, kRuns = kPairs | kPrecision;
const std::vector<std::pair<unsigned, std::string>> kTasks = {
    {kModels, "two models"}, {kTraces, "two traces"}, {kPreprocessing, "--preprocessing"}, {kPrecision, "--precision"}};
const std::map<std::string, unsigned> kOptionsOf = {{"--opt", kPairs},
                                                    {"--reduce", kModels},
                                                    {"--arithmetic", kModels},
                                                    {"--source-arithmetic", kModels},
                                                    {"--preprocess", kRuns},
                                                    {"--target-preprocess", kPairs},
                                                    {"--alignment", kModels},
                                                    {"--aligned", kModels},
                                                    {"--csv", kModels | kTraces | kPrecision},
                                                    {"--shape", kRuns},
                                                    {"--atol", kModels | kTraces | kPrecision},
                                                    {"--rtol", kModels | kTraces | kPrecision},
                                                    {"--sort", kModels | kTraces},
                                                    {"--top", kModels | kTraces | kPrecision},
                                                    {"--samples-equal", kModels | kTraces},
                                                    {"--samples-different", kModels | kTraces},
                                                    {"--repeats", kModels | kTraces},
                                                    {"--seed", kModels | kTraces},
                                                    {"--fill", kModels},
                                                    {"--time-limit", kRuns},
                                                    {"--trust", kRuns},
                                                    {"--device", kRuns},
                                                    {"--key", kRuns},
                                                    {"--adb-host", kRuns},
                                                    {"--threads", kRuns}};

void check_options_of(const LocalizeArgs& o, unsigned task) {
  for (const std::string& name : o.given) {
    const auto found = kOptionsOf.find(name);
    if (found == kOptionsOf.end() || (found->second & task) != 0) continue;
    std::vector<std::string> tasks;
    for (const auto& [of, what] : kTasks) {
      if ((found->second & of) != 0) tasks.push_back(what);
    }
    fail_usage(name, " is for ", join(tasks, ", "));
  }
}

}  // namespace

std::optional<LabelSampling> LocalizeArgs::label_sampling() const {
  for (const char* name : {"--samples-equal", "--samples-different", "--repeats"}) {
    if (gives(name)) return sampling;
  }
  return std::nullopt;
}

void declare_localize(cli::Args& args, LocalizeArgs& o) {
  args.positional(&o.source, "SOURCE", "a model, a package, or a trace of dnn-infer: what is right");
  args.positional(&o.target, "TARGET", "the same of what is doubted");
  args.positionals(&o.inputs, "INPUT", "for models, as for dnn-infer: images, folders, lists, .npy, .npz", 0);
  args.option(&o.network.level, "-O,--opt", "0..4", "level of models (default 0; --preprocessing 3)");
  args.option(&o.reduce, "--reduce", "DIR", "write what differs, made small, as models and a report");
  args.option(&o.precision, "--precision", "TYPE", "MODEL INPUT...: rank layers by float16, bfloat16 or int8");
  args.option(&o.network.arithmetic, "--arithmetic", "NAME",
              "of quantised layers: onnx, float, tflite or tflite-micro; --source-arithmetic: SOURCE's");
  args.option(&o.source_arithmetic, "--source-arithmetic", "NAME", "");
  args.flag(&o.preprocessing, "--preprocessing", "search the target's preprocessing and labels");
  args.option(&o.target_preprocess, "--target-preprocess", "SPEC", "its own, as \"none scale=1/255 channels=bgr\"");
  args.option(&o.alignment, "--alignment", "FILE", "which layers are one: lines of SOURCE<TAB>TARGET, - for none");
  args.option(&o.aligned, "--aligned", "FILE", "write what was lined up, in that form");
  args.option(&o.csv, "--csv", "FILE", "mean, deviation, largest of each layer and its weights, as CSV");
  args.option(&o.fill, "--fill", "WHAT", "in place of INPUTs: " + join(fill_names(), ", ") + " (--seed)");
  args.option(&o.tolerance.atol, "--atol", "X", "a layer diverges beyond X + R times its largest", 0);
  args.option(&o.tolerance.rtol, "--rtol", "R", "see --atol; --precision has no default", 0);
  args.option(&o.sort, "--sort", "HOW", "order of rows: " + join(kSorts, ", "));
  args.option(&o.sampling.n_equal, "--samples-equal", "N", "rank layers by labels: draw N samples of the same label",
              1);
  args.option(&o.sampling.n_different, "--samples-different", "N", "and N whose label differs", 1);
  args.option(&o.sampling.n_repeats, "--repeats", "N", "draws, whose ranks are joined", 1);
  args.option(&o.top, "--top", "N", "rows of each table; 0 for all", 0);
  args.seed(&o.sampling.seed);
  declare_search(args, &o, "where to run: reference (models at -O0), opencl:0, ...");
}

LocalizeTask localize_task(const LocalizeArgs& o) {
  o.check_not_empty({{"--reduce", o.reduce},
                     {"--alignment", o.alignment},
                     {"--aligned", o.aligned},
                     {"--csv", o.csv},
                     {"--precision", o.precision}});
  if (std::find(kSorts.begin(), kSorts.end(), o.sort) == kSorts.end())
    fail_usage("--sort: '", o.sort, "' is none of ", join(kSorts));
  if (o.csv == "-" && o.json == "-") fail_usage("--csv and --json cannot both be standard output: name a file for one");
  if (o.preprocessing && !o.precision.empty()) fail_usage("--precision and --preprocessing are two searches: give one");
  const unsigned task = o.preprocessing                      ? kPreprocessing
                        : !o.precision.empty()               ? kPrecision
                        : o.inputs.empty() && o.fill.empty() ? kTraces
                                                             : kModels;
  check_fill(o.fill);
  if (!o.fill.empty() && !o.inputs.empty()) fail_usage("--fill generates the inputs, so ", o.inputs[0], " has no use");
  for (const std::string& path : {o.source, o.target}) {
    if (task == kTraces && is_model(path)) fail_usage(path, " is no trace, and there is no INPUT to run a model on");
    if (task == kModels && looks_like_trace(path))
      fail_usage(path,
                 " is a trace: it takes no INPUT, and is compared with another trace (dnn-infer --trace makes one)");
  }
  check_options_of(o, task);
  return static_cast<LocalizeTask>(task);
}

LocalizeRequest localize_request(const LocalizeArgs& o) {
  auto request = pair_request<LocalizeRequest>(o, o.source, o.target, o.target_preprocess);
  request.fill = o.fill;
  request.seed = o.sampling.seed;
  request.source_arithmetic = o.source_arithmetic;
  request.tolerance = o.tolerance;
  if (!o.alignment.empty()) request.alignment = parse_alignment(read_file(o.alignment), o.alignment);
  request.statistics = !o.csv.empty();
  request.maps = o.json.has_value();
  request.label_sampling = o.label_sampling();
  request.reduce = o.reduce;
  request.reduce_most = o.top;
  return request;
}

}  // namespace dnn
