// Upgrades of ai.onnx nodes from the opset they were written in to kIrOpset.
#pragma once
#include <vector>

#include "formats/leftovers.h"
#include "formats/onnx/rewrite.h"

namespace dnn::onnx {

// Rewrites every ai.onnx node of `graph` (not of its subgraphs) from opsets[its id] to kIrOpset; nodes must be sorted.
// Throws Unsupported naming a node whose old form has no equivalent, or whose operator its opset does not have.
void upgrade(Graph& graph, const std::vector<int>& opsets, const Enclosing* outer, const IgnoredFields& ignored);

// Holds an ai.onnx node as a file has it to the attributes that its operator has in that opset: another one goes where `ignored`
// says so, else it is Unsupported by name.
void check_attributes(Node& node, int opset, const IgnoredFields& ignored);

}  // namespace dnn::onnx
