// integer-operands: what stands between DequantizeLinear, layers and QuantizeLinear without computing anything goes, and constants that a file
// has as real numbers in front of a QuantizeLinear, as exports of training for int8 do, become integers. No bit changes; the passes
// behind this one see layers whose operands are integers.
#include "interp/interpreter.h"
#include "ops/op.h"
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/pass_through.h"

namespace dnn {
namespace {

std::optional<Patch> rounded_constant(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  std::vector<const Tensor*> inputs;
  for (ValueId v : node.inputs) {
    inputs.push_back(v == kNoValue ? nullptr : graph.constant(v));
    if (v != kNoValue && (inputs.back() == nullptr || graph.is_input(v))) return std::nullopt;
  }
  if (graph.is_output(node.outputs[0])) return std::nullopt;
  Patch patch(graph, node.label() + " computed");
  patch.remove_node(id);
  patch.redirect(node.outputs[0],
                 patch.add_constant(graph.value(node.outputs[0]).name + ".integers", interpret_node(node, inputs)[0]));
  return patch;
}

}  // namespace

std::vector<Patch> integer_operands(const Graph& graph, const PassContext&) {
  const bool quantised = std::any_of(graph.order().begin(), graph.order().end(),
                                     [&](NodeId id) { return is_op(graph.node(id), "DequantizeLinear"); });
  std::vector<Patch> patches;
  for (NodeId id : graph.order()) {
    if (!quantised) break;
    const bool rounds = is_op(graph.node(id), "QuantizeLinear");
    std::optional<Patch> patch = rounds ? rounded_constant(graph, id) : passed_through(graph, id);
    if (patch) patches.push_back(std::move(*patch));
  }
  return patches;
}

}  // namespace dnn
