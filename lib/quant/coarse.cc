// Sums that integers would lose; see coarse.h.
#include "quant/coarse.h"

namespace dnn::quant {
namespace {

// An operand keeps two of its eight bits, eight of sixteen.
double least_steps(const Affine& affine) { return dtype_size(affine.dtype) == 1 ? 4 : 256; }

}  // namespace

std::set<NodeId> coarse_sums(const Graph& graph, const Plan& plan, const std::vector<Affine>& groups) {
  std::set<NodeId> found;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!plan.quantized[id] || !node.domain.empty() || (node.op != "Add" && node.op != "Sub")) continue;
    const std::vector<NodeId> nodes = with_ends(plan, id);
    const int out = group_of(plan, graph.node(nodes.back()).outputs[0]);
    if (out < 0) continue;
    for (ValueId v : node.inputs) {
      const int in = group_of(plan, v);
      if (in < 0) continue;
      const double extent = groups[in].highest() - groups[in].lowest();
      if (extent >= least_steps(groups[out]) * static_cast<double>(groups[out].scale)) continue;
      found.insert(nodes.begin(), nodes.end());
    }
  }
  return found;
}

}  // namespace dnn::quant
