// integer-functions: Sigmoid, Tanh and Swish between integers as their stated forms, whose bits are the same everywhere. Other networks and
// other places keep the functions of their level, which are nearer to the exact ones.
#include <algorithm>
#include <string_view>

#include "ops/op.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace dnn {
namespace {

bool is_internal(const Node& node, std::initializer_list<const char*> names) {
  return node.domain == kInternalDomain &&
         std::any_of(names.begin(), names.end(), [&](const char* name) { return node.op == name; });
}

bool is_elementwise(const Node& node) {
  const OpDef* op = find_op(node.domain, node.op);
  return op != nullptr && op->element != nullptr && node.outputs.size() == 1;
}

// Where a small number stays small, and how far it is from the exact one matters as little as before. A logarithm or a quotient would make
// much of what a saturated sigmoid has left.
bool keeps_small(const Node& node) {
  constexpr std::string_view kNames[] = {"Abs", "Add",  "Clip",    "LeakyRelu", "Max", "Min",   "Mul",
                                         "Neg", "Relu", "Sigmoid", "Sub",       "Sum", "Swish", "Tanh"};
  return (node.domain.empty() && std::find(std::begin(kNames), std::end(kNames), node.op) != std::end(kNames)) ||
         is_internal(node, {"StatedSigmoid", "StatedSwish", "StatedTanh"});
}

// By value: whether it is made of integers alone, through element-wise operators, and whether something else than integers is made of it, or
// through operators that do not keep small numbers small.
struct BetweenIntegers {
  explicit BetweenIntegers(const Graph& graph) : made(graph.value_count()), leaves(graph.value_count()) {
    for (NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      const bool starts = is_op(node, "DequantizeLinear") || is_internal(node, {"ToReal", "QuantizedConv"});
      const bool goes_on = is_elementwise(node) && std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) {
                             return v == kNoValue || made[v] || graph.constant(v) != nullptr;
                           });
      if (starts || goes_on) made[node.outputs[0]] = true;
    }
    for (ValueId v : graph.outputs) leaves[v] = true;
    for (auto id = graph.order().rbegin(); id != graph.order().rend(); ++id) {
      const Node& node = graph.node(*id);
      for (ValueId v : captured_values(graph, node)) leaves[v] = true;
      if (is_op(node, "QuantizeLinear") || is_internal(node, {"ToInteger"})) continue;
      if (keeps_small(node) && !leaves[node.outputs[0]]) continue;
      for (ValueId v : node.inputs) {
        if (v != kNoValue) leaves[v] = true;
      }
    }
  }
  std::vector<bool> made, leaves;
};

// The product x * sigmoid(x) behind a Sigmoid that nothing else reads; -1 where there is none.
NodeId swish_of(const Graph& graph, const Uses& uses, const Node& sigmoid) {
  const NodeId reader = is_op(sigmoid, "Sigmoid") ? only_reader(graph, uses, sigmoid.outputs[0]) : -1;
  if (reader < 0 || !is_op(graph.node(reader), "Mul")) return -1;
  const std::vector<ValueId>& factors = graph.node(reader).inputs;
  const ValueId x = sigmoid.inputs[0], y = sigmoid.outputs[0];
  return (factors[0] == x && factors[1] == y) || (factors[0] == y && factors[1] == x) ? reader : -1;
}

Patch in_stated_form(const Graph& graph, NodeId id, NodeId product) {
  const Node& node = graph.node(id);
  Patch patch(graph, node.label() + " in its stated form");
  Node stated = node;
  stated.domain = kInternalDomain;
  stated.op = product < 0 ? "Stated" + node.op : "StatedSwish";
  stated.sources = sources_of(node);
  if (product >= 0) {
    patch.place_at(product);
    stated.outputs = graph.node(product).outputs;
    for (const std::string& source : sources_of(graph.node(product))) stated.sources.push_back(source);
    patch.remove_node(product);
  }
  patch.remove_node(id);
  patch.add_node(std::move(stated));
  return patch;
}

}  // namespace

std::vector<Patch> integer_functions(const Graph& graph, const PassContext&) {
  std::vector<Patch> patches;
  const Uses uses(graph);
  const BetweenIntegers between(graph);
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!is_op(node, "Sigmoid") && !is_op(node, "Tanh") && !is_op(node, "Swish")) continue;
    if (graph.value(node.outputs[0]).type.dtype != DType::Float32) continue;
    if (!between.made[node.inputs[0]] || between.leaves[node.outputs[0]]) continue;
    patches.push_back(in_stated_form(graph, id, swish_of(graph, uses, node)));
  }
  return patches;
}

}  // namespace dnn
