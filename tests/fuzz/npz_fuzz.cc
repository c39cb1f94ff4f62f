// Fuzz target: the .npz reader; only Malformed and Unsupported may escape.
#include "fuzz/fuzz.h"
#include "tensor/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return dnn::fuzz::refuse_or_accept([&] { dnn::parse_npz(dnn::fuzz::as_input(data, size)); });
}
