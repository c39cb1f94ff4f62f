// Fuzz target: the TFLite reader and writer; only Malformed and Unsupported may escape, what is read prints and parses back,
// and what is written can be read.
#include "formats/tflite/tflite.h"

#include "base/error.h"
#include "graph/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy, aligned as a mapped file is.
  const auto file = std::make_shared<dnn::Tensor>(dnn::DType::UInt8, dnn::Shape{static_cast<int64_t>(size)});
  if (size > 0) std::memcpy(file->mutable_bytes(), data, size);
  dnn::ModelSource source;
  source.path = "-";
  source.bytes = file->bytes();
  source.owner = file;
  if (!dnn::tflite::sniff(source)) return 0;
  try {
    const dnn::Graph graph = dnn::tflite::read(source);
    const std::string text = dnn::to_text(graph, {.inline_elements = 32, .inline_all = true});
    if (dnn::to_text(dnn::parse_graph(text), {.inline_elements = 32, .inline_all = true}) != text) __builtin_trap();
    const std::string written = dnn::tflite::to_files(graph)[0].bytes;
    const auto again =
        std::make_shared<dnn::Tensor>(dnn::DType::UInt8, dnn::Shape{static_cast<int64_t>(written.size())});
    std::memcpy(again->mutable_bytes(), written.data(), written.size());
    source.bytes = again->bytes();
    source.owner = again;
    dnn::tflite::read(source);
  } catch (const dnn::Error& e) {
    if (e.kind() != dnn::ErrorKind::Malformed && e.kind() != dnn::ErrorKind::Unsupported) throw;
  }
  return 0;
}
