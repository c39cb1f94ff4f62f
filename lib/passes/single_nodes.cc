// Patches that take one node away; see single_nodes.h.
#include "passes/single_nodes.h"

#include "graph/locate.h"
#include "interp/interpreter.h"
#include "ops/training.h"
#include "passes/match.h"

namespace dnn {

std::optional<Patch> passed_through(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const bool drops = is_op(node, "Dropout");
  if (!drops && !is_op(node, "Identity")) return std::nullopt;
  if (drops && (node.output(1) != kNoValue || in_training(graph, node))) return std::nullopt;
  const ValueId x = node.inputs[0], y = node.outputs[0];
  if (graph.is_output(y) && (graph.is_input(x) || graph.constant(x) != nullptr || graph.is_output(x)))
    return std::nullopt;
  Patch patch(graph, label_in(graph, node) + " removed");
  patch.remove_node(id);
  patch.redirect(y, x);
  return patch;
}

std::optional<Patch> computed(const Graph& graph, NodeId id, const std::string& name) {
  const Node& node = graph.node(id);
  std::vector<const Tensor*> inputs;
  for (ValueId v : node.inputs) {
    inputs.push_back(v == kNoValue ? nullptr : graph.constant(v));
    if (v != kNoValue && (inputs.back() == nullptr || graph.is_input(v))) return std::nullopt;
  }
  if (graph.is_output(node.outputs[0])) return std::nullopt;
  Patch patch(graph, label_in(graph, node) + " computed");
  patch.remove_node(id);
  patch.redirect(node.outputs[0], patch.add_constant(name, interpret_node(node, inputs)[0]));
  return patch;
}

}  // namespace dnn
