// Making packages; see package.h.
#include "package/package.h"

namespace dnn {

void drop_constant(Graph& graph, ValueId id) {
  graph.value(id).constant.reset();
  graph.captures.push_back(id);
}

// A graph that is made when it is first asked for.
class SourceGraph::Lazy {
 public:
  explicit Lazy(Load load) : load_(std::move(load)) {}
  explicit Lazy(Graph graph) : graph_(std::move(graph)) {}
  const Graph& get() {
    const std::lock_guard lock(mutex_);
    if (!graph_) graph_ = load_();
    return *graph_;
  }

 private:
  std::mutex mutex_;
  std::optional<Graph> graph_;
  const Load load_;
};

SourceGraph::SourceGraph(std::shared_ptr<Lazy> structure, bool kept, std::shared_ptr<Lazy> whole)
    : structure_(std::move(structure)), kept_(kept), whole_(std::move(whole)) {}

SourceGraph::SourceGraph(Graph graph) : structure_(std::make_shared<Lazy>(std::move(graph))), whole_(structure_) {}

SourceGraph::SourceGraph(Load structure, bool kept, Load whole)
    : SourceGraph(std::make_shared<Lazy>(std::move(structure)), kept, std::make_shared<Lazy>(std::move(whole))) {}

const Graph& SourceGraph::graph() const { return whole_->get(); }
const Graph& SourceGraph::structure() const { return structure_->get(); }

SourceGraph SourceGraph::with_whole(Load whole) const {
  return {structure_, false, std::make_shared<Lazy>(std::move(whole))};
}

SourceGraph SourceGraph::without_constants() const {
  const auto drop = [from = structure_] {
    Graph structure = from->get();
    for (ValueId id = 0; id < structure.value_count(); ++id) {
      const std::optional<Tensor>& constant = structure.value(id).constant;
      const bool stays = !constant || constant->size_bytes() <= kSmallConstant || constant->dtype() == DType::String;
      if (!stays && !structure.is_output(id) && !structure.is_input(id)) drop_constant(structure, id);
    }
    return structure;
  };
  return {std::make_shared<Lazy>(drop), false, whole_};
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
