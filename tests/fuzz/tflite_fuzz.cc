// Fuzz target: the TFLite reader and writer; only Malformed and Unsupported may escape, what is read prints and parses back,
// and what is written can be read.
#include "formats/tflite/tflite.h"
#include "fuzz/fuzz.h"

DNN_FUZZ(tflite) {
  const dnn::ModelSource source = dnn::fuzz::as_model(dnn::fuzz::as_input(data, size));
  if (!dnn::tflite::sniff(source)) return 0;
  return dnn::fuzz::refuse_or_accept([&] {
    const dnn::Graph graph = dnn::tflite::read(source);
    dnn::fuzz::expect_text_round_trip(graph);
    const std::string written = dnn::tflite::to_files(graph)[0].bytes.text();
    dnn::tflite::read(dnn::fuzz::as_model(dnn::as_bytes(written)));
  });
}
