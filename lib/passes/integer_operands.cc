// integer-operands: what stands between DequantizeLinear, layers and QuantizeLinear without computing anything goes, and constants that a file
// has as real numbers in front of a QuantizeLinear, as exports of training for int8 do, become integers. No bit changes; the passes
// behind this one see layers whose operands are integers.
#include <algorithm>

#include "passes/match.h"
#include "passes/pass.h"
#include "passes/single_nodes.h"

namespace dnn {

std::vector<Patch> integer_operands(const Graph& graph, const PassContext&) {
  const bool quantised = std::any_of(graph.order().begin(), graph.order().end(),
                                     [&](NodeId id) { return is_op(graph.node(id), "DequantizeLinear"); });
  std::vector<Patch> patches;
  for (NodeId id : graph.order()) {
    if (!quantised) break;
    const Node& node = graph.node(id);
    std::optional<Patch> patch = is_op(node, "QuantizeLinear")
                                     ? computed(graph, id, graph.value(node.outputs[0]).name + ".integers")
                                     : passed_through(graph, id);
    if (patch) patches.push_back(std::move(*patch));
  }
  return patches;
}

}  // namespace dnn
