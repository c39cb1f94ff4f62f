// Operators that compute otherwise while a network is trained.
#pragma once
#include "graph/graph.h"

namespace dnn {

// True for a BatchNormalization by its batch's statistics, and for a Dropout that drops, or may drop.
bool in_training(const Graph& graph, const Node& node);

}  // namespace dnn
