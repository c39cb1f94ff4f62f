// Tensors as text: the element lists of graph/text.h.
#pragma once
#include <string>
#include <string_view>

#include "graph/text.h"

namespace dnn {

// Everything behind the type: "{1, 2}", "base64 \"...\"" or "sha256 \"...\"".
std::string tensor_text(const Tensor& tensor, const TextOptions& options);

// One element written as a number, "true" or "nan"; false when `word` is not one of `dtype`.
bool parse_element(DType dtype, std::string_view word, std::byte* element);

// Uniform in [-1, 1) for floating-point types, 0 or 1 for others; the same on every machine.
Tensor random_tensor(DType dtype, const Shape& shape, uint64_t seed);

}  // namespace dnn
