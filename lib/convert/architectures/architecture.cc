// The table of architectures; see architecture.h.
#include "convert/architectures/architecture.h"

#include "convert/architectures/builders.h"
#include "ops/op.h"

namespace dnn {

const std::vector<NetArchitecture>& net_architectures() {
  static const std::vector<NetArchitecture> rows = {
#define DNN_ARCHITECTURE(name, help, size, parameter) {#name, help, size, parameter, architecture::name},
#include "convert/architectures/architectures.def"
  };
  return rows;
}

Graph build_architecture(const Graph& weights, const std::string& name) {
  if (!weights.outputs.empty()) fail_usage("it has a graph already; an architecture is for weights without one");
  Modules modules(weights);
  std::vector<std::string> names;
  for (const NetArchitecture& row : net_architectures()) {
    names.emplace_back(row.name);
    if (name.empty() ? !modules.has(row.parameter) : name != row.name) continue;
    try {
      Graph graph = row.build(modules, row.image_size);
      graph.name = row.name;
      infer_types(graph);
      verify(graph);
      return graph;
    } catch (Error& error) {
      throw error.within(cat("as ", row.name));
    }
  }
  if (!name.empty()) fail_usage("there is no architecture ", quoted(name), "; there are ", join(names));
  fail_unsupported("its parameters are of no architecture known here (", join(names), ")");
}

}  // namespace dnn
