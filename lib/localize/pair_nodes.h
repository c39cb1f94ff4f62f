// Nodes of two segments side by side: of one operator, in order.
#pragma once
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace dnn {

// The longest common subsequence of operators; -1 where a node has no partner. Both lists in their order. Empty for segments of more
// than 400 nodes.
std::vector<std::pair<NodeId, NodeId>> pair_nodes(const Graph& source, const std::vector<NodeId>& a,
                                                  const Graph& target, const std::vector<NodeId>& b);

}  // namespace dnn
