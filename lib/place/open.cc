// Compiling the segments of a plan and opening sessions on parts.
#include "place/open.h"

#include <map>
#include <thread>

#include "base/affinity.h"
#include "base/error.h"
#include "graph/bind.h"
#include "infer/setup.h"
#include "ops/op.h"
#include "place/joint.h"

namespace dnn::place {

Graph with_one_sample(Graph graph) {
  for (ValueId v : graph.inputs) {
    const Type& type = graph.value(v).type;
    if (!type.shape || type.shape->empty() || (*type.shape)[0].fixed()) continue;
    if (const std::string symbol = (*type.shape)[0].symbol; !symbol.empty()) bind_symbol(graph, symbol, 1);
  }
  make_constant_outputs(graph);
  infer_types(graph);
  return graph;
}

void make_constant_outputs(Graph& graph) {
  const Uses uses(graph);
  for (ValueId v : std::vector<ValueId>(graph.outputs)) {
    if (uses.producer[v] >= 0 || graph.is_input(v) || graph.constant(v) == nullptr) continue;
    const ValueId kept =
        graph.add_constant(graph.unused_value_name(graph.value(v).name + "_constant"), *graph.constant(v));
    for (NodeId id : uses.readers[v]) {
      for (ValueId& input : graph.node(id).inputs) input = input == v ? kept : input;
    }
    graph.value(v).constant.reset();
    Node node;
    node.op = "Identity";
    node.name = graph.value(v).name;
    node.inputs = {kept};
    node.outputs = {v};
    graph.add_node(std::move(node));
  }
}

void connect_parts(std::vector<Part>& parts, const DeviceOptions& connection) {
  for (Part& part : parts) {
    on_part(part, [&] {
      if (part.device.is_remote()) part.device.connect(connection);
    });
  }
}

CompileOptions options_for(const Part& part, const CompileOptions& options) {
  NetworkOptions network;
  network.device = part.device;
  network.level = cat(options.opt);
  network.passes = options.pass_changes;
  CompileOptions own = open_options(network).compile;
  own.build = options.build;
  return own;
}

std::unique_ptr<Session> open_alone(std::shared_ptr<const Package> package, const Part& part) {
  std::unique_ptr<Session> session;
  std::exception_ptr failure;
  // In a thread that is kept to the part's processors, so that what a driver starts stays there, too.
  std::thread opener([&] {
    try {
      if (!part.cores.empty()) keep_to(part.cores);
      session = open_session(part.device, std::move(package), part.options());
    } catch (...) {
      failure = std::current_exception();
    }
  });
  opener.join();
  if (failure) std::rethrow_exception(failure);
  refuse_emulated(*session, part.device);
  return session;
}

std::shared_ptr<Package> compile_segment(const Segment& segment, const Part& part, const CompileOptions& options) {
  try {
    return std::make_shared<Package>(compile(segment.graph, options_for(part, options)));
  } catch (Error& e) {
    throw e.within(cat("part ", part.label(), ", ", segment.name));
  }
}

std::unique_ptr<ParallelSession> open_compiled(Plan plan, const std::vector<Part>& parts,
                                               const SegmentPackages& packages) {
  return open_ways({std::move(plan)}, parts, {packages}, {0});
}

std::unique_ptr<ParallelSession> open_ways(std::vector<Plan> ways, const std::vector<Part>& parts,
                                           const std::vector<SegmentPackages>& packages,
                                           const std::vector<size_t>& lanes) {
  std::vector<Lane> of_way;
  for (size_t w = 0; w < ways.size(); ++w) {
    Lane& lane = of_way.emplace_back();
    lane.way = w;
    for (size_t s = 0; s < ways[w].segments.size(); ++s) {
      const Part& part = parts[ways[w].segments[s].part];
      try {
        lane.sessions.push_back(open_alone(packages[w][s], part));
      } catch (Error& e) {
        throw e.within(cat("part ", part.label(), ", ", ways[w].segments[s].name));
      }
    }
  }
  std::vector<Lane> opened;
  for (size_t way : lanes) opened.push_back(of_way.at(way));
  return std::make_unique<ParallelSession>(std::move(ways), parts, std::move(opened));
}

std::unique_ptr<ParallelSession> open_parallel(const Graph& graph, const std::vector<Part>& parts,
                                               const std::vector<size_t>& places, const CompileOptions& options) {
  return open_routing(graph, parts, {{places}}, options);
}

std::unique_ptr<ParallelSession> open_routing(const Graph& graph, const std::vector<Part>& parts,
                                              const Routing& routing, const CompileOptions& options) {
  const std::vector<size_t> lanes = routing.lanes.empty() ? std::vector<size_t>{0} : routing.lanes;
  std::vector<Plan> ways;
  std::vector<SegmentPackages> packages;
  for (const std::vector<size_t>& places : routing.ways) {
    check_precisions(graph, parts, places);
    Plan& plan = ways.emplace_back(cut_into_segments(graph, places));
    if (routing.ways.size() == 1) {
      if (const std::optional<Joint> joint = compile_joint(graph, plan, parts, options))
        return open_joint(graph, std::move(plan), parts, *joint, lanes.size());
    }
    SegmentPackages& own = packages.emplace_back();
    for (const Segment& segment : plan.segments) own.push_back(compile_segment(segment, parts[segment.part], options));
  }
  return open_ways(std::move(ways), parts, packages, lanes);
}

AloneSessions open_each_alone(const Graph& graph, const std::vector<Part>& parts, const CompileOptions& options) {
  AloneSessions alone{parts, {}};
  std::map<std::string, std::shared_ptr<const Package>> packages;  // by device
  for (const Part& part : parts) {
    std::shared_ptr<const Package>& package = packages[part.device.text()];
    on_part(part, [&] {
      if (package == nullptr) package = std::make_shared<Package>(compile(graph, options_for(part, options)));
      alone.sessions.push_back(open_alone(package, part));
    });
  }
  return alone;
}

}  // namespace dnn::place
