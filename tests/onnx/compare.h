// Comparison of a tensor with what a conformance case expects, by the rules of onnx's own backend runner.
#pragma once
#include <string>

#include "tensor/tensor.h"

namespace dnn::conformance {

// Empty when `actual` has the dtype and shape of `expected` and every element agrees: floats within
// atol + rtol * |expected| (bfloat16: rtol at least 2^-6), NaN equal to NaN, infinities, integers, bools and strings
// exactly. Otherwise one line that names the first difference.
std::string difference(const Tensor& actual, const Tensor& expected, double rtol, double atol);

}  // namespace dnn::conformance
