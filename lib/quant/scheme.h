// Schemes of quantisation: which integers stand for which real numbers, and how a range gives a scale and a zero point.
//
// A quantised number q of a tensor stands for (q - zero_point) * scale (ONNX DequantizeLinear; TFLite's quantisation
// specification). 0 is always represented exactly, so that padding is.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace dnn::quant {

struct Scheme {
  const char* name;   // as --scheme has it
  DType activations;  // Int8, UInt8 or Int16; Undefined: they stay float32
  bool symmetric;     // zero points of activations are 0
  const char* help;
  DType weights = DType::Int8;  // or Float16, BFloat16: of these nothing is calibrated
};

const std::vector<Scheme>& schemes();
// Throws Usage for an unknown name.
const Scheme& scheme_named(std::string_view name);

// Scale and zero point of one tensor.
struct Affine {
  float scale = 1;
  int64_t zero_point = 0;
  DType dtype = DType::Int8;
  bool operator==(const Affine&) const = default;

  double lowest() const;  // the real numbers that its ends stand for
  double highest() const;
};

// The affine map of the range [low, high], widened to hold 0. An empty range gets scale 1.
Affine affine_of(double low, double high, DType dtype, bool symmetric);

// The largest int8 weight: -128 is left out, so that weights are symmetric. Reduced, the sum of two products with uint8 activations fits 16 bits,
// 2 * 255 * 64 < 2^15: x86-64's VPMADDUBSW saturates sums beyond, and kernels that use it compute something else.
inline constexpr double kLargestWeight = 127, kReducedWeight = 64;

// Weights with one scale for each index of `axis` (-1: one for all): int8 within `largest_integer` of the zero point 0.
struct QuantizedWeights {
  Tensor values;              // int8, of the weights' shape
  std::vector<float> scales;  // one for each channel
};
// `least_scales`: no channel's scale is smaller than its own here (empty: none is), which keeps an int32 bias in range.
QuantizedWeights quantize_weights(const Tensor& weights, int64_t axis, const std::vector<double>& least_scales = {},
                                  double largest_integer = kLargestWeight);

// Real numbers as integers of `affine`, rounded half to even and saturated.
Tensor quantize_tensor(const Tensor& values, const Affine& affine);

// float32 numbers as the integers of `affine` stand for them: what DequantizeLinear makes of QuantizeLinear's.
Tensor round_through(const Tensor& values, const Affine& affine);

}  // namespace dnn::quant
