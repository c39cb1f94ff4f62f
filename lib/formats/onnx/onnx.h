// ONNX files, opset 1 to 28, IR version up to 14: the row of formats.def and the checker.
#pragma once
#include <string>

#include "formats/format.h"

namespace dnn::onnx {

// True when the top-level protobuf fields are those of a ModelProto up to its graph.
bool sniff(const ModelSource& source);
// The IR graph, upgraded to kIrOpset, model-local functions inlined, verified.
Graph read(const ModelSource& source);
// Same bytes for the same graph and options; a node that the opset cannot express is Unsupported, by name.
void write(const Graph& graph, const std::string& path, const WriteOptions& options);
// The bytes that write() would put into one file.
std::string to_bytes(const Graph& graph, const WriteOptions& options);

}  // namespace dnn::onnx
