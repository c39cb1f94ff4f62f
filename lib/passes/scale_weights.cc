// scale-weights: numbers per channel that are computed, as of a squeeze-and-excitation block, times the few weights of the pointwise
// convolution behind them in place of the many positions before it.
#include "graph/locate.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace dnn {
namespace {

// For each weight that is multiplied, so many elements are not.
constexpr int64_t kFewerWeights = 4;

// The operand of a Mul whose numbers are one per channel of the other, of `shape`; kNoValue when there is none.
ValueId channel_scale(const Graph& graph, const Node& mul, const Shape& shape) {
  for (const ValueId v : mul.inputs) {
    const Type& type = graph.value(v).type;
    if (graph.constant(v) != nullptr || !type.fixed()) continue;
    const Shape s = type.fixed_shape();
    if (s == Shape{1, shape[1], 1, 1} && s != shape) return v;
  }
  return kNoValue;
}

}  // namespace

std::vector<Patch> scale_weights(const Graph& graph, const PassContext&) {
  std::vector<Patch> patches;
  const Uses uses(graph);
  for (NodeId id : graph.order()) {
    const Node& conv = graph.node(id);
    if (!is_convolution(conv) || conv.attribute_int("group", 1) != 1) continue;
    const NodeId mul_id = uses.producer[conv.inputs[0]];
    if (mul_id < 0 || !is_op(graph.node(mul_id), "Mul") || only_reader(graph, uses, conv.inputs[0]) != id) continue;
    const Node& mul = graph.node(mul_id);
    const Tensor* weight = graph.constant(conv.inputs[1]);
    const Type& scaled = graph.value(conv.inputs[0]).type;
    if (weight == nullptr || weight->rank() != 4 || weight->dim(2) * weight->dim(3) != 1 || !scaled.fixed()) continue;
    const Shape shape = scaled.fixed_shape();
    const ValueId scale = channel_scale(graph, mul, shape);
    if (scale == kNoValue || shape[0] != 1 || !is_float(scaled.dtype)) continue;
    const ValueId x = mul.inputs[0] == scale ? mul.inputs[1] : mul.inputs[0];
    if (x == scale || graph.value(x).type != scaled || weight->dim(0) * kFewerWeights > shape[2] * shape[3]) continue;

    Patch patch(graph, label_in(graph, mul) + " into " + label_in(graph, conv));
    const ValueId weights =
        patch.add_value(graph.value(conv.inputs[1]).name + ".scaled", graph.value(conv.inputs[1]).type);
    Node first = mul, second = conv;
    first.inputs = {conv.inputs[1], scale};
    first.outputs = {weights};
    second.inputs[0] = x;
    second.inputs[1] = weights;
    patch.add_node(std::move(first));
    patch.add_node(std::move(second));
    patch.remove_node(mul_id);
    patch.remove_node(id);
    patches.push_back(std::move(patch));
  }
  return patches;
}

}  // namespace dnn
