// Fuzz target: .h5 and .keras files; what is read prints and parses back, and what is written of it can be read.
#include "formats/keras/keras.h"

#include "fuzz/fuzz.h"
#include "graph/text.h"
#include "tensor/tensor.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy, aligned as a mapped file is.
  const auto file = std::make_shared<dnn::Tensor>(dnn::DType::UInt8, dnn::Shape{static_cast<int64_t>(size)});
  if (size > 0) std::memcpy(file->mutable_bytes(), data, size);
  dnn::ModelSource source;
  source.path = "-";
  source.bytes = file->bytes();
  source.owner = file;
  const bool zip = dnn::keras::sniff(source);
  if (!zip && !dnn::keras_h5::sniff(source)) return 0;
  return dnn::fuzz::refuse_or_accept([&] {
    const dnn::Graph graph = zip ? dnn::keras::read(source) : dnn::keras_h5::read(source);
    const std::string text = dnn::to_text(graph, {.inline_elements = 32, .inline_all = true});
    if (dnn::to_text(dnn::parse_graph(text), {.inline_elements = 32, .inline_all = true}) != text) __builtin_trap();
    const dnn::ModelFiles files = zip ? dnn::keras_h5::to_files(graph, {}) : dnn::keras::to_files(graph, {});
    dnn::read_model(dnn::model_in_memory("-", files));
  });
}
