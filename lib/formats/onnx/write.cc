// Graph to ModelProto; see onnx.h.
#include "formats/onnx/attribute_proto.h"
#include "formats/onnx/onnx.h"

namespace dnn::onnx {
std::string to_bytes(const Graph&, const WriteOptions&) { fail_unsupported("ONNX writing"); }
void write(const Graph& graph, const std::string& path, const WriteOptions& options) {
  write_file(path, to_bytes(graph, options));
}
}  // namespace dnn::onnx
