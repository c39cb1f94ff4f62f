// Names: other names for a network's layers, which change nothing of what it computes; what localises must find the same under them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "graph/graph.h"

namespace dnn {

// How layers are named anew; inputs and outputs of the network keep their names.
enum class Renaming : uint8_t {
  Random,    // names that say nothing
  Shifted,   // each layer has the name of the next of its operator, as where a framework counts on from another number
  Permuted,  // each layer has the name of any other
};
// Of "names-random", "names-shifted" and "names-permuted".
std::optional<Renaming> renaming_named(const std::string& name);

// Of values that nodes make, and of the nodes.
void rename_layers(Graph& graph, Renaming how, uint64_t seed);

}  // namespace dnn
