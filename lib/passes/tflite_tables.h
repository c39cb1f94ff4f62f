// Results of TFLite's reference kernels for each of the 256 numbers of 8 bits: tables of dnn.ByteTable and dnn.TableSoftmax.
#pragma once
#include <functional>

#include "ops/fixed_point.h"
#include "passes/byte_grid.h"

namespace dnn::tflite_kernels {
inline constexpr int64_t kEntries = 256;

// y's numbers for each of x's.
inline Tensor filled(const Grid& x, const Grid& y, const Bounds& kept,
                     const std::function<int64_t(int64_t number)>& entry) {
  Tensor wide(DType::Int64, {kEntries});
  for (int64_t i = 0; i < kEntries; ++i)
    wide.mutable_data<int64_t>()[i] = std::clamp(entry(i + integer_lowest(x.dtype)), kept.low, kept.high);
  return convert(wide, y.dtype);
}

inline constexpr int kHalf = 15;  // fraction bits of 16-bit fixed point

inline int32_t saturated(int64_t value) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, INT16_MIN, INT16_MAX));
}

// a * b in 16-bit fixed point: rounded at the middle, up.
inline int32_t high_product(int32_t a, int32_t b) { return saturated((int64_t{a} * b + (1 << (kHalf - 1))) >> kHalf); }

// Halves away from zero.
inline int32_t divided_by_power(int32_t x, int exponent) {
  if (exponent == 0) return x;
  const int32_t mask = (1 << exponent) - 1, rest = x & mask, threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return (x >> exponent) + (rest > threshold ? 1 : 0);
}

// A multiplier of 16 bits.
inline int32_t narrowed(int32_t multiplier) {
  constexpr int32_t kOffset = 1 << 15;
  return multiplier >= INT32_MAX - kOffset ? INT16_MAX : (multiplier + kOffset) >> 16;
}

// A function on real numbers, computed in float32: LOGISTIC, TANH, ELU and the like.
inline Tensor table_of(const Grid& x, const Grid& y, const std::function<float(float)>& function) {
  const float inverse = 1 / y.scale;
  return filled(x, y, Bounds(y.dtype), [&](int64_t number) {
    const float real = x.scale * static_cast<float>(number - x.zero);
    return static_cast<int64_t>(std::round(function(real) * inverse)) + y.zero;
  });
}

// QUANTIZE of quantised numbers; with an activation RELU, RELU6 or RELU_N1_TO_1, whose bounds are `kept`.
inline Tensor requantised(const Grid& x, const Grid& y, const Bounds& kept, bool activation) {
  const double ratio =
      activation ? static_cast<double>(x.scale / y.scale) : static_cast<double>(x.scale) / static_cast<double>(y.scale);
  const FixedPoint factor = FixedPoint::of(ratio);
  return filled(x, y, kept,
                [&](int64_t number) { return multiplied(static_cast<int32_t>(number - x.zero), factor) + y.zero; });
}

// An operand of CONCATENATION of uint8.
inline Tensor joined(const Grid& x, const Grid& y) {
  if (x.scale == y.scale && x.zero == y.zero)
    return filled(x, y, Bounds(y.dtype), [](int64_t number) { return number; });
  const float scale = x.scale * (1 / y.scale), bias = -static_cast<float>(x.zero) * scale;
  return filled(x, y, Bounds(y.dtype), [&](int64_t number) {
    const float product = static_cast<float>(number) * scale;
    return rounded_away(product + bias) + y.zero;
  });
}

inline Tensor hard_swish(const Grid& x, const Grid& y) {
  const float fine = (1.0f / 128.0f) * x.scale;
  const FixedPoint output = FixedPoint::of(static_cast<double>(fine / y.scale)),
                   gate = FixedPoint::of(static_cast<double>(fine / (3.0f / 32768.0f)));
  const int32_t output_multiplier = narrowed(output.multiplier), gate_multiplier = narrowed(gate.multiplier);
  return filled(x, y, Bounds(y.dtype), [&](int64_t number) {
    const auto value = static_cast<int32_t>((number - x.zero) * 128);
    const int32_t unshifted = high_product(value, output_multiplier);
    int32_t share = value;  // of 3 to 32768
    if (gate.shift > 0) share = saturated(int64_t{share} << (gate.shift - 1));
    share = high_product(share, gate_multiplier);
    if (gate.shift > 0) share = saturated(int64_t{share} << 1);
    if (gate.shift < 0) share = divided_by_power(share, -gate.shift);
    share = (share + (1 << kHalf)) >> 1;
    const int32_t product = share * unshifted / (1 << kHalf);
    return int64_t{divided_by_power(product, -output.shift)} + y.zero;
  });
}

inline Tensor leaky_relu(const Grid& x, const Grid& y, float alpha) {
  const FixedPoint below = FixedPoint::of(static_cast<double>(x.scale * alpha / y.scale)),
                   above = FixedPoint::of(static_cast<double>(x.scale / y.scale));
  return filled(x, y, Bounds(y.dtype), [&](int64_t number) {
    const auto moved = static_cast<int32_t>(number - x.zero);
    return multiplied(moved, moved >= 0 ? above : below) + y.zero;
  });
}

// exp(beta * real), of differences -255 to 0 to the largest number of a row.
inline Tensor softmax_powers(const Grid& x, float beta) {
  Tensor table(DType::Float32, {kEntries});
  const float scale = -x.scale * beta;
  for (int64_t i = 0; i < kEntries; ++i)
    table.mutable_data<float>()[kEntries - 1 - i] = std::exp(scale * static_cast<float>(i));
  return table;
}

}  // namespace dnn::tflite_kernels
