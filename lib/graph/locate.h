// Where in a graph an error lies, for nodes with and without a name.
#pragma once
#include <string>

#include "base/error.h"
#include "graph/graph.h"

namespace dnn {

// The node's label; before it, where it has no name, the value that it makes.
std::string label_in(const Graph& graph, const Node& node);
// Puts that in front of the error, unless the node's own label is there already: then the value alone.
void locate(Error& error, const Graph& graph, const Node& node);

}  // namespace dnn
