// Attributes of two nodes of one operator, compared by what they mean.
#pragma once
#include <string>
#include <vector>

#include "graph/graph.h"

namespace dnn {

struct AttributeDifference {
  std::string key, source, target;  // as text; "left out" where there is none, and no default that is known
};

// What is left out means its default, a negative axis counts from the back; what changes no result is not compared.
std::vector<AttributeDifference> attribute_differences(const Graph& source, const Node& a, const Graph& target,
                                                       const Node& b);

}  // namespace dnn
