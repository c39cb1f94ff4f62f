// Scales; see scales.h.
#include "formats/tflite/scales.h"

#include <algorithm>

#include "ops/quantization.h"

namespace dnn::tflite {

bool Scales::symmetric() const {
  return std::all_of(zero_point.begin(), zero_point.end(), [](int64_t z) { return z == 0; });
}

Scales fixed_scales(const std::string& op, DType dtype) {
  const bool is_signed = dtype == DType::Int8;
  if (op == "Tanh") return {{1.0f / 128}, {is_signed ? 0 : 128}};
  if (op == "LogSoftmax") return {{16.0f / 256}, {is_signed ? 127 : 255}};
  return {{1.0f / 256}, {is_signed ? -128 : 0}};  // Sigmoid, Softmax
}

int64_t quantized_number(double value, float scale, int64_t zero_point, DType dtype) {
  return saturate(value / static_cast<double>(scale), zero_point, dtype);
}

}  // namespace dnn::tflite
