// Values in 16 bits: which of a graph's float32 values hold numbers of a smaller type alone, as what stands behind dnn.RoundTo does,
// so that memory may keep them in that type.
#pragma once
#include <set>

#include "codegen/parts.h"
#include "graph/graph.h"

namespace dnn::codegen {

// The values that may lie in memory as `to`: all of their numbers fit, kernels make and read them, and so do all values that share
// memory with them. What goes into kernels is read off their loops: a number fits that is rounded to `to`, or chosen among such.
std::set<ValueId> narrow_values(const Graph& graph, const Parts& parts, DType to);

}  // namespace dnn::codegen
