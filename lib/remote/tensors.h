// Tensors in messages: their types in the map, their bytes behind one another in the payload.
#pragma once
#include <string>
#include <vector>

#include "remote/frame.h"
#include "tensor/tensor.h"

namespace dnn::remote {

// [{"dtype": "float32", "shape": [1, 1000]}, ...]. Throws Unsupported for strings, which have no bytes of their own.
Json types_of(const std::vector<Tensor>& tensors);
std::vector<Bytes> bytes_of(const std::vector<Tensor>& tensors);
// The tensors of such a list and payload. Throws Malformed unless the bytes are just so many.
std::vector<Tensor> tensors_of(const Json& types, Bytes payload);

}  // namespace dnn::remote
