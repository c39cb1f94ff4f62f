// Fuzz target: the .npy reader; only Malformed and Unsupported may escape.
#include "fuzz/fuzz.h"
#include "tensor/npy.h"

DNN_FUZZ(npy) {
  return dnn::fuzz::refuse_or_accept([&] { dnn::parse_npy(dnn::fuzz::as_input(data, size)); });
}
