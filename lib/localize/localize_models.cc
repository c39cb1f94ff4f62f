// Comparing two model files; see localize_models.h.
#include "localize/localize_models.h"

#include "base/mappings.h"
#include "devices/library.h"
#include "localize/preprocess_search.h"
#include "ops/op.h"

namespace dnn {
namespace {

constexpr const char* kLevel = "0";

std::shared_ptr<const Package> open(const std::string& path, NetworkOptions network, const OpenOptions& folders,
                                    const char* level) {
  if (find_framework(network.device) != nullptr)
    fail_usage("device ", network.device, ": only dnn-infer runs models in frameworks");
  network.level = network.level.value_or(level);
  OpenOptions options = open_options(network);
  options.cache_folder = folders.cache_folder;
  options.compile.build.cache_folder = folders.compile.build.cache_folder;
  options.key_path = folders.key_path;
  options.note = folders.note;
  options.warn = folders.warn;
  return open_package(path, options);
}

// A side, with the samples as it wants them.
struct Side {
  Side(const LocalizeRequest& request, const std::string& path, const std::string& preprocess)
      : network(path, request.network, request.folders, request.threads, kLevel) {
    SourceOptions options;
    options.inputs = request.inputs;
    std::string name;
    PreprocessOptions spelled_out;
    parse_preprocess_spec(preprocess, &name, &spelled_out);
    if (names_images(request.inputs))
      options.preprocess = choose_preprocess(*network.package, network.plan, name, spelled_out, false);
    samples = open_samples(options, network.plan);
    graph = network.package->source;
    infer_types(graph);
  }
  OpenedNetwork network;
  std::unique_ptr<SampleSource> samples;
  Graph graph;  // as it was read, typed
};

}  // namespace

OpenedNetwork::OpenedNetwork(const std::string& path, const NetworkOptions& network, const OpenOptions& folders,
                             int threads, const char* level)
    : package(open(path, network, folders, level)),
      session(open_session(network.device, package, {.threads = threads, .isa = network.isa})),
      plan(plan_batch(*package)) {
  if (plan.batch != 1) fail_usage(path, ": its batch is fixed at ", plan.batch, "; samples are run one by one");
  check_package(path, network, *package, plan);
}

LocalizeReport localize_models(const LocalizeRequest& request) {
  Side source(request, request.source, request.preprocess);
  Side target(request, request.target,
              request.target_preprocess.empty() ? request.preprocess : request.target_preprocess);
  forget_mapped_files();  // they have been packed
  Localizer localizer(&source.graph, &target.graph);
  OwnErrorOptions options;
  options.device = request.network.device;
  options.compile = open_options(request.network).compile;
  options.run.threads = request.threads;
  OwnErrors own(source.graph, target.graph, options);
  if (!wants_float64(request.network.device)) localizer.measure_own(&own);
  if (request.begin) request.begin(source.samples->count().value_or(0));
  compare_sessions(*source.network.session, *source.samples, *target.network.session, *target.samples, &localizer,
                   request.folders.warn, [&] {
                     if (request.done) request.done();
                   });
  return localizer.finish(request.tolerance);
}

bool runs_as_written(const NetworkOptions& network) {
  return network.level.value_or(kLevel) == kLevel && (network.device == "cpu" || network.device == "reference");
}

}  // namespace dnn
