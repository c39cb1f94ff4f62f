// Fuzz target: the .npy reader; only Malformed and Unsupported may escape.
#include "base/error.h"
#include "tensor/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    dnn::parse_npy({reinterpret_cast<const std::byte*>(data), size});
  } catch (const dnn::Error& e) {
    if (e.kind() != dnn::ErrorKind::Malformed && e.kind() != dnn::ErrorKind::Unsupported) throw;
  }
  return 0;
}
