// Fuzz target: the ONNX reader, the text form and the writer; only Malformed and Unsupported may escape.
#include "formats/onnx/onnx.h"
#include "fuzz/fuzz.h"

DNN_FUZZ(onnx) {
  const dnn::ModelSource source = dnn::fuzz::as_model(dnn::fuzz::as_input(data, size));
  return dnn::fuzz::refuse_or_accept([&] {
    const dnn::Graph graph = dnn::onnx::read(source);
    dnn::fuzz::expect_text_round_trip(graph);
    dnn::onnx::to_files(graph, {.opset = 7});
  });
}
