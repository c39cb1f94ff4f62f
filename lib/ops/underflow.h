// Underflow: weights that are so small in a layer that float16 has 0 for them, or a denormal number of few digits.
#pragma once
#include <string>
#include <vector>

#include "graph/graph.h"

namespace dnn {

struct Underflow {
  std::string layer, weights;      // a node's label, and its constant's name
  double zeros = 0, denormal = 0;  // shares of the weights that are not 0: what becomes 0, and what becomes denormal
};

// The layers (Trait::Weighted) of float32 weights that lose more than half of these in float16, in the graph's order.
std::vector<Underflow> float16_underflow(const Graph& graph);

// One line for a person: each layer and its shares. "" where there is none.
std::string underflow_text(const std::vector<Underflow>& layers);

}  // namespace dnn
