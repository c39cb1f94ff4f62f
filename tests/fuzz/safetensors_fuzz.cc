// Fuzz target: the reader of safetensors files; only Malformed and Unsupported may escape it.
#include "formats/torch/weights.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = std::make_shared<const std::string>(reinterpret_cast<const char*>(data), size);
  const dnn::ModelSource source{"-", false, dnn::as_bytes(*file), file, nullptr};
  if (!dnn::safetensors::sniff(source)) return 0;
  try {
    dnn::safetensors::read(source);
  } catch (const dnn::Error& e) {
    if (e.kind() != dnn::ErrorKind::Malformed && e.kind() != dnn::ErrorKind::Unsupported) throw;
  }
  return 0;
}
