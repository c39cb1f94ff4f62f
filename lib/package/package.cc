// Making packages; see package.h.
#include "package/package.h"

namespace dnn {

void drop_constant(Graph& graph, ValueId id) {
  graph.value(id).constant.reset();
  graph.captures.push_back(id);
}

const Graph& SourceGraph::graph() const {
  if (whole_ == nullptr) return structure_;
  const std::lock_guard lock(whole_->mutex);
  if (!whole_->graph) whole_->graph = whole_->load();
  return *whole_->graph;
}

SourceGraph SourceGraph::without_constants() const {
  Graph structure = structure_;
  for (ValueId id = 0; id < structure.value_count(); ++id) {
    const std::optional<Tensor>& constant = structure.value(id).constant;
    const bool stays = !constant || constant->size_bytes() <= kSmallConstant || constant->dtype() == DType::String;
    if (!stays && !structure.is_output(id) && !structure.is_input(id)) drop_constant(structure, id);
  }
  return {std::move(structure), false, [whole = *this] { return whole.graph(); }};
}

Package interpreted_package(Graph graph) {
  Package package;
  Variant& variant = package.variants.emplace_back();
  variant.values.resize(graph.value_count());
  for (ValueId id : graph.inputs) package.input_types.push_back(graph.value(id).type);
  for (ValueId id : graph.outputs) package.output_types.push_back(graph.value(id).type);
  package.source = graph;
  variant.graph = std::make_shared<const Graph>(std::move(graph));
  return package;
}

}  // namespace dnn
