// Fuzz target: the GraphDef reader and writer; only Malformed and Unsupported may escape, what is read prints and parses back,
// and what is written can be read.
#include "formats/tensorflow/tensorflow.h"
#include "fuzz/fuzz.h"

DNN_FUZZ(graphdef) {
  const auto file = [](std::string bytes) { return dnn::model_in_memory("-", {{"", std::move(bytes)}}); };
  const dnn::ModelSource source = file({reinterpret_cast<const char*>(data), size});
  if (!dnn::graphdef::sniff(source)) return 0;
  return dnn::fuzz::refuse_or_accept([&] {
    const dnn::Graph graph = dnn::graphdef::read(source);
    dnn::fuzz::expect_text_round_trip(graph);
    dnn::graphdef::read(file(dnn::graphdef::to_files(graph, {})[0].bytes.text()));
    dnn::savedmodel::read(dnn::model_in_memory("-", dnn::savedmodel::to_files(graph, {})));
  });
}
