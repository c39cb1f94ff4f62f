// The element type that a model's real numbers are computed in, as a rewrite of its graph that comes before the passes of a level: what
// is computed is the same at each of them, -O0 and the interpreter included.
//
// float64: all float32 numbers are widened. float16, bfloat16 (docs/explanation/precision.md): weights of layers (Trait::Weighted) are
// rounded to that type, and so is what a layer reads of another layer's results, where it is made. All arithmetic stays in float32.
#pragma once
#include <functional>
#include <string>

#include "graph/graph.h"

namespace dnn {

// Types of the result are inferred, unless `element` is Float32, which gives the graph itself. Throws Unsupported where a graph has no
// layer in float32, or where one's weights go beyond the type. `warn`: of layers that lose most of their weights; may be empty.
Graph at_element(const Graph& graph, DType element, const std::function<void(const std::string& message)>& warn = {});

}  // namespace dnn
