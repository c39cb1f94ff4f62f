// Patches that take one node away: what hands its input on, and what follows from constants.
#pragma once
#include <optional>
#include <string>

#include "graph/patch.h"

namespace dnn {

// Identity, or Dropout in inference, removed; nullopt for other nodes, and where the graph's interface needs the node.
std::optional<Patch> passed_through(const Graph& graph, NodeId id);

// A node of one output whose inputs are constants all, computed by the interpreter; its result is called `name`, or the first free name
// like it. nullopt where it reads something else, or where its output is the graph's.
std::optional<Patch> computed(const Graph& graph, NodeId id, const std::string& name);

}  // namespace dnn
