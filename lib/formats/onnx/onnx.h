// ONNX files, opset 1 to 28, IR version up to 14: the row of formats.def and the checker.
#pragma once
#include <string>

#include "formats/format.h"

namespace dnn::onnx {

// True when the top-level protobuf fields are those of a ModelProto up to its graph.
bool sniff(const ModelSource& source);
// The IR graph, upgraded to kIrOpset, model-local functions inlined, verified.
Graph read(const ModelSource& source);
// A node that the opset cannot express is Unsupported, by name.
ModelFiles to_files(const Graph& graph, const WriteOptions& options);

}  // namespace dnn::onnx
