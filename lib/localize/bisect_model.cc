// Bisecting a model file; see bisect_model.h.
#include "localize/bisect_model.h"

#include "convert/framework_file.h"
#include "devices/library.h"
#include "infer/sample_source.h"

namespace dnn {
namespace {

constexpr size_t kMostSamples = 1000;  // held in memory

std::string side_name(const NetworkOptions& network, const std::optional<int>& level) {
  std::string name = network.device;
  if (level) name += cat(" -O", *level);
  if (!network.passes.empty()) name += " --pass=" + network.passes;
  return name;
}

// A side, and what a framework needs to run it.
struct Opened {
  Opened(const BisectRequest& request, const NetworkOptions& network, const std::shared_ptr<const Package>& written) {
    const Framework* framework = find_framework(network.device);
    OpenOptions open = open_options(network);
    side.device = network.device;
    side.compile = open.compile;
    side.compile.build = request.folders.compile.build;
    side.compile.build.warn = request.folders.warn;
    side.run.threads = request.threads;
    side.run.isa = network.isa;
    if (framework == nullptr) {
      side.name = side_name(network, side.compile.opt);
      return;
    }
    DeviceOptions options = side.run;
    options.variable = request.variable;
    options.opt = framework_level(network);
    side.name = side_name(network, options.opt);
    framework_session =
        open_in_framework(*framework, network.device, request.model, written, options, false, request.folders.warn);
    side.as_it_is = framework_session.session.get();
  }
  BisectSide side;
  FrameworkSession framework_session;
};

}  // namespace

BisectedModel bisect_model(const BisectRequest& request) {
  // The model as it is written: no passes, no kernels.
  NetworkOptions as_written = request.target;
  as_written.device = "reference";
  as_written.level = "0";
  as_written.passes = as_written.isa = "";
  OpenOptions open = open_options(as_written);
  open.note = request.folders.note;
  open.warn = request.folders.warn;
  open.key_path = request.folders.key_path;
  const std::shared_ptr<const Package> written = open_package(request.model, open);
  const BatchPlan plan = plan_batch(*written);
  if (plan.batch != 1)
    fail_usage(request.model, ": its batch is fixed at ", plan.batch, "; samples are compared one by one");
  if (find_framework(request.target.device) != nullptr)
    fail_usage("--device ", request.target.device,
               ": a framework's passes cannot be seen; search ours against it with --source-device");
  const Opened source(request, request.source, written), target(request, request.target, written);

  BisectedModel bisected;
  bisected.model = request.model;
  bisected.source = source.side.name;
  bisected.target = target.side.name;
  bisected.tolerance = request.options.tolerance;
  SourceOptions options;
  options.inputs = request.inputs;
  if (names_images(request.inputs))
    options.preprocess =
        choose_preprocess(*written, plan, request.preprocess, request.spelled_out, request.apply_orientation);
  const RunLabels labels = choose_labels(*written, "", request.inputs, class_count(*written, plan, ""));
  bisected.labels = labels.set;
  std::vector<BisectSample> samples;
  const std::unique_ptr<SampleSource> stream = open_samples(options, plan);
  while (auto load = stream->next()) {
    LoadedSample sample = (*load)();
    const auto warn = [&](const std::string& message) {
      if (request.folders.warn) request.folders.warn(message);
    };
    if (!sample.warning.empty()) warn(sample.warning);
    if (sample.error) {
      warn(cat(sample.error->what(), "; skipped"));
      continue;
    }
    if (samples.size() == kMostSamples) {
      warn(cat("more than ", kMostSamples, " samples: the rest is left out"));
      break;
    }
    bisected.paths.push_back(sample.path.empty() ? cat("#", sample.id) : sample.path);
    samples.push_back({bisected.paths.back(), std::move(sample.inputs)});
  }
  bisected.report = bisect(written->source, samples, source.side, target.side, request.options);
  return bisected;
}

}  // namespace dnn
