// Schemes; see scheme.h.
#include "quant/scheme.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "ops/quantization.h"

namespace dnn::quant {
namespace {

// Less is 0 in float32, or a denormal number, which some processors take as 0; and nothing can be divided by 0.
constexpr double kLeastScale = std::numeric_limits<float>::min();

}  // namespace

const std::vector<Scheme>& schemes() {
  static const std::vector<Scheme> rows = {
      {"int8", DType::Int8, false, "int8 activations (asymmetric) and weights (symmetric, one scale per channel)"},
      {"uint8", DType::UInt8, false, "uint8 activations (asymmetric), int8 weights"},
      {"int16x8", DType::Int16, true, "int16 activations (symmetric), int8 weights"},
      {"weights-int8", DType::Undefined, true, "int8 weights; activations stay float32"},
      {"float16", DType::Undefined, true, "float16 throughout in ONNX, float16 weights in TFLite", DType::Float16},
      {"bfloat16", DType::Undefined, true, "bfloat16 weights, arithmetic in float32", DType::BFloat16},
  };
  return rows;
}

const Scheme& scheme_named(std::string_view name) {
  std::vector<std::string> names;
  for (const Scheme& scheme : schemes()) {
    if (scheme.name == name) return scheme;
    names.emplace_back(scheme.name);
  }
  fail_usage("--scheme ", name, ": choose from ", join(names));
}

double Affine::lowest() const {
  return static_cast<double>(integer_lowest(dtype) - zero_point) * static_cast<double>(scale);
}

double Affine::highest() const {
  return static_cast<double>(integer_highest(dtype) - zero_point) * static_cast<double>(scale);
}

Affine affine_of(double low, double high, DType dtype, bool symmetric) {
  low = std::min(low, 0.0);
  high = std::max(high, 0.0);
  const int64_t middle = dtype == DType::UInt8 ? 128 : 0;  // of a symmetric map
  if (low == high) return {1, symmetric ? middle : dtype == DType::UInt8 ? integer_lowest(dtype) : 0, dtype};
  const auto least = static_cast<double>(integer_lowest(dtype)), most = static_cast<double>(integer_highest(dtype));
  if (symmetric)
    return {static_cast<float>(std::max(std::max(-low, high) / (most - static_cast<double>(middle)), kLeastScale)),
            middle, dtype};
  const auto scale = static_cast<float>(std::max((high - low) / (most - least), kLeastScale));
  const double zero = std::clamp(std::nearbyint(least - low / static_cast<double>(scale)), least, most);
  return {scale, static_cast<int64_t>(zero), dtype};
}

QuantizedWeights quantize_weights(const Tensor& weights, int64_t axis, const std::vector<double>& least_scales,
                                  double largest_integer) {
  const size_t channels = axis < 0 ? 1 : weights.dim(static_cast<int>(axis));
  const size_t step = axis < 0 ? weights.size() : row_major_strides(weights.shape())[axis];
  const std::span<const float> real = weights.values<float>();
  std::vector<float> largest(channels, 0);
  const auto channel_of = [&](size_t i) { return step == 0 ? 0 : i / step % channels; };
  for (size_t i = 0; i < real.size(); ++i) {
    if (!std::isfinite(real[i])) fail_unsupported("a weight is NaN or infinite, which int8 cannot hold");
    largest[channel_of(i)] = std::max(largest[channel_of(i)], std::abs(real[i]));
  }
  QuantizedWeights result = {Tensor(DType::Int8, weights.shape()), std::vector<float>(channels)};
  for (size_t c = 0; c < channels; ++c) {
    double scale = static_cast<double>(largest[c]) / largest_integer;
    if (!least_scales.empty()) scale = std::max(scale, least_scales[c]);
    result.scales[c] = scale == 0 ? 1 : static_cast<float>(std::max(scale, kLeastScale));  // 0: a channel of zeros
  }
  int8_t* out = result.values.mutable_data<int8_t>();
  for (size_t i = 0; i < real.size(); ++i) {
    const double steps =
        std::nearbyint(static_cast<double>(real[i]) / static_cast<double>(result.scales[channel_of(i)]));
    out[i] = static_cast<int8_t>(std::clamp(steps, -largest_integer, largest_integer));
  }
  return result;
}

Tensor quantize_tensor(const Tensor& values, const Affine& affine) {
  Tensor integers(DType::Int64, values.shape());
  const std::vector<double> real = to_doubles(values);
  int64_t* out = integers.mutable_data<int64_t>();
  for (size_t i = 0; i < real.size(); ++i)
    out[i] = saturate(real[i] / static_cast<double>(affine.scale), affine.zero_point, affine.dtype);
  return convert(integers, affine.dtype);
}

Tensor round_through(const Tensor& values, const Affine& affine) {
  Tensor result(DType::Float32, values.shape());
  const std::span<const float> from = values.values<float>();
  float* to = result.mutable_data<float>();
  const auto low = static_cast<float>(integer_lowest(affine.dtype) - affine.zero_point);
  const auto high = static_cast<float>(integer_highest(affine.dtype) - affine.zero_point);
  for (size_t i = 0; i < from.size(); ++i)
    to[i] = std::min(std::max(std::nearbyint(from[i] / affine.scale), low), high) * affine.scale;
  return result;
}

}  // namespace dnn::quant
