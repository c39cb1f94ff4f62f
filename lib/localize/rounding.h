// Rounding to the numbers of a smaller type, and what that loses: float32 tensors in, float32 tensors out.
#pragma once
#include <cstdint>

#include "graph/graph.h"
#include "tensor/tensor.h"

namespace dnn {

// What rounding does to numbers besides making them less exact.
struct RoundingLoss {
  int64_t n = 0;            // numbers
  int64_t to_infinity = 0;  // finite, and infinite now
  int64_t to_zero = 0;      // not 0, and 0 now
  void add(const RoundingLoss& other);
  bool any() const { return to_infinity > 0 || to_zero > 0; }
};

// The finite numbers of some tensors, and 0.
struct NumberRange {
  float low = 0, high = 0;
  void add(const Tensor& tensor);
  void add(const NumberRange& other);
};

// To float16 or bfloat16 and back: to nearest, ties to even; beyond the largest number infinity.
Tensor rounded_to(const Tensor& tensor, DType dtype, RoundingLoss* loss);

// To int8 and back as ONNX's QuantizeLinear does, of one scale and zero point for a range (asymmetric). What lies beyond the range
// saturates; what is not finite stays.
Tensor rounded_to_int8(const Tensor& tensor, const NumberRange& range, RoundingLoss* loss);

// To int8 in -127 to 127 and back, with a scale for each index along `axis` (-1: one for all) that the largest magnitude there gives.
Tensor rounded_to_int8_symmetric(const Tensor& tensor, int64_t axis, RoundingLoss* loss);

// How a constant input of a node is kept in an int8 network.
struct Int8Constant {
  enum class As : uint8_t { Float32, Weight, Operand };
  As as = As::Float32;  // Float32: biases (int32 in such networks), parameters of normalisation and of shapes
  int64_t axis = -1;    // of a Weight's output channels
};
Int8Constant int8_constant(const Node& node, size_t input, int rank);

}  // namespace dnn
