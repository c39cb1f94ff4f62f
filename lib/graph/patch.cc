// Patch; see patch.h.
#include "graph/patch.h"

#include <algorithm>
#include <set>

namespace dnn {

Patch::Patch(const Graph& graph, std::string reason) : reason_(std::move(reason)), base_(graph.value_count()) {}

ValueId Patch::add_value(std::string name, Type type) {
  values_.push_back(Value{std::move(name), std::move(type), {}, {}, {}, {}});
  return base_ + static_cast<ValueId>(values_.size()) - 1;
}

ValueId Patch::add_constant(std::string name, Tensor tensor) {
  Type type(tensor);
  values_.push_back(Value{std::move(name), std::move(type), std::move(tensor), {}, {}, {}});
  return base_ + static_cast<ValueId>(values_.size()) - 1;
}

bool Patch::apply(Graph& graph) const {
  // Everything the patch relies on must still be there.
  std::set<NodeId> going(removed_.begin(), removed_.end());
  std::set<ValueId> made;  // by nodes that stay, graph inputs and constants
  for (ValueId id : graph.inputs) made.insert(id);
  for (ValueId id : graph.captures) made.insert(id);
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    if (graph.value(id).constant) made.insert(id);
  }
  for (NodeId id : graph.order()) {
    if (going.count(id) != 0) continue;
    for (ValueId value : graph.node(id).outputs) made.insert(value);
  }
  for (NodeId id : removed_) {
    if (!graph.alive(id)) return false;
  }
  std::set<ValueId> here = made;
  for (const Node& node : added_) {
    for (ValueId value : node.inputs) {
      if (value != kNoValue && value < base_ && here.count(value) == 0) return false;
    }
    for (ValueId value : node.outputs) {
      if (value != kNoValue && value < base_ && !here.insert(value).second) return false;
    }
  }
  std::set<ValueId> redirected;
  for (const auto& [from, to] : redirects_) {
    if (to < base_ && here.count(to) == 0) return false;
    for (NodeId id : graph.order()) {  // subgraphs capture by name, so what they read cannot change its identity
      const std::vector<ValueId> captured = captured_values(graph, graph.node(id));
      if (std::find(captured.begin(), captured.end(), from) != captured.end()) return false;
    }
    redirected.insert(from);
  }
  for (NodeId id : removed_) {  // what a removed node made must be made anew, redirected, or read by removed nodes only
    for (ValueId value : graph.node(id).outputs) {
      if (value == kNoValue || here.count(value) != 0 || redirected.count(value) != 0) continue;
      if (graph.is_output(value)) return false;
      for (NodeId reader : graph.order()) {
        const Node& node = graph.node(reader);
        if (going.count(reader) == 0 && std::find(node.inputs.begin(), node.inputs.end(), value) != node.inputs.end())
          return false;
      }
    }
  }

  const ValueId first_new = graph.value_count();
  for (Value value : values_) {
    value.name = graph.unused_value_name(value.name);
    graph.add_value(std::move(value));
  }
  NodeId root = root_;
  if (root < 0) {
    for (NodeId id : graph.order()) {
      if (going.count(id) != 0) root = id;
    }
  }
  for (Node node : added_) {
    for (ValueId& value : node.inputs) value = value == kNoValue ? value : resolve(value, first_new);
    for (ValueId& value : node.outputs) value = value == kNoValue ? value : resolve(value, first_new);
    if (root >= 0) {
      graph.insert_node_before(root, std::move(node));
    } else {
      graph.add_node(std::move(node));
    }
  }
  for (NodeId id : removed_) graph.remove_node(id);
  for (const auto& [id, layout] : layouts_) graph.value(resolve(id, first_new)).layout = layout;
  for (const auto& [from, raw_to] : redirects_) {
    const ValueId to = resolve(raw_to, first_new);
    const Uses uses(graph);
    NodeId producer = uses.producer[to];
    for (NodeId id : graph.order()) {
      Node& node = graph.node(id);
      std::replace(node.inputs.begin(), node.inputs.end(), from, to);
    }
    if (!graph.is_output(from)) {
      Value& kept = graph.value(to);
      kept.aliases.push_back(graph.value(from).name);
      kept.aliases.insert(kept.aliases.end(), graph.value(from).aliases.begin(), graph.value(from).aliases.end());
      continue;
    }
    if (producer >= 0 && !graph.is_output(to)) {  // the output keeps its name: the producer now makes `from`
      Node& maker = graph.node(producer);
      std::replace(maker.outputs.begin(), maker.outputs.end(), to, from);
      for (NodeId id : graph.order()) {
        Node& node = graph.node(id);
        std::replace(node.inputs.begin(), node.inputs.end(), to, from);
      }
      graph.value(from).aliases.push_back(graph.value(to).name);
    } else {
      Node identity;
      identity.op = "Identity";
      identity.inputs = {to};
      identity.outputs = {from};
      graph.add_node(std::move(identity));
    }
  }
  return true;
}

}  // namespace dnn
