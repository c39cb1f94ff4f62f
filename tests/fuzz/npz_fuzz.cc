// Fuzz target: the .npz reader; only Malformed and Unsupported may escape.
#include "fuzz/fuzz.h"
#include "tensor/npy.h"

DNN_FUZZ(npz) {
  return dnn::fuzz::refuse_or_accept([&] { dnn::parse_npz(dnn::fuzz::as_input(data, size)); });
}
