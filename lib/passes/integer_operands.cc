// integer-operands: what stands between DequantizeLinear, layers and QuantizeLinear without computing anything goes, and constants that a file
// has as real numbers in front of a QuantizeLinear, as exports of training for int8 do, become integers. No bit changes; the passes
// behind this one see layers whose operands are integers. A BatchNormalization becomes what simplify-inference makes of it, as levels that run that
// would round otherwise. An Einsum becomes a MatMul, which the passes behind know as a layer.
#include <algorithm>

#include "passes/einsum_products.h"
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/single_nodes.h"
#include "passes/stated_sums.h"

namespace dnn {

std::vector<Patch> simplify_inference(const Graph& graph, const PassContext& context);

std::vector<Patch> integer_operands(const Graph& graph, const PassContext& context) {
  const bool quantised = std::any_of(graph.order().begin(), graph.order().end(),
                                     [&](NodeId id) { return is_op(graph.node(id), "DequantizeLinear"); });
  const bool activations = has_integer_activations(graph);
  std::vector<Patch> patches;
  if (activations) patches = simplify_inference(graph, context);
  for (NodeId id : graph.order()) {
    if (!quantised) break;
    const Node& node = graph.node(id);
    std::optional<Patch> patch;
    if (activations && is_op(node, "Einsum")) {
      patch = einsum_as_product(graph, id);
    } else if (is_op(node, "QuantizeLinear")) {
      patch = computed(graph, id, graph.value(node.outputs[0]).name + ".integers");
    } else if (!activations) {
      patch = passed_through(graph, id);
    }
    if (patch) patches.push_back(std::move(*patch));
  }
  return patches;
}

}  // namespace dnn
