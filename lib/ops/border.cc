// The numbers that operators take a tensor to hold outside of it; see border.h.
#include "ops/border.h"

#include "ops/attributes.h"
#include "ops/lowering.h"

namespace dnn {

std::optional<int64_t> border_of(const Graph& graph, const Uses& uses, ValueId value) {
  std::optional<int64_t> all;
  for (NodeId id : uses.readers[value]) {
    const Head head = head_of(graph.node(id));
    if (!takes_attribute(*head.node, "padding") || head.inputs.empty() || head.inputs[0] != value) continue;
    const int64_t padding = int_attribute(*head.node, "padding");
    if (all && *all != padding) return std::nullopt;
    all = padding;
  }
  return all ? all : 0;
}

}  // namespace dnn
