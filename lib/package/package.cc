// Making packages; see package.h.
#include "package/package.h"

namespace dnn {

Package interpreted_package(Graph graph) {
  Package package;
  Variant& variant = package.variants.emplace_back();
  variant.values.resize(static_cast<size_t>(graph.value_count()));
  for (ValueId id : graph.inputs) package.input_types.push_back(graph.value(id).type);
  for (ValueId id : graph.outputs) package.output_types.push_back(graph.value(id).type);
  package.source = graph;
  variant.graph = std::make_shared<const Graph>(std::move(graph));
  return package;
}

}  // namespace dnn
