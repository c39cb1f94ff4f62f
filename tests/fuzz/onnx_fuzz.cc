// Fuzz target: the ONNX reader, the text form and the writer; only Malformed and Unsupported may escape.
#include "base/error.h"
#include "formats/onnx/onnx.h"
#include "graph/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  dnn::ModelSource source;
  source.path = "-";
  source.bytes = {reinterpret_cast<const std::byte*>(data), size};
  try {
    const dnn::Graph graph = dnn::onnx::read(source);
    const std::string text = dnn::to_text(graph, {.inline_elements = 32, .inline_all = true});
    if (dnn::to_text(dnn::parse_graph(text), {.inline_elements = 32, .inline_all = true}) != text) __builtin_trap();
    dnn::onnx::to_files(graph, {.opset = 7});
  } catch (const dnn::Error& e) {
    if (e.kind() != dnn::ErrorKind::Malformed && e.kind() != dnn::ErrorKind::Unsupported) throw;
  }
  return 0;
}
