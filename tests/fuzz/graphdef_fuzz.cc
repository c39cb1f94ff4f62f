// Fuzz target: the GraphDef reader and writer; only Malformed and Unsupported may escape, what is read prints and parses back,
// and what is written can be read.
#include "base/error.h"
#include "formats/tensorflow/tensorflow.h"
#include "graph/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = [](std::string bytes) { return dnn::model_in_memory("-", {{"", std::move(bytes)}}); };
  const dnn::ModelSource source = file({reinterpret_cast<const char*>(data), size});
  if (!dnn::graphdef::sniff(source)) return 0;
  try {
    const dnn::Graph graph = dnn::graphdef::read(source);
    const std::string text = dnn::to_text(graph, {.inline_elements = 32, .inline_all = true});
    if (dnn::to_text(dnn::parse_graph(text), {.inline_elements = 32, .inline_all = true}) != text) __builtin_trap();
    dnn::graphdef::read(file(dnn::graphdef::to_files(graph, {})[0].bytes));
    dnn::savedmodel::read(dnn::model_in_memory("-", dnn::savedmodel::to_files(graph, {})));
  } catch (const dnn::Error& e) {
    if (e.kind() != dnn::ErrorKind::Malformed && e.kind() != dnn::ErrorKind::Unsupported) throw;
  }
  return 0;
}
