// Compiling the segments of a plan and opening sessions on parts.
#include "branch/open.h"

#include <thread>

#include "base/affinity.h"
#include "base/error.h"
#include "graph/bind.h"
#include "infer/setup.h"
#include "ops/op.h"

namespace dnn::branch {

Graph with_one_sample(Graph graph) {
  for (ValueId v : graph.inputs) {
    const Type& type = graph.value(v).type;
    if (!type.shape || type.shape->empty() || (*type.shape)[0].fixed()) continue;
    if (const std::string symbol = (*type.shape)[0].symbol; !symbol.empty()) bind_symbol(graph, symbol, 1);
  }
  infer_types(graph);
  return graph;
}

void connect_parts(std::vector<Part>& parts, const DeviceOptions& connection) {
  for (Part& part : parts) {
    try {
      if (part.device.is_remote()) part.device.connect(connection);
    } catch (Error& e) {
      throw e.within("part " + part.label());
    }
  }
}

CompileOptions options_for(const Part& part, const CompileOptions& options) {
  NetworkOptions network;
  network.device = part.device;
  network.level = cat(options.opt);
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
  return session;
}

std::unique_ptr<ParallelSession> open_parallel(const Graph& graph, const std::vector<Part>& parts,
                                               const CompileOptions& options) {
  std::string letters;
  for (const Part& part : parts) letters += part.letter;
  Plan plan = cut_into_segments(graph, place_by_names(graph, letters));
  std::vector<std::unique_ptr<Session>> sessions;
  for (const Segment& segment : plan.segments) {
    const Part& part = parts[segment.part];
    try {
      sessions.push_back(
          open_alone(std::make_shared<Package>(compile(segment.graph, options_for(part, options))), part));
    } catch (Error& e) {
      throw e.within(cat("part ", part.label(), ", ", segment.name));
    }
  }
  return std::make_unique<ParallelSession>(std::move(plan), parts, std::move(sessions));
}

}  // namespace dnn::branch
