// Borders: the number that operators take a tensor to hold outside of it, where they pad: zero, or the zero point of integers.
#pragma once
#include <optional>

#include "graph/graph.h"

namespace dnn {

// For all readers of `value`; nothing where they disagree.
std::optional<int64_t> border_of(const Graph& graph, const Uses& uses, ValueId value);

}  // namespace dnn
