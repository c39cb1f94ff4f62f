// Another name for a value. Bodies of If, Loop and Scan read values of the graphs around them by name, so a value that is called
// otherwise has to be called so there, too.
#pragma once
#include <string>

#include "graph/graph.h"

namespace dnn {

// Calls the value `name`, which no other value of the graph has; bodies that read it go on reading it. Where a body has an inner value
// of that name, that one gets another.
void rename_value(Graph& graph, ValueId v, const std::string& name);

}  // namespace dnn
