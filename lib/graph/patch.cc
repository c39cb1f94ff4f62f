// Patch; see patch.h.
#include "graph/patch.h"

#include <algorithm>
#include <set>

namespace dnn {

namespace {

// Values that exist without the nodes that go: inputs, captures, constants, and outputs of the others.
std::set<ValueId> values_that_stay(const Graph& graph, const std::set<NodeId>& going) {
  std::set<ValueId> made(graph.inputs.begin(), graph.inputs.end());
  made.insert(graph.captures.begin(), graph.captures.end());
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    if (graph.value(id).constant) made.insert(id);
  }
  for (NodeId id : graph.order()) {
    if (going.count(id) != 0) continue;
    for (ValueId value : graph.node(id).outputs) made.insert(value);
  }
  return made;
}

// Subgraphs capture by name, so what they read cannot change its identity.
bool is_captured(const Graph& graph, ValueId value) {
  return std::any_of(graph.order().begin(), graph.order().end(), [&](NodeId id) {
    const std::vector<ValueId> captured = captured_values(graph, graph.node(id));
    return std::find(captured.begin(), captured.end(), value) != captured.end();
  });
}

// True if a node that stays has the value as an input.
bool is_read_beyond(const Graph& graph, ValueId value, const std::set<NodeId>& going) {
  return std::any_of(graph.order().begin(), graph.order().end(), [&](NodeId id) {
    const std::vector<ValueId>& inputs = graph.node(id).inputs;
    return going.count(id) == 0 && std::find(inputs.begin(), inputs.end(), value) != inputs.end();
  });
}

void replace_inputs(Graph& graph, ValueId from, ValueId to) {
  for (NodeId id : graph.order()) {
    Node& node = graph.node(id);
    std::replace(node.inputs.begin(), node.inputs.end(), from, to);
  }
}

// Patch::redirect, of values of the graph.
void redirect_readers(Graph& graph, ValueId from, ValueId to) {
  const NodeId producer = Uses(graph).producer[to];
  replace_inputs(graph, from, to);
  if (!graph.is_output(from)) {
    Value& kept = graph.value(to);
    kept.aliases.push_back(graph.value(from).name);
    kept.aliases.insert(kept.aliases.end(), graph.value(from).aliases.begin(), graph.value(from).aliases.end());
    return;
  }
  if (producer >= 0 && !graph.is_output(to)) {  // the output keeps its name: the producer now makes `from`
    Node& maker = graph.node(producer);
    std::replace(maker.outputs.begin(), maker.outputs.end(), to, from);
    replace_inputs(graph, to, from);
    graph.value(from).aliases.push_back(graph.value(to).name);
    return;
  }
  Node identity;
  identity.op = "Identity";
  identity.inputs = {to};
  identity.outputs = {from};
  graph.add_node(std::move(identity));
}

}  // namespace

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

bool Patch::fits(const Graph& graph) const {
  const std::set<NodeId> going(removed_.begin(), removed_.end());
  std::set<ValueId> here = values_that_stay(graph, going);
  if (!std::all_of(removed_.begin(), removed_.end(), [&](NodeId id) { return graph.alive(id); })) return false;
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
    if (is_captured(graph, from)) return false;
    redirected.insert(from);
  }
  for (NodeId id : removed_) {  // what a removed node made must be made anew, redirected, or read by removed nodes only
    for (ValueId value : graph.node(id).outputs) {
      if (value == kNoValue || here.count(value) != 0 || redirected.count(value) != 0) continue;
      if (graph.is_output(value) || is_read_beyond(graph, value, going)) return false;
    }
  }
  return true;
}

NodeId Patch::place_in(const Graph& graph) const {
  if (root_ >= 0) return root_;
  const std::set<NodeId> going(removed_.begin(), removed_.end());
  NodeId last = -1;
  for (NodeId id : graph.order()) {
    if (going.count(id) != 0) last = id;
  }
  return last;
}

bool Patch::apply(Graph& graph) const {
  if (!fits(graph)) return false;
  const ValueId first_new = graph.value_count();
  for (Value value : values_) {
    value.name = graph.unused_value_name(value.name);
    graph.add_value(std::move(value));
  }
  const NodeId root = place_in(graph);
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
  for (const auto& [from, to] : redirects_) redirect_readers(graph, from, resolve(to, first_new));
  return true;
}

}  // namespace dnn
