// Measuring the costs of nodes and copies; see costs.h.
#include "place/costs.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <numeric>
#include <thread>

#include "base/affinity.h"
#include "base/error.h"
#include "ops/op.h"
#include "place/measure.h"
#include "place/timeline.h"

namespace dnn::place {
namespace {

constexpr int64_t kNodeWarmUp = 3, kRuns = 15;
constexpr int64_t kSmall = 16 << 10, kLarge = 1 << 20;  // bytes of values whose copies are timed

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

void scale_to(std::vector<double>& values, double sum) {
  const double now = sum_of(values);
  for (double& value : values) value *= now > 0 ? sum / now : 0;
}

double typical_run_us(Session& session, const std::vector<Tensor>& inputs, const std::vector<int>& processors) {
  return typical_us({[&] { return session.run(inputs); }, processors}, kNodeWarmUp, kRuns);
}

std::vector<double> by_arithmetic(const Graph& graph) {
  std::vector<double> share(graph.node_slots(), 0);
  for (NodeId id : graph.order()) share[id] = 1 + node_flops(graph, graph.node(id));
  return share;
}

// A step's time belongs to the first of the source's nodes that it computes: what is fused behind them costs little.
std::vector<double> by_profile(const Graph& graph, const Session& session) {
  std::vector<double> ns(graph.node_slots(), 0);
  const std::vector<StepProfile> profile = session.profile();
  const std::vector<Step>& steps = session.variant().steps;
  for (size_t i = 0; i < std::min(profile.size(), steps.size()); ++i) {
    const Node& node = session.graph().node(steps[i].node);
    int64_t id = -1;
    if (!parse_int(node.sources.empty() ? node.name : node.sources[0], &id) || id < 0 || id >= graph.node_slots())
      continue;
    if (profile[i].runs > 0) ns[id] += static_cast<double>(profile[i].time_ns) / static_cast<double>(profile[i].runs);
  }
  return ns;
}

// Nanoseconds of the nodes in a run; empty where the device has no profile.
std::vector<double> profiled(const Graph& graph, Session& session, const std::vector<Tensor>& inputs,
                             const std::vector<int>& processors) {
  const PinnedThread pinned(processors);
  try {
    session.enable_profile(true);
    for (int64_t i = 0; i < kRuns; ++i) session.run(inputs);
    std::vector<double> ns = by_profile(graph, session);
    session.enable_profile(false);
    if (sum_of(ns) > 0) return ns;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Unsupported) throw;
  }
  return {};
}

// Typical microseconds of a run on each device while all of them work at once.
std::vector<double> typical_us_at_once(const std::vector<Part>& parts,
                                       const std::vector<std::unique_ptr<Session>>& sessions,
                                       const std::vector<Tensor>& inputs) {
  std::vector<double> us(parts.size(), 0);
  std::atomic<size_t> finished{0};
  std::atomic<bool> failed{false};
  std::vector<std::exception_ptr> failures(parts.size());
  std::vector<std::thread> threads;
  const auto work = [&](size_t p) {
    try {
      us[p] = typical_run_us(*sessions[p], inputs, parts[p].cores);
      // The first ones through go on until the last one is, so that nobody is ever alone.
      const PinnedThread pinned(parts[p].cores);
      for (++finished; finished < parts.size() && !failed;) sessions[p]->run(inputs);
    } catch (...) {
      failures[p] = std::current_exception();
      failed = true;
    }
  };
  for (size_t p = 0; p < parts.size(); ++p) threads.emplace_back(work, p);
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return us;
}

// Small nodes in a row, on values of so many bytes.
Graph nodes_in_a_row(size_t count, int64_t bytes) {
  Graph graph;
  const Type type(DType::Float32, {1, 4, 16, bytes / static_cast<int64_t>(4 * 16 * sizeof(float))});
  graph.inputs = {graph.add_value("x", type)};
  graph.outputs = graph.inputs;
  for (size_t i = 0; i < count; ++i) {
    const ValueId made = graph.add_value(cat("y", i), type);
    graph.add_node({std::to_string(i), "Relu", "", graph.outputs, {made}, {}, {}, {}});
    graph.outputs = {made};
  }
  infer_types(graph);
  return graph;
}

// The time that the first node takes on a part beyond its computation: the value's way in and out.
double in_and_out_us(const Part& part, int64_t bytes, const CompileOptions& options) {
  const Graph graph = nodes_in_a_row(1, bytes);
  const auto session = open_alone(std::make_shared<Package>(compile(graph, options_for(part, options))), part);
  const std::vector<Tensor> inputs = inputs_for(graph);
  const double whole = typical_run_us(*session, inputs, part.cores);
  return std::max(0.0, whole - sum_of(profiled(graph, *session, inputs, part.cores)) / 1e3);
}

// Runs of a node on one part, one on another, and perhaps one on the first again. `places`: 0 for the one part, 1 for the other.
RunReport handover(const Part& one, const Part& other, const std::vector<size_t>& places, int64_t bytes,
                   const CompileOptions& options) {
  const Graph graph = nodes_in_a_row(places.size(), bytes);
  const auto session = open_parallel(graph, {one, other}, places, options);
  const std::vector<Tensor> inputs = inputs_for(graph);
  const PinnedThread pinned(session->callers_processors());
  std::vector<std::vector<SegmentTime>> runs;
  for (int64_t i = 0; i < kNodeWarmUp + kRuns; ++i) {
    session->run(inputs);
    if (i >= kNodeWarmUp) runs.push_back(session->times());
  }
  return report_runs(*session, runs);
}

// From when one part has made a value until the other begins with it.
double wake_us(const Part& from, const Part& to, const CompileOptions& options) {
  return handover(from, to, {0, 1}, kSmall, options).handoff_us;
}

// Processors that share out the steps of one package: a value stays where it is, and is read from there by the other. That takes as much as the
// second of three equal nodes takes longer than the first, whose input is in its own caches.
CopyCost shared_read(const Part& from, const Part& to, const CompileOptions& options) {
  const std::vector<SegmentReport> segments = handover(from, to, {0, 1, 0}, kLarge, options).segments;
  const double longer = std::max(0.0, segments[1].us - segments[0].us);
  return {wake_us(from, to, options), longer / static_cast<double>(kLarge)};
}

std::vector<std::vector<CopyCost>> measure_copies(const std::vector<Part>& parts, const CompileOptions& options) {
  std::vector<std::vector<CopyCost>> copy(parts.size(), std::vector<CopyCost>(parts.size()));
  if (std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.on_this_processor(); })) {
    for (size_t a = 0; a < parts.size(); ++a) {
      for (size_t b = 0; b < parts.size(); ++b)
        copy[a][b] = a == b ? CopyCost() : shared_read(parts[a], parts[b], options);
    }
    return copy;
  }
  std::vector<CopyCost> way;  // into and out of each part
  for (const Part& part : parts) {
    const double small = in_and_out_us(part, kSmall, options), large = in_and_out_us(part, kLarge, options);
    const double per_byte = std::max(0.0, large - small) / static_cast<double>(kLarge - kSmall);
    way.push_back({std::max(0.0, small - per_byte * static_cast<double>(kSmall)), per_byte});
  }
  for (size_t a = 0; a < parts.size(); ++a) {
    for (size_t b = 0; b < parts.size(); ++b) {
      const double wake = a == b ? 0 : wake_us(parts[a], parts[b], options);
      // Out of the one and into the other: half of each way.
      copy[a][b] = {wake + (way[a].us + way[b].us) / 2, (way[a].us_per_byte + way[b].us_per_byte) / 2};
    }
  }
  return copy;
}

}  // namespace

Graph numbered(const Graph& graph) {
  Graph result = graph;
  for (NodeId id : graph.order()) {
    result.node(id).name = std::to_string(id);
    result.node(id).sources.clear();
  }
  return result;
}

Measured measure_costs(const Graph& graph, const std::vector<Part>& parts,
                       const std::vector<std::unique_ptr<Session>>& sessions, const CompileOptions& options) {
  Measured measured;
  const std::vector<Tensor> inputs = inputs_for(graph);
  for (size_t p = 0; p < parts.size(); ++p) {
    DeviceCost cost;
    cost.whole_us = typical_run_us(*sessions[p], inputs, parts[p].cores);
    cost.node_us = profiled(graph, *sessions[p], inputs, parts[p].cores);
    if (cost.node_us.empty()) cost.node_us = by_arithmetic(graph);
    scale_to(cost.node_us, cost.whole_us);
    measured.devices.push_back(std::move(cost));
  }
  const std::vector<double> at_once =
      parts.size() < 2 ? std::vector<double>() : typical_us_at_once(parts, sessions, inputs);
  for (size_t p = 0; p < parts.size(); ++p) {
    DeviceCost& cost = measured.devices[p];
    measured.contention.push_back(at_once.empty() || cost.whole_us <= 0 ? 1
                                                                        : std::max(1.0, at_once[p] / cost.whole_us));
    cost.busy_us = cost.node_us;
    for (double& us : cost.busy_us) us *= measured.contention[p];
  }
  measured.copy = measure_copies(parts, options);
  return measured;
}

NetworkCost cost_of(const std::vector<Block>& blocks, const Measured& measured) {
  NetworkCost result;
  result.copy = measured.copy;
  const auto sum = [](const std::vector<double>& us, const std::vector<NodeId>& nodes) {
    double total = 0;
    for (NodeId id : nodes) total += us[id];
    return total;
  };
  for (const Block& block : blocks) {
    BlockCost cost;
    cost.bytes_in = block.bytes_in;
    cost.join_reads_input = block.join_reads_input;
    for (const Branch& branch : block.branches) cost.branch_bytes.push_back(branch.bytes);
    for (const DeviceCost& device : measured.devices) {
      std::vector<double> alone, busy;
      for (const Branch& branch : block.branches) {
        alone.push_back(sum(device.node_us, branch.nodes));
        busy.push_back(sum(device.busy_us, branch.nodes));
      }
      cost.branch_us.push_back(std::move(alone));
      cost.busy_us.push_back(std::move(busy));
      cost.join_us.push_back(sum(device.node_us, block.join));
    }
    result.blocks.push_back(std::move(cost));
  }
  return result;
}

std::vector<std::vector<CopyCost>> dearer_copies(std::vector<std::vector<CopyCost>> copy, double times) {
  for (std::vector<CopyCost>& row : copy) {
    for (CopyCost& one : row) one = {one.us * times, one.us_per_byte * times};
  }
  return copy;
}

}  // namespace dnn::place
