// fold-constant: nodes whose inputs are all constants are computed now, by the interpreter; and what follows from
// shapes alone becomes a constant.
#include <algorithm>

#include "graph/locate.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "passes/pass.h"

namespace dnn {
namespace {

// Results above this many elements are folded only when they are no larger than the inputs (a transposed weight, not a
// tensor that Expand blows up).
constexpr int64_t kAlwaysFold = 1 << 16;

// What makes real numbers of quantised or 16-bit ones.
bool widens_constant(const Graph& graph, const Node& node) {
  if (!node.domain.empty() || node.inputs.empty() || node.inputs[0] == kNoValue) return false;
  const Type &x = graph.value(node.inputs[0]).type, &y = graph.value(node.outputs[0]).type;
  return node.op == "DequantizeLinear" ||
         (node.op == "Cast" && is_float(x.dtype) && dtype_size(x.dtype) < dtype_size(y.dtype));
}

// Whether a result is known to be too large to be kept, so that it is not computed to find that out.
bool too_large(const Graph& graph, const Node& node, int64_t elements) {
  for (ValueId v : node.outputs) {
    if (v == kNoValue || !graph.value(v).type.shape) continue;
    double size = 1;
    for (const Dim& dim : *graph.value(v).type.shape) size *= dim.fixed() ? static_cast<double>(dim.size) : 0;
    if (size > static_cast<double>(std::max(kAlwaysFold, elements))) return true;
  }
  return false;
}

}  // namespace

std::vector<Patch> fold_constant(const Graph& graph, const PassContext& context) {
  std::vector<Patch> patches;
  Graph copy = graph;  // what types alone decide (Shape and what is computed from it)
  const std::vector<Tensor> known = infer_known_values(copy);
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const OpDef* op = find_op(node.domain, node.op);
    if (context.keep_storage && widens_constant(graph, node)) continue;
    if (op == nullptr || op->reference == nullptr || !op->deterministic || !captured_values(graph, node).empty())
      continue;
    std::vector<const Tensor*> inputs;
    int64_t elements = 0;
    bool constant = true;
    for (ValueId v : node.inputs) {
      inputs.push_back(v == kNoValue ? nullptr : graph.constant(v));
      constant = constant && (v == kNoValue || (inputs.back() != nullptr && !graph.is_input(v)));
      if (inputs.back() != nullptr) elements += inputs.back()->size();
    }
    if (!constant && node.outputs.size() == 1 && !graph.is_output(node.outputs[0]) && op->deterministic &&
        known[node.outputs[0]].defined()) {
      Patch patch(graph, label_in(graph, node) + " follows from shapes");
      patch.remove_node(id);
      patch.redirect(node.outputs[0],
                     patch.add_constant(graph.value(node.outputs[0]).name + ".folded", known[node.outputs[0]]));
      patches.push_back(std::move(patch));
      continue;
    }
    if (!constant) continue;
    for (ValueId v : node.outputs) constant = constant && (v == kNoValue || !graph.is_output(v));
    if (!constant || too_large(graph, node, elements)) continue;
    const std::vector<Tensor> results = interpret_node(node, inputs);
    Patch patch(graph, label_in(graph, node) + " computed");
    patch.remove_node(id);
    bool worth_it = true;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue || !results[i].defined()) continue;
      worth_it = worth_it && (results[i].size() <= kAlwaysFold || results[i].size() <= elements);
      patch.redirect(node.outputs[i], patch.add_constant(graph.value(node.outputs[i]).name + ".folded", results[i]));
    }
    if (worth_it) patches.push_back(std::move(patch));
  }
  return patches;
}

}  // namespace dnn
