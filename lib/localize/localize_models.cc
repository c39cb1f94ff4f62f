// Comparing two model files; see localize_models.h.
#include "localize/localize_models.h"

#include "base/counted.h"
#include "base/mappings.h"
#include "base/printable.h"
#include "compile/arithmetic.h"
#include "devices/library.h"
#include "localize/preprocess_search.h"
#include "localize/quantised_cost.h"
#include "localize/quantised_noise.h"
#include "ops/op.h"

namespace dnn {
namespace {

constexpr const char* kLevel = "0";

std::shared_ptr<const Package> open(const std::string& path, NetworkOptions network, const OpenOptions& folders,
                                    const char* level) {
  if (network.device.framework() != nullptr)
    fail_usage("device ", network.device, ": only dnn-infer runs models in frameworks");
  network.level = network.level.value_or(level);
  OpenOptions options = open_options(network);
  options.cache_folder = folders.cache_folder;
  options.compile.build.cache_folder = folders.compile.build.cache_folder;
  options.compile.build.key_path = folders.compile.build.key_path;
  options.key_path = folders.key_path;
  options.note = folders.note;
  options.warn = folders.warn;
  return open_package(path, options);
}

OwnErrorOptions own_options(const LocalizeRequest& request, ThreadPool* pool) {
  OwnErrorOptions options;
  options.pool = pool;
  options.keep = std::max<size_t>(request.keep, request.maps || !request.reduce.empty() ? 1 : 0);
  options.keep_showing = request.keep_showing || !request.reduce.empty();
  options.deadline = request.deadline;
  return options;
}

// A finding that is of no segment has none to reduce.
std::vector<Finding> with_own_errors(std::vector<Finding> findings) {
  std::erase_if(findings, [](const Finding& f) { return f.own == Finding::kNoOwn; });
  return findings;
}

}  // namespace

OpenedNetwork::OpenedNetwork(const std::string& path, const NetworkOptions& network, const OpenOptions& folders,
                             int threads, const char* level)
    : package(open(path, network, folders, level)),
      session(open_session(network.device, package,
                           {.threads = threads, .isa = network.isa, .variable = network.variable})),
      plan(plan_batch(*package)) {
  if (plan.batch != 1) fail_usage(path, ": its batch is fixed at ", plan.batch, "; samples are run one by one");
  check_package(path, network, *package, plan);
}

TakenSamples::TakenSamples(std::unique_ptr<SampleSource> source, std::function<bool(int64_t)> takes)
    : source_(std::move(source)), takes_(std::move(takes)) {}

std::optional<SampleSource::Load> TakenSamples::next() {
  auto load = source_->next();
  for (; load && takes_ && !takes_(place_); ++place_) load = source_->next();
  ++place_;
  return load;
}

std::optional<int64_t> TakenSamples::count() const {
  const std::optional<int64_t> all = source_->count();
  if (!all || !takes_) return all;
  int64_t n = 0;
  for (int64_t i = 0; i < *all; ++i) n += takes_(i) ? 1 : 0;
  return n;
}

namespace {

std::unique_ptr<SampleSource> samples_of(const LocalizeRequest& request, const Package& package, const BatchPlan& plan,
                                         const std::string& preprocess) {
  SourceOptions options;
  options.inputs = request.inputs;
  options.fill = request.fill;
  options.seed = request.seed;
  options.fill_count = request.fill == "random" ? kFilledSamples : 1;
  options.of_others = true;
  std::string name;
  PreprocessOptions spelled_out;
  parse_preprocess_spec(preprocess, &name, &spelled_out);
  if (names_images(request.inputs)) options.preprocess = choose_preprocess(package, plan, name, spelled_out, false);
  return std::make_unique<TakenSamples>(open_samples(options, plan), request.takes);
}

}  // namespace

ComparedNetwork::ComparedNetwork(const LocalizeRequest& request, const NetworkOptions& network, const std::string& path,
                                 const std::string& preprocess)
    : OpenedNetwork(path, network, request.folders, request.threads, kLevel) {
  samples = samples_of(request, *package, plan, preprocess);
  graph = in_arithmetic(package->source.graph(), arithmetic_of(package->info.passes));
  infer_types(graph);
}

void ComparedNetwork::replace(const LocalizeRequest& request, const NetworkOptions& network,
                              const std::string& preprocess, const Graph& other) {
  NetworkOptions leveled = network;
  leveled.level = network.level.value_or(kLevel);
  OpenOptions options = open_options(leveled);
  options.compile.build.cache_folder = request.folders.compile.build.cache_folder;
  options.compile.build.key_path = request.folders.compile.build.key_path;
  auto made = std::make_shared<Package>(compile(other, options.compile));
  made->info.model_path = package->info.model_path;
  package = std::move(made);
  session = open_session(network.device, package,
                         {.threads = request.threads, .isa = network.isa, .variable = network.variable});
  plan = plan_batch(*package);
  samples = samples_of(request, *package, plan, preprocess);
  graph = other;
}

namespace {

NetworkOptions source_network(const LocalizeRequest& request) {
  NetworkOptions network = request.network;
  network.arithmetic.reset();
  if (!request.source_arithmetic.empty()) network.arithmetic = request.source_arithmetic;
  return network;
}

}  // namespace

std::string target_preprocess_of(const LocalizeRequest& request) {
  if (request.stored_preprocess) return "";
  return request.target_preprocess.empty() ? request.preprocess : request.target_preprocess;
}

ModelComparison::ModelComparison(const LocalizeRequest& request)
    : request_(request),
      source_(request, source_network(request), request.source, request.preprocess),
      target_(open_target()),
      pool_(request.threads),
      own_(source_.graph, target_.graph, own_options(request, &pool_)) {}

// As it was read, or this in its place.
ComparedNetwork ModelComparison::open_source(const Graph* instead) const {
  ComparedNetwork source(request_, source_network(request_), request_.source, request_.preprocess);
  if (instead != nullptr) source.replace(request_, source_network(request_), request_.preprocess, *instead);
  return source;
}

// As it was written, or what it is a quantisation of.
ComparedNetwork ModelComparison::open_target() {
  ComparedNetwork target(request_, request_.network, request_.target, target_preprocess_of(request_));
  const Graph expanded = with_quantisers(target.graph);
  if (!QuantisedPair::is_one(source_.graph, expanded)) {
    widen_target(&target);
    return target;
  }
  quantised_ = std::make_unique<QuantisedPair>(source_.graph, expanded, [&](const Graph* instead) {
    ComparedNetwork ranged = open_source(instead);
    return measure_ranges(request_, ranged);
  });
  target.replace(request_, request_.network, target_preprocess_of(request_), quantised_->undone());
  return target;
}

// Of a target in smaller floats the float32 network that it is the rounding of; one that runs over stays as it is.
void ModelComparison::widen_target(ComparedNetwork* target) {
  small_floats_ = small_floats(source_.graph, target->graph);
  if (!small_floats_) return;
  if (small_floats_->activations) {
    ComparedNetwork ranged = open_source(nullptr);
    if (beyond_float16(measure_ranges(request_, ranged))) {
      small_floats_.reset();
      return;
    }
  }
  written_ = target->graph;
  target->replace(request_, request_.network, target_preprocess_of(request_),
                  widened(source_.graph, *written_, &*small_floats_));
}

// On the network as it was written.
void ModelComparison::add_quantisation(LocalizeReport* report) {
  quantised_->add_findings(own_, &report->findings);
  report->quantisation = quantised_->report();
  ComparedNetwork source = open_source(quantised_->instead());
  ComparedNetwork target(request_, request_.network, request_.target, target_preprocess_of(request_));
  measure_costs(request_, *quantised_, source, target, &pool_, &*report->quantisation);
}

OutputNoise ModelComparison::noise() const {
  OutputNoise noise;
  try {
    ComparedNetwork ranged = open_source(quantised_->instead());
    const Graph noisy = rounded_source(*quantised_, measure_ranges(request_, ranged));
    ComparedNetwork source = open_source(nullptr), as_quantised = open_source(quantised_->instead()),
                    rounded = open_source(&noisy);
    ComparedNetwork target(request_, request_.network, request_.target, target_preprocess_of(request_));
    return output_noise(request_, *quantised_, source, as_quantised, rounded, target);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Malformed && e.kind() != ErrorKind::Unsupported) throw;
    noise.why_not = e.what();
  }
  return noise;
}

LocalizeReport ModelComparison::run() {
  forget_mapped_files();  // they have been packed
  Localizer localizer(&source_.graph, &target_.graph);
  localizer.give(request_.alignment);
  localizer.share(&pool_);
  if (request_.statistics) localizer.measure_statistics();
  if (request_.label_sampling) localizer.rank_labels(*request_.label_sampling);
  if (request_.maps) localizer.show_first(request_.tolerance);
  if (!request_.network.device.float64()) localizer.measure_own(&own_);
  bool told = !request_.folders.note;
  const auto tell_early = [&] {
    const std::vector<Finding> found = findings_of(source_.graph, target_.graph, own_.results());
    if (!found.empty())
      request_.folders.note(cat("after the first sample: ", counted(found.size(), "layer"),
                                found.size() == 1 ? " is" : " are", " wrong, the first ",
                                plain(found[0].target.nodes.empty() ? "" : found[0].target.nodes[0]), ": ",
                                plain(found[0].what)));
  };
  if (!request_.reduce.empty()) make_reduced_folder(request_.reduce);
  if (request_.begin) request_.begin(source_.samples->count().value_or(0));
  const NotJudged not_judged = compare_sessions(
      *source_.session, *source_.samples, *target_.session, *target_.samples, &localizer, request_.folders.warn,
      [&] {
        if (!told) tell_early();
        told = true;
        if (request_.done) request_.done();
      },
      request_.deadline);
  LocalizeReport report = localizer.finish(request_.tolerance);
  report.not_judged = not_judged;
  if (quantised_) add_quantisation(&report);
  report.small_floats = small_floats_;
  if (!request_.reduce.empty())
    report.reduced = reduce_findings({source_.graph, target_.graph, own_, request_}, with_own_errors(report.findings));
  report.ran_out = request_.deadline.ran_out();
  if (request_.maps) add_maps(&report);  // pictures that are left out leave nothing unknown
  return report;
}

// Of the first findings, on the first sample, as that is kept.
void ModelComparison::add_maps(LocalizeReport* report) const {
  for (size_t i = 0; i < std::min(report->findings.size(), kMostMappedFindings); ++i) {
    const size_t joint = report->findings[i].own;
    if (joint == Finding::kNoOwn) continue;
    if (own_.kept() == 0 || request_.deadline.stops()) return;
    const auto sides = own_.side_by_side(joint, 0);
    std::optional<ActivationMaps> maps = sides ? activation_maps(sides->first, sides->second) : std::nullopt;
    if (!maps) continue;
    const std::string& layer = source_.graph.value(own_.results()[joint].joint.source).name;
    report->maps.push_back({i, layer, report->shown_samples.at(0).name, std::move(*maps)});
  }
}

bool runs_as_written(const NetworkOptions& network) {
  return network.level.value_or(kLevel) == kLevel && (network.device == "cpu" || network.device == "reference");
}

}  // namespace dnn
