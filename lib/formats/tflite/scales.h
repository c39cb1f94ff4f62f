// Scales and zero points of quantised numbers, as TFLite's tensors have them.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace dnn::tflite {

// One of each for a whole tensor, or one per index of an axis.
struct Scales {
  std::vector<float> scale;
  std::vector<int64_t> zero_point;
  int axis = 0;

  bool single() const { return scale.size() == 1; }
  bool symmetric() const;  // every zero point is 0
  Scales along(int other_axis) const { return {scale, zero_point, other_axis}; }
  bool operator==(const Scales&) const = default;
};

// How an operator of the format computes on quantised numbers; see exports.def.
enum class OnQuantized { Never, Free, Same, Fixed, Order };

// The scale that results of an operator with one of its own have (Softmax, Sigmoid, Tanh, LogSoftmax).
Scales fixed_scales(const std::string& op, DType dtype);

// `value` as a quantised number of an integer dtype, rounded to nearest even and saturated.
int64_t quantized_number(double value, float scale, int64_t zero_point, DType dtype);

}  // namespace dnn::tflite
