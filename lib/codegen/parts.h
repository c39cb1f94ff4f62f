// Concatenations that copy nothing: their inputs are computed in place, as parts of the output.
#pragma once
#include <cstdint>
#include <map>

#include "graph/graph.h"

namespace dnn::codegen {

// Where a value lies: `element` elements into the memory of `whole`.
struct Part {
  ValueId whole;
  int64_t element;
};

// The inputs of those Concats whose inputs all lie, in their own layouts, one after another in the output's: each is made by
// a node, of one part only, and neither an input nor an output of the graph; the output is no part itself.
std::map<ValueId, Part> parts_of_concats(const Graph& graph);

}  // namespace dnn::codegen
