// Operators that hand their input on.
#pragma once
#include <optional>

#include "graph/patch.h"

namespace dnn {

// Identity, or Dropout in inference, removed; nullopt for other nodes, and where the graph's interface needs the node.
std::optional<Patch> passed_through(const Graph& graph, NodeId id);

}  // namespace dnn
