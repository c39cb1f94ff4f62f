// Fuzz target: the parser of the text form; only Malformed and Unsupported may escape, and what parses prints back.
#include "fuzz/fuzz.h"

DNN_FUZZ(graph_text) {
  return dnn::fuzz::refuse_or_accept([&] {
    const dnn::Graph graph = dnn::parse_graph({reinterpret_cast<const char*>(data), size});
    dnn::fuzz::expect_text_round_trip(graph);
  });
}
