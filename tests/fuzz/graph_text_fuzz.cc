// The parser of the graph's text form on hostile text; what it accepts prints and parses again.
#include "fuzz/fuzz.h"
#include "graph/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return dnn::fuzz::refuse_or_accept([&] {
    const dnn::Graph graph = dnn::parse_graph({reinterpret_cast<const char*>(data), size});
    const dnn::TextOptions whole = {.inline_all = true};
    const std::string text = dnn::to_text(graph, whole);
    try {
      DNN_CHECK(dnn::to_text(dnn::parse_graph(text), whole) == text);
    } catch (const dnn::Error& error) {
      dnn::fail_internal("printed graph does not parse: ", error.what(), "\n", text);
    }
  });
}
