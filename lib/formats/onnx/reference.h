// Where ONNX's reference evaluator and the runtimes (ONNX Runtime, PyTorch) compute something else from the same node.
// Attributes of the IR mean what the runtimes do; docs/reference/onnx.md lists the places.
#pragma once
#include "graph/graph.h"

namespace dnn::onnx {

// Gives the nodes at such places the attributes that mean what the reference evaluator does, or other nodes that do; and takes the
// attributes back to ONNX's own names, which a file has.
void follow_reference(Graph& graph);
void use_onnx_names(Graph& graph);

}  // namespace dnn::onnx
