// Layers that compute; see precision_layers.h.
#include "localize/precision_layers.h"

#include <algorithm>
#include <set>

#include "ops/op.h"

namespace dnn {
namespace {

bool has_subgraph(const Node& node) {
  return std::any_of(node.attributes.begin(), node.attributes.end(), [](const auto& attribute) {
    return std::holds_alternative<std::shared_ptr<const Graph>>(attribute.second);
  });
}

bool makes_float32(const Graph& graph, const Node& node) {
  return std::any_of(node.outputs.begin(), node.outputs.end(),
                     [&](ValueId v) { return v != kNoValue && graph.value(v).type.dtype == DType::Float32; });
}

// Nearest-neighbour resizing picks numbers.
bool picks(const Node& node) {
  return node.domain.empty() && node.op == "Resize" && string_attribute(node, "mode") == "nearest";
}

class Finder {
 public:
  explicit Finder(const Graph& graph) : graph_(graph), uses_(graph), taken_(graph.node_slots()) {}

  std::vector<ComputingLayer> run() {
    mark_inputs();
    std::vector<ComputingLayer> layers;
    const std::vector<NodeId>& order = graph_.order();
    for (size_t at = 0; at < order.size(); ++at) {
      const Node& node = graph_.node(order[at]);
      if (taken_[order[at]] || !begins(node)) continue;
      ComputingLayer layer;
      layer.nodes = grown(at);
      for (NodeId id : layer.nodes) taken_[id] = true;
      const std::set<NodeId> own(layer.nodes.begin(), layer.nodes.end());
      layer.outputs = outputs_of(own, layer.nodes);
      for (NodeId id : layer.nodes) {
        for (ValueId v : graph_.node(id).inputs) {
          if (is_variable(v) && own.count(producer(v)) == 0 &&
              std::find(layer.inputs.begin(), layer.inputs.end(), v) == layer.inputs.end())
            layer.inputs.push_back(v);
        }
      }
      layers.push_back(std::move(layer));
    }
    return layers;
  }

 private:
  NodeId producer(ValueId v) const { return uses_.producer[v]; }
  bool is_variable(ValueId v) const { return v != kNoValue && graph_.constant(v) == nullptr; }

  // Values that an input has part in.
  void mark_inputs() {
    from_input_.assign(graph_.value_count(), false);
    for (ValueId v : graph_.inputs) from_input_[v] = true;
    for (NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      std::vector<ValueId> reads = node.inputs;
      for (ValueId v : captured_values(graph_, node)) reads.push_back(v);
      const bool reached =
          std::any_of(reads.begin(), reads.end(), [&](ValueId v) { return v != kNoValue && from_input_[v]; });
      for (ValueId v : node.outputs) {
        if (v != kNoValue) from_input_[v] = reached;
      }
    }
  }

  bool begins(const Node& node) const {
    if (has_trait(node, Trait::Moves) || picks(node) || has_subgraph(node) || !makes_float32(graph_, node))
      return false;
    const OpDef* op = find_op(node.domain, node.op);
    if (op == nullptr || op->reference == nullptr || !op->deterministic) return false;
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) {
      return is_variable(v) && from_input_[v] && graph_.value(v).type.dtype == DType::Float32;
    });
  }

  // Whether a node goes over the numbers that `own` makes, one by one, and reads nothing else that varies.
  bool follows(NodeId id, const std::set<NodeId>& own) const {
    const Node& node = graph_.node(id);
    const OpDef* op = find_op(node.domain, node.op);
    if (op == nullptr || has_subgraph(node) || node.outputs.size() != 1 || !makes_float32(graph_, node)) return false;
    if (op->element == nullptr && !(node.domain.empty() && node.op == "BatchNormalization")) return false;
    if (node.op == "Cast" || node.op == "CastLike") return false;
    bool any = false;
    for (ValueId v : node.inputs) {
      if (!is_variable(v)) continue;
      if (own.count(producer(v)) == 0) return false;
      any = true;
    }
    return any;
  }

  std::vector<ValueId> outputs_of(const std::set<NodeId>& own, const std::vector<NodeId>& nodes) const {
    std::vector<ValueId> outputs;
    for (NodeId id : nodes) {
      for (ValueId v : graph_.node(id).outputs) {
        if (v == kNoValue) continue;
        const std::vector<NodeId>& readers = uses_.readers[v];
        if (graph_.is_output(v) ||
            std::any_of(readers.begin(), readers.end(), [&](NodeId reader) { return own.count(reader) == 0; }))
          outputs.push_back(v);
      }
    }
    return outputs;
  }

  // The node at a place of the order, and the longest line of those that follow it of which one value alone is read.
  std::vector<NodeId> grown(size_t at) const {
    const std::vector<NodeId>& order = graph_.order();
    std::vector<NodeId> nodes = {order[at]};
    std::set<NodeId> own = {order[at]};
    size_t whole = 1;
    const size_t end = reach_of(at);
    for (size_t i = at + 1; i < end; ++i) {
      if (taken_[order[i]] || !follows(order[i], own)) continue;
      nodes.push_back(order[i]);
      own.insert(order[i]);
      if (outputs_of(own, nodes).size() <= 1) whole = nodes.size();
    }
    nodes.resize(whole);
    return nodes;
  }

  // Chains are short; their nodes need not stand together.
  size_t reach_of(size_t at) const { return std::min(graph_.order().size(), at + kMostBetween); }
  static constexpr size_t kMostBetween = 64;

  const Graph& graph_;
  const Uses uses_;
  std::vector<bool> taken_;       // by NodeId
  std::vector<bool> from_input_;  // by ValueId
};

}  // namespace

std::vector<ComputingLayer> computing_layers(const Graph& graph) { return Finder(graph).run(); }

std::vector<NodeId> nodes_with_subgraphs(const Graph& graph) {
  std::vector<NodeId> nodes;
  for (NodeId id : graph.order()) {
    if (has_subgraph(graph.node(id)) && makes_float32(graph, graph.node(id))) nodes.push_back(id);
  }
  return nodes;
}

}  // namespace dnn
