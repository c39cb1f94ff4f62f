// Upgrades of ai.onnx nodes from the opset they were written in to kIrOpset.
#pragma once
#include <vector>

#include "graph/graph.h"

namespace dnn::onnx {

// Rewrites every node of `graph` (not of its subgraphs) from opsets[its id] to kIrOpset; nodes must be sorted.
// Throws Unsupported naming a node whose old form has no equivalent, Malformed where the old opset has no such operator.
void upgrade(Graph& graph, const std::vector<int>& opsets);

}  // namespace dnn::onnx
