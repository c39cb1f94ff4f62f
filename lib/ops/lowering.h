// Lowering one node of a graph: what passes ask about it and the code generator starts from.
#pragma once
#include "ops/op.h"

namespace dnn {

// The node's lowering on plain row-major buffers named x0.., y0..; no stages when it has none for its types and shapes.
LowerContext lower_node(const Graph& graph, const Node& node);
// Whether lower_node() gives stages.
bool can_lower(const Graph& graph, const Node& node);

// The node that decides a kernel's loops: itself, or the first of a dnn.Fused.
struct Head {
  const Node* node;
  std::vector<ValueId> inputs;  // its own, as values of the graph that the kernel stands in
};
Head head_of(const Node& node);

}  // namespace dnn
