// Fuzz target: the reader of safetensors files; only Malformed and Unsupported may escape it.
#include "formats/torch/weights.h"
#include "fuzz/fuzz.h"

DNN_FUZZ(safetensors) {
  const dnn::ModelSource source = dnn::fuzz::as_model(dnn::fuzz::as_input(data, size));
  if (!dnn::safetensors::sniff(source)) return 0;
  return dnn::fuzz::refuse_or_accept([&] { dnn::safetensors::read(source); });
}
