// Binding of input shapes: fixes the extents that a model leaves open, the same symbol alike everywhere.
#pragma once
#include <string_view>

#include "graph/graph.h"

namespace dnn {

// `spec` is "NAME:1x3x224x224", or "1x3x224x224" where the graph has one input; "?" keeps an extent as it is. A symbol
// that gets a size is replaced in every value of the graph and its subgraphs. Throws Usage when there is no such input,
// or the rank or a fixed extent differs.
void bind_shape(Graph& graph, std::string_view spec);

// Replaces a symbolic extent in every value of the graph and its subgraphs.
void bind_symbol(Graph& graph, const std::string& symbol, int64_t size);

}  // namespace dnn
