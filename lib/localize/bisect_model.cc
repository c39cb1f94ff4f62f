// Bisecting a model file; see bisect_model.h.
#include "localize/bisect_model.h"

#include <filesystem>

#include "base/file.h"
#include "convert/framework_file.h"
#include "devices/library.h"
#include "formats/format.h"
#include "localize/reduce.h"
#include "localize/side_run.h"

namespace dnn {
namespace {

std::string side_name(const NetworkOptions& network, const std::optional<int>& level) {
  std::string name = network.device.text();
  if (level) name += cat(" -O", *level);
  if (!network.passes.empty()) name += " --pass=" + network.passes;
  return name;
}

// A side, and what a framework needs to run it.
struct Opened {
  Opened(const BisectRequest& request, const NetworkOptions& network, const std::shared_ptr<const Package>& written) {
    side = side_of(request, network);
    if (network.device.framework() == nullptr) {
      side.name = side_name(network, side.compile.opt);
      return;
    }
    DeviceOptions options = side.run;
    options.opt = framework_level(network);
    options.trust_model = network.trust_model;
    side.name = side_name(network, options.opt);
    framework_session = open_in_framework(network.device, request.model, written, options, false, request.folders.warn);
    side.as_it_is = framework_session.session.get();
  }
  BisectSide side;
  FrameworkSession framework_session;
};

std::string flags_of(const NetworkOptions& network, const char* device, const char* level, const BisectSide& side) {
  std::string text = cat(" ", device, " ", network.device, " ", level, " ", side.compile.opt);
  if (!network.passes.empty()) text += " --pass=" + network.passes;
  return text;
}

BisectedModel::ReducedTo reduce(const BisectRequest& request, const Graph& model, const BisectSample& sample,
                                const BisectSide& source, const BisectSide& target) {
  const auto runner = [](const BisectSide& side) {
    return
        [&side](const Graph& graph, const std::vector<Tensor>& inputs) { return SideRun(graph, side, {}).run(inputs); };
  };
  ReduceOptions options;
  options.tolerance = request.options.tolerance;
  options.note = request.folders.note;
  options.deadline = request.options.deadline;
  const RunModel right = runner(source), doubted = runner(target);
  const Reduced reduced = reduce_model(model, sample.inputs, right, doubted, options);
  ReproFacts facts;
  facts.model = std::filesystem::path(request.model).filename().string();
  facts.source = source.name;
  facts.target = target.name;
  facts.command = cat("dnn-bisect", flags_of(request.target, "--device", "--opt", target),
                      flags_of(request.source, "--source-device", "--source-opt", source), " --atol ",
                      exact_text(options.tolerance.atol), " --rtol ", exact_text(options.tolerance.rtol),
                      " reduced.onnx inputs.npz");
  write_reduced(reduced, facts, request.reduce);
  BisectedModel::ReducedTo result;
  result.folder = request.reduce;
  result.n_nodes = static_cast<int64_t>(reduced.graph.order().size());
  result.n_nodes_before = reduced.n_nodes_before;
  result.max_abs = reduced.movement.max_abs;
  const Graph again = read_model(open_model(request.reduce + "/reduced.onnx", {}));
  result.files_differ =
      movement(right(again, reduced.inputs), doubted(again, reduced.inputs), options.tolerance).excess > 1;
  return result;
}

BisectedModel::ReducedTo not_reduced(const std::string& why_not) {
  BisectedModel::ReducedTo result;
  result.why_not = why_not;
  return result;
}

// What was found is told all the same.
BisectedModel::ReducedTo reduced_or_why_not(const BisectRequest& request, const Graph& model,
                                            const BisectSample& sample, const BisectSide& source,
                                            const BisectSide& target) {
  try {
    return reduce(request, model, sample, source, target);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::Internal || e.kind() == ErrorKind::Environment) throw;
    return not_reduced(e.what());
  }
}

}  // namespace

BisectSide side_of(const OneModelRequest& request, const NetworkOptions& network) {
  BisectSide side;
  side.device = network.device;
  side.compile = open_options(network).compile;
  side.compile.build = request.folders.compile.build;
  side.compile.build.warn = request.folders.warn;
  side.run.threads = request.threads;
  side.run.isa = network.isa;
  side.run.variable = network.variable;
  return side;
}

BisectedModel bisect_model(const BisectRequest& request) {
  const std::shared_ptr<const Package> written = open_as_written(request, request.target);
  if (!request.reduce.empty() && request.source.device.framework() != nullptr)
    fail_usage("--reduce is for two sides that are compiled here, not for ", request.source.device);
  if (!request.reduce.empty()) make_folders(request.reduce);  // before time is spent on what goes there
  const Opened source(request, request.source, written), target(request, request.target, written);

  BisectedModel bisected;
  bisected.model = request.model;
  bisected.source = source.side.name;
  bisected.target = target.side.name;
  bisected.tolerance = request.options.tolerance;
  BisectOptions search = request.options;
  search.deadline = search.deadline.rest();  // reading the model is no part of the search
  HeldSamples held = hold_samples(request, *written, search.deadline);
  bisected.labels = std::move(held.labels);
  bisected.not_judged = held.not_judged;
  const std::vector<BisectSample> samples = std::move(held.samples);
  for (const BisectSample& sample : samples) bisected.paths.push_back(sample.path);
  bisected.report = bisect(written->source.graph(), samples, source.side, target.side, search);
  bisected.not_judged.left_out += static_cast<int64_t>(samples.size() - bisected.report.n_samples);
  if (!request.reduce.empty() && bisected.report.differs()) {
    const BisectSample& sample = samples[bisected.report.differs_most];
    bisected.reduced = bisected.report.beyond_tolerance
                           ? reduced_or_why_not(request, written->source.graph(), sample, source.side, target.side)
                           : not_reduced("outputs are within the tolerance, only labels differ");
  }
  bisected.report.ran_out = request.options.deadline.ran_out();
  return bisected;
}

}  // namespace dnn
