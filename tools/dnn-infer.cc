// dnn-infer: runs a model or a package on images, arrays or a stream, and writes predictions as a stream.
#include <iostream>

#include "base/affinity.h"
#include "base/counted.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "cli/output.h"
#include "compile/open.h"
#include "convert/framework_file.h"
#include "infer/affinity.h"
#include "infer/infer_args.h"
#include "infer/preprocess_hint.h"
#include "infer/profile.h"
#include "infer/record_run.h"
#include "place/package.h"
#include "place/timeline.h"
#include "usage/topology.h"

namespace dnn::tools::dnn_infer {

const cli::Tool kTool = {
    .name = "dnn-infer",
    .summary = "Runs a network on samples and writes a stream. A model is compiled first, through a cache.",
    .negative = ""};

FrameworkSession open(const InferArgs& o, NetworkOptions* network, DeviceOptions options,
                      const std::shared_ptr<const Package>& package) {
  const Framework* framework = network->device.framework();
  if (framework == nullptr)
    return {{}, place::open_where_placed(&network->device, package, options, o.runs_in_flight())};
  options.opt = framework_level(*network);
  options.trust_model = network->trust_model;
  FrameworkSession opened = open_in_framework(network->device, o.model, package, options, o.traces(), cli::warn);
  if (!opened.file.converted_from.empty())
    cli::note(cat(o.model, ": converted to ", opened.file.format, " for ", framework->name));
  return opened;
}

// Shows what the steps took, or on several devices the segments.
void show_profile(const InferArgs& o, const Session& session) {
  const auto* placed = dynamic_cast<const place::PlacedSession*>(&session);
  if (placed == nullptr && o.run.profile) cli::show(profile_of_session(session));
  if (placed == nullptr || placed->runs().empty()) return;
  const place::RunReport report = place::report_runs(placed->parallel(), placed->runs());
  if (o.run.profile) cli::show(place::profile_text(report));
  if (!o.timeline.empty()) write_file(o.timeline, place::timeline_json({{o.model, report.segments}}));
}

// Warnings and figures; the exit code.
int report(const RecordedRun& run, const BatchPlan& plan, bool pinned) {
  const RunSummary& summary = run.summary;
  for (const std::string& warning : warnings_of(summary, pinned)) cli::warn(warning);
  for (const std::string& line : summary_lines(summary, plan, run.usage.get())) cli::say_unless_quiet(line);
  if (summary.n_failed == 0) return 0;
  cli::say_error(
      cat(summary.n_failed, " of ", counted(summary.n_failed + summary.n_samples, "input"), " could not be read"));
  return static_cast<int>(*summary.first_failure);
}

int work(const InferArgs& o) {
  NetworkOptions network = o.network;
  DeviceOptions device_options = o.connection();
  device_options.threads = o.threads;
  device_options.isa = network.isa;
  network.device = o.device;
  if (o.list_devices) {
    o.check_connection(o.device);
    if (network.device.is_remote()) network.device.connect(device_options);
    for (const std::string& line : device_lines(network.device, device_options, cli::warn)) std::cout << line << '\n';
    return 0;
  }
  check_infer(o, network.device);
  if (o.affinity) {
    device_options.processors = choose_processors(*o.affinity, usage::core_classes(), allowed_processors());
    keep_to(device_options.processors);  // before anything starts threads or processes, which inherit it
  }
  cli::Output output(o.output, cli::Output::Content::Binary);
  // Without --device a key may be for a part of a placed package.
  if (o.key.empty() || o.gives("--device")) network.device.connect(device_options);
  OpenOptions opening = open_options(network);
  use_folders(&opening, cli::variable);
  opening.note = cli::note;
  opening.warn = cli::warn;
  if (o.takes_images() && !o.spells_out()) require_stated_preprocess(o.model, opening);
  const std::shared_ptr<const Package> package = open_package(o.model, opening);
  const BatchPlan plan = plan_batch(*package);
  check_package(o.model, network, *package, plan);
  // A package brings its device.
  if (!o.gives("--device") && package->placed == nullptr && package->backend() != network.device.device().target())
    network.device = device_of_package(*package);
  check_placement(o, network.device, *package);
  o.check_connection(package->placed == nullptr ? network.device.text() : join(package->placed->parts));
  const FrameworkSession opened = open(o, &network, device_options, package);
  RunPlace place = {network.device.text(), nullptr, device_options.processors};
  if (const auto* placed = dynamic_cast<const place::PlacedSession*>(opened.session.get())) {
    place.device = placed->device();
  } else if (network.device.is_remote()) {
    place.host = network.device.remote();
  }
  RunInputs inputs(o, *package, plan, stream::seconds_to_wait(cli::variable(stream::kWaitVariable)), cli::warn);
  const auto add_facts = [&](stream::Header* header) {
    header->tool = kTool.name;
    describe(opened.file, header);
    if (const std::string node = cli::variable("SLURMD_NODENAME"); !node.empty()) header->host["node"] = node;
  };
  const RecordedRun run = record_run(o, *opened.session, plan, place, inputs, add_facts, output);
  output.commit();
  show_profile(o, *opened.session);
  return report(run, plan, o.affinity.has_value());
}

cli::Program program() { return cli::program(kTool, declare_infer, work); }

}  // namespace dnn::tools::dnn_infer
