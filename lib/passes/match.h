// What passes ask about a graph again and again.
#pragma once
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "ops/weights.h"

namespace dnn {

// The only node that reads `value`, once, which is no graph output; -1 otherwise.
inline NodeId only_reader(const Graph& graph, const Uses& uses, ValueId value) {
  const std::vector<NodeId>& readers = uses.readers[value];
  if (readers.size() != 1 || graph.is_output(value)) return -1;
  int reads = 0;
  for (ValueId input : graph.node(readers[0]).inputs) reads += input == value ? 1 : 0;
  return reads == 1 ? readers[0] : -1;
}

inline bool is_op(const Node& node, std::string_view op) { return node.domain.empty() && node.op == op; }

inline bool is_internal(const Node& node, std::string_view op) {
  return node.domain == kInternalDomain && node.op == op;
}
inline bool is_fused(const Node& node) { return is_internal(node, "Fused"); }
inline bool is_winograd(const Node& node) { return is_internal(node, "WinogradConv"); }

// Names of the source nodes that a node computes.
inline std::vector<std::string> sources_of(const Node& node) {
  return node.sources.empty() ? std::vector<std::string>{node.name} : node.sources;
}

// A constant that holds one number per channel (axis 1 of `rank` axes), or one for all: its `channels` numbers.
inline std::optional<std::vector<double>> per_channel(const Tensor& constant, int rank, int64_t channels) {
  if (constant.size() == 1 && constant.rank() <= rank) return std::vector<double>(channels, to_doubles(constant)[0]);
  if (constant.size() != channels || constant.rank() > rank) return std::nullopt;
  const int axis = 1 - (rank - constant.rank());
  if (axis < 0 || constant.dim(axis) != channels) return std::nullopt;
  return to_doubles(constant);
}

}  // namespace dnn
