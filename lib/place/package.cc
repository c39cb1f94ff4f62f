// Placed packages made and opened; see package.h.
#include "place/package.h"

#include <algorithm>
#include <set>

#include "base/affinity.h"
#include "base/counted.h"
#include "base/error.h"
#include "ops/op.h"
#include "passes/pass.h"
#include "place/joint.h"

namespace dnn::place {
namespace {

constexpr size_t kMostRuns = 10000;  // that a profile keeps

// True where a rewrite computes sizes and indices. Weights that are stored in a few bits stay for the passes that compute on those.
bool computes_sizes(const Graph& graph, const Patch& patch) {
  constexpr int64_t kFew = 16;
  for (NodeId id : patch.removed()) {
    const Node& node = graph.node(id);
    if (node.op == "DequantizeLinear" || node.op == "QuantizeLinear") return false;
    for (ValueId v : node.outputs) {
      if (v == kNoValue) continue;
      const Type& type = graph.value(v).type;
      const bool counts = type.dtype == DType::Int64 || type.dtype == DType::Int32 || type.dtype == DType::Bool;
      if (!type.fixed() || (!counts && element_count(type.fixed_shape()) > kFew)) return false;
    }
  }
  return true;
}

}  // namespace

Graph ready_to_place(const Graph& graph) {
  Graph ready = graph;
  infer_types(ready);
  PassOptions passes;
  passes.changes = "only:fold-constant";
  passes.allow = [](const Graph& g, const std::string&, const Patch& patch) { return computes_sizes(g, patch); };
  run_passes(ready, passes);
  remove_dead_nodes(ready);
  make_constant_outputs(ready);
  if (ready.order().empty()) fail_unsupported("the network has no nodes, so that there is nothing to place");
  infer_types(ready);
  for (const std::vector<ValueId>* ids : {&ready.inputs, &ready.outputs}) {
    for (ValueId v : *ids) {
      if (!ready.value(v).type.fixed())
        fail_unsupported("value ", quoted(ready.value(v).name), " is ", ready.value(v).type.text(),
                         ": parts are made of networks of fixed shapes; pass --shape or --batch");
    }
  }
  return ready;
}

Package make_placed(const Graph& source, const Graph& ready, const std::vector<Part>& parts, const Routing& routing,
                    const CompileOptions& options, bool keep_source) {
  auto placed = std::make_shared<Placed>();
  for (const Part& part : parts) placed->parts.push_back(part.entry());
  placed->lanes = routing.lanes;
  Package package;
  const auto holds = [&](const std::shared_ptr<Package>& own) {
    if (!keep_source) own->source = own->source.without_constants();
    if (package.info.passes.empty()) package.info.passes = own->info.passes;
    if (package.info.compiler.empty()) package.info.compiler = own->info.compiler;
    return own;
  };
  for (size_t way = 0; way < routing.ways.size(); ++way) {
    check_precisions(ready, parts, routing.ways[way]);
    const Plan plan = cut_into_segments(ready, routing.ways[way]);
    const std::optional<Joint> joint =
        routing.ways.size() == 1 ? compile_joint(ready, plan, parts, options) : std::nullopt;
    if (joint) placed->whole = holds(std::make_shared<Package>(*joint->package));
    for (size_t s = 0; s < plan.segments.size(); ++s) {
      const Segment& segment = plan.segments[s];
      placed->segments.push_back({segment.name, segment.part, segment.inputs, segment.outputs, nullptr, {}, way});
      if (joint) {
        placed->segments.back().steps = joint->steps[s];
      } else {
        placed->segments.back().package = holds(compile_segment(segment, parts[segment.part], options));
      }
    }
  }
  Variant& variant = package.variants.emplace_back();
  variant.target.backend = kPlacedBackend;
  variant.graph = std::make_shared<const Graph>(SourceGraph(ready).without_constants().structure());
  variant.values.resize(variant.graph->value_count());
  for (ValueId v : ready.inputs) package.input_types.push_back(ready.value(v).type);
  for (ValueId v : ready.outputs) package.output_types.push_back(ready.value(v).type);
  package.source = source;
  package.info.opt = options.opt;
  package.placed = placed;
  check_placed(package);
  return package;
}

Plan plan_of(const Package& package, size_t way) {
  const Graph& graph = package.graph();
  const Placed& placed = *package.placed;
  Plan plan;
  plan.inputs = graph.inputs;
  plan.outputs = graph.outputs;
  plan.values = static_cast<size_t>(graph.value_count());
  plan.parts = placed.parts.size();
  for (const PlacedSegment& s : placed.segments) {
    if (s.way == way) plan.segments.push_back({s.name, s.part, s.inputs, s.outputs});
  }
  count_copies(graph, plan);
  if (placed.whole != nullptr) plan.copies = plan.copied_bytes = 0;
  return plan;
}

std::string placed_line(const Package& package) {
  const Placed& placed = *package.placed;
  const Plan plan = plan_of(package);
  std::string line = cat(counted(placed.segments.size(), "segment"), " on ", join(placed.parts));
  if (placed.ways() == 1)
    line += cat(", ", plan.copies, plan.copies == 1 ? " copy of " : " copies of ", plan.copied_bytes, " bytes in all");
  if (!placed.lanes.empty()) line += cat(", ", counted(placed.lanes.size(), "run"), " at once");
  return line;
}

PlacedSession::PlacedSession(std::shared_ptr<const Package> package, const PlacedOptions& options)
    : Session(std::move(package)), in_flight_(options.in_flight) {
  const Placed& placed = *package_->placed;
  if (in_flight_ == 0) in_flight_ = std::max<size_t>(1, placed.lanes.size());
  if (placed.ways() > 1 && in_flight_ > placed.lanes.size())
    fail_usage("this package has ", counted(placed.ways(), "way"), " for a run to take, and ", placed.lanes.size(),
               " runs at once at most, not ", in_flight_);
  std::vector<Part> parts = parse_parts(join(placed.parts, ","));
  connect_parts(parts, options.connection);
  if (placed.whole != nullptr) {
    Joint joint{placed.whole, {}};
    for (const PlacedSegment& segment : placed.segments) joint.steps.push_back(segment.steps);
    parallel_ = open_joint(package_->graph(), plan_of(*package_), parts, joint, in_flight_);
    return;
  }
  std::vector<Plan> ways;
  std::vector<SegmentPackages> packages(placed.ways());
  for (const PlacedSegment& segment : placed.segments) packages[segment.way].push_back(segment.package);
  for (size_t way = 0; way < packages.size(); ++way) ways.push_back(plan_of(*package_, way));
  // Lanes of several ways are what runs are dealt to, however many are on their way: the same predictions in any case.
  const std::vector<size_t> lanes = packages.size() == 1 ? std::vector<size_t>(in_flight_, 0) : placed.lanes;
  parallel_ = open_ways(std::move(ways), parts, packages, lanes);
}

std::vector<const Lane*> PlacedSession::first_lanes() const {
  std::vector<const Lane*> lanes;
  std::vector<bool> known(parallel_->ways(), false);
  for (const Lane& lane : parallel_->lanes()) {
    if (!known[lane.way]) lanes.push_back(&lane);
    known[lane.way] = true;
  }
  return lanes;
}

std::string PlacedSession::isa() const {
  std::vector<std::string> isas;
  for (const Lane* lane : first_lanes()) {
    for (const auto& session : lane->sessions) {
      const std::string isa = session->isa();
      if (!isa.empty() && std::find(isas.begin(), isas.end(), isa) == isas.end()) isas.push_back(isa);
    }
  }
  return join(isas, "+");
}

// A part's threads are those of its sessions, which take turns.
int PlacedSession::threads() const {
  std::vector<int> threads(parallel_->parts().size(), 0);
  for (const Lane* lane : first_lanes()) {
    for (size_t s = 0; s < lane->sessions.size(); ++s) {
      int& most = threads[parallel_->plan(lane->way).segments[s].part];
      most = std::max(most, lane->sessions[s]->threads());
    }
  }
  int sum = 0;
  for (int n : threads) sum += n;
  return sum;
}

std::vector<int> PlacedSession::pinned_to() const {
  const std::vector<int>& processors = parallel_->callers_processors();
  return processors.empty() ? processors : std::vector<int>{processors.front()};
}

std::map<std::string, std::string> PlacedSession::facts() const {
  std::map<std::string, std::string> facts;
  std::vector<size_t> segments(parallel_->parts().size(), 0);
  int64_t copies = 0, bytes = 0;
  for (const Lane* lane : first_lanes()) {
    const Plan& plan = parallel_->plan(lane->way);
    copies += plan.copies;
    bytes += plan.copied_bytes;
    for (size_t s = 0; s < plan.segments.size(); ++s) {
      const size_t p = plan.segments[s].part;
      ++segments[p];
      for (const auto& [key, value] : lane->sessions[s]->facts())
        facts.emplace(cat(parallel_->parts()[p].letter, ".", key), value);
    }
  }
  std::vector<std::string> lines;
  for (size_t p = 0; p < segments.size(); ++p) {
    if (segments[p] > 0) lines.push_back(cat(segments[p], " on ", parallel_->parts()[p].label()));
  }
  facts["segments"] = join(lines);
  facts["copies"] = cat(copies, " of ", bytes, " bytes in all");
  if (parallel_->ways() > 1) facts["ways"] = cat(parallel_->ways(), ", taken in turn");
  return facts;
}

bool PlacedSession::is_emulated() const {
  for (const Lane* lane : first_lanes()) {
    for (const auto& session : lane->sessions) {
      if (session->is_emulated()) return true;
    }
  }
  return false;
}

std::string PlacedSession::latency_contains() const {
  return "one run of the network on a batch in memory, from its inputs to its outputs, on all its devices, with the "
         "copies between them";
}

std::vector<Tensor> PlacedSession::run(const std::vector<Tensor>& inputs) {
  submit(inputs);
  return collect();
}

void PlacedSession::submit(const std::vector<Tensor>& inputs) {
  check_inputs(inputs);
  parallel_->submit(inputs);
}

std::vector<Tensor> PlacedSession::collect() {
  std::vector<Tensor> outputs = parallel_->collect();
  if (profiling_ && parallel_->last_way() == 0 && runs_.size() < kMostRuns) runs_.push_back(parallel_->times());
  return outputs;
}

std::optional<int64_t> PlacedSession::latency_ns() const {
  return in_flight_ == 1 || is_emulated() ? std::nullopt : std::optional(parallel_->latency_ns());
}

std::vector<Tensor> PlacedSession::trace(const std::vector<Tensor>& inputs, const Observer& observe) {
  check_inputs(inputs);
  const Plan& plan = parallel_->plan();
  std::vector<Tensor> values(plan.values);
  std::set<ValueId> shown;
  const auto show = [&](ValueId v, const Tensor& tensor) {
    if (observe && v != kNoValue && shown.insert(v).second) observe(graph(), v, tensor);
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    values[plan.inputs[i]] = inputs[i];
    show(plan.inputs[i], inputs[i]);
  }
  const auto trace_one = [&](Session& session, const std::vector<ValueId>& from, const std::vector<ValueId>& to) {
    const PinnedThread pinned(session.pinned_to());
    std::vector<Tensor> given;
    for (ValueId v : from) given.push_back(values[v]);
    const std::vector<Tensor> made = session.trace(given, [&](const Graph& own, ValueId id, const Tensor& tensor) {
      if (&own != &session.graph()) return;  // a subgraph's own values
      show(graph().find_value(own.value(id).name), tensor);
      for (const std::string& alias : own.value(id).aliases) show(graph().find_value(alias), tensor);
    });
    for (size_t i = 0; i < made.size(); ++i) {
      values[to[i]] = made[i];
      show(to[i], made[i]);
    }
  };
  if (package_->placed->whole != nullptr) {
    // The same kernels on the same values, one after another.
    trace_one(*open_alone(package_->placed->whole, parallel_->parts().front()), plan.inputs, plan.outputs);
  } else {
    for (size_t s = 0; s < plan.segments.size(); ++s)
      trace_one(parallel_->session(s), plan.segments[s].inputs, plan.segments[s].outputs);
  }
  std::vector<Tensor> outputs;
  for (ValueId v : plan.outputs) outputs.push_back(values[v]);
  return outputs;
}

std::string PlacedSession::device() const {
  std::vector<std::string> entries;
  for (const Part& part : parallel_->parts()) entries.push_back(part.entry());
  return join(entries, ",");
}

std::unique_ptr<Session> open_where_placed(DeviceSpec* device, std::shared_ptr<const Package> package,
                                           const DeviceOptions& options, size_t in_flight) {
  if (package->placed != nullptr)
    return std::make_unique<PlacedSession>(std::move(package), PlacedOptions{options, in_flight});
  device->connect(options);
  return open_session(*device, std::move(package), options);
}

}  // namespace dnn::place
