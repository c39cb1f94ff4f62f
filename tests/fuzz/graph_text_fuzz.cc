// Fuzz target: the parser of the text form; only Malformed and Unsupported may escape, and what parses prints back.
#include "base/error.h"
#include "graph/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const dnn::Graph graph = dnn::parse_graph({reinterpret_cast<const char*>(data), size});
    const std::string text = dnn::to_text(graph, {.inline_elements = 32, .inline_all = true});
    if (dnn::to_text(dnn::parse_graph(text), {.inline_elements = 32, .inline_all = true}) != text) __builtin_trap();
  } catch (const dnn::Error& e) {
    if (e.kind() != dnn::ErrorKind::Malformed && e.kind() != dnn::ErrorKind::Unsupported) throw;
  }
  return 0;
}
