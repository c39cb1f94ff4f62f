// A package of a graph in text, as a compiler would have left it without passes.
#pragma once
#include <memory>
#include <string>

#include "graph/text.h"
#include "package/package.h"

namespace dnn {

inline std::shared_ptr<const Package> package_of(const std::string& text) {
  auto package = std::make_shared<Package>();
  package->graph = parse_graph(text);
  package->source = package->graph;
  for (ValueId id : package->graph.inputs) package->input_types.push_back(package->graph.value(id).type);
  for (ValueId id : package->graph.outputs) package->output_types.push_back(package->graph.value(id).type);
  return package;
}

}  // namespace dnn
