// looks_like: the kind of file that was given in place of a stream, by its first bytes, for messages alone.
#pragma once
#include <string>

#include "tensor/tensor.h"

namespace dnn::stream {

// "it looks like an ONNX model: ...", with what to do; "" where the bytes have no form that is known.
std::string looks_like(Bytes first);

}  // namespace dnn::stream
