// Rounding to smaller types; see rounding.h.
#include "localize/rounding.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "ops/op.h"
#include "ops/weights.h"

namespace dnn {
namespace {

constexpr double kSteps = 255;
constexpr double kLowest = -128, kHighest = 127, kMostSymmetric = 127;

void count_losses(const Tensor& before, const Tensor& after, RoundingLoss* loss) {
  const float* a = before.data<float>();
  const float* b = after.data<float>();
  loss->n += before.size();
  for (int64_t i = 0; i < before.size(); ++i) {
    loss->to_infinity += std::isfinite(a[i]) && !std::isfinite(b[i]) ? 1 : 0;
    loss->to_zero += a[i] != 0 && b[i] == 0 ? 1 : 0;
  }
}

// ONNX QuantizeLinear and DequantizeLinear, in float32 as both have it: half to even, saturated. `zero`, `low` and `high` are whole numbers
// of at most 8 bits; what is not finite stays.
struct Int8Scale {
  float scale = 0, zero = 0, low = 0, high = 0;
  void round(const float* x, float* y, int64_t n) const {
    constexpr float kWhole = 0x1.8p23F;  // added to a number below 2^22 it leaves no digits behind the point
    constexpr float kBeyond = 1024;      // saturates whatever the zero point
    if (scale == 0) {
      std::copy(x, x + n, y);
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      const float steps = (std::clamp(x[i] / scale, -kBeyond, kBeyond) + kWhole) - kWhole;
      const float rounded = (std::clamp(steps + zero, low, high) - zero) * scale;
      y[i] = std::isfinite(x[i]) ? rounded : x[i];
    }
  }
};

}  // namespace

void RoundingLoss::add(const RoundingLoss& other) {
  n += other.n;
  to_infinity += other.to_infinity;
  to_zero += other.to_zero;
}

void NumberRange::add(const Tensor& tensor) {
  for (const float x : tensor.values<float>()) {
    if (!std::isfinite(x)) continue;
    low = std::min(low, x);
    high = std::max(high, x);
  }
}

void NumberRange::add(const NumberRange& other) {
  low = std::min(low, other.low);
  high = std::max(high, other.high);
}

Tensor rounded_to(const Tensor& tensor, DType dtype, RoundingLoss* loss) {
  Tensor result = convert(convert(tensor, dtype), DType::Float32);
  count_losses(tensor, result, loss);
  return result;
}

Tensor rounded_to_int8(const Tensor& tensor, const NumberRange& range, RoundingLoss* loss) {
  const auto scale = static_cast<float>((double{range.high} - double{range.low}) / kSteps);
  const auto zero = static_cast<float>(
      scale == 0 ? 0 : std::clamp(std::nearbyint(kLowest - double{range.low} / double{scale}), kLowest, kHighest));
  Tensor result(DType::Float32, tensor.shape());
  const Int8Scale how = {scale, zero, static_cast<float>(kLowest), static_cast<float>(kHighest)};
  how.round(tensor.data<float>(), result.mutable_data<float>(), tensor.size());
  count_losses(tensor, result, loss);
  return result;
}

Tensor rounded_to_int8_symmetric(const Tensor& tensor, int64_t axis, RoundingLoss* loss) {
  const int64_t channels = axis < 0 ? 1 : tensor.dim(static_cast<int>(axis));
  const int64_t step = axis < 0 ? tensor.size() : row_major_strides(tensor.shape())[axis];
  constexpr auto kMost = static_cast<float>(kMostSymmetric);
  const float* x = tensor.data<float>();
  std::vector<Int8Scale> scales(channels, {0, 0, -kMost, kMost});
  // body(scale of the channel, where) over the parts of `step` numbers that are of one channel.
  const auto each = [&](const auto& body) {
    for (int64_t at = 0; at < tensor.size();) {
      for (Int8Scale& scale : scales) {
        body(scale, at);
        at += step;
      }
    }
  };
  each([&](Int8Scale& scale, int64_t at) {
    for (int64_t i = at; i < at + step; ++i) {
      if (std::isfinite(x[i])) scale.scale = std::max(scale.scale, std::abs(x[i]));
    }
  });
  for (Int8Scale& scale : scales) scale.scale /= kMost;
  Tensor result(DType::Float32, tensor.shape());
  float* y = result.mutable_data<float>();
  each([&](const Int8Scale& scale, int64_t at) { scale.round(x + at, y + at, step); });
  count_losses(tensor, result, loss);
  return result;
}

Int8Constant int8_constant(const Node& node, size_t input, int rank) {
  using As = Int8Constant::As;
  static const std::set<std::string> kOperands = {"Add", "Sub", "Mul", "Div",  "Pow",
                                                  "Max", "Min", "Sum", "Mean", "PRelu"};
  struct Weights {
    int64_t axis;       // of their output channels
    size_t last_input;  // from 1 on
  };
  static const std::map<std::string, Weights> kWeights = {
      {"DeformConv", {0, 1}}, {"LSTM", {1, 2}}, {"GRU", {1, 2}}, {"RNN", {1, 2}}};
  if (!node.domain.empty()) return {};
  if (kOperands.count(node.op) != 0) return {As::Operand, -1};
  if (node.op == "Einsum") return {As::Weight, -1};
  if (rank < 2) return {};
  if (const std::optional<WeightAxes> axes = weight_axes(node, rank); axes && input == 1)
    return {As::Weight, axes->output};
  if (node.op == "MatMul") return {As::Weight, rank - 2};
  if (node.op == "Gemm" && input == 0) return {As::Weight, flag_attribute(node, "transA") ? 1 : 0};
  const auto found = kWeights.find(node.op);
  if (found == kWeights.end() || input == 0 || input > found->second.last_input || found->second.axis >= rank)
    return {};
  return {As::Weight, found->second.axis};
}

}  // namespace dnn
