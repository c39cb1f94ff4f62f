// Downgrades of ai.onnx nodes from kIrOpset to an older opset, for writing.
#pragma once
#include "formats/onnx/rewrite.h"

namespace dnn::onnx {

// Rewrites every ai.onnx node of `graph` and of its subgraphs; the better the values' types are known, the more can be
// said. Throws Unsupported with the node that `opset` cannot express.
void downgrade(Graph& graph, int opset, const Enclosing* outer);

}  // namespace dnn::onnx
