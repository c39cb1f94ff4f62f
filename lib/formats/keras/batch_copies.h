// Constants that a model copies to the extent of its open batch, as a vision transformer its class token.
#pragma once
#include <set>
#include <string>

#include "graph/graph.h"

namespace dnn::keras {

// The names of values that are a constant, once for every sample of the batch, and that nothing but Concats along other axes
// reads. Types must be inferred; these values' extents but the first are known then, too.
std::set<std::string> batch_copies(Graph& graph);
// Lets those Concats read the constants themselves, beside values of the whole batch: what write_concat makes of constants has
// the batch's extent. Such a graph has no meaning elsewhere.
void read_once(const std::set<std::string>& copies, Graph& graph);

}  // namespace dnn::keras
