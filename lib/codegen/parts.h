// Nodes that copy nothing: values that lie within others. Inputs of a Concat are computed in place, as parts of its output;
// the outputs of a Split and of a Reshape are read where their input lies.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>

#include "graph/graph.h"

namespace dnn::codegen {

// Where a value lies: `element` elements into the memory of `whole`, which is no part itself.
struct Part {
  ValueId whole;
  int64_t element;
};

struct Parts {
  std::map<ValueId, Part> of;
  std::set<NodeId> idle;  // nodes that nothing is left to do for
};

// A Concat is idle where its inputs all lie, in their own layouts, one after another in the output's: each is made by a node,
// of one part only, and neither an input nor an output of the graph; the output is no part of another; and each begins a
// multiple of `align` bytes into it. A Split where the same is true of its outputs in its input, a Reshape where both lie
// row-major; their input is made by a node, and no output of the graph. Nodes of which `asked` says no are left alone.
Parts find_parts(const Graph& graph, int64_t align = 1, const std::function<bool(NodeId)>& asked = {});

}  // namespace dnn::codegen
