// How integers of 8 bits stand for real numbers: what the passes that compute on them share.
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>

#include "graph/patch.h"
#include "ops/quantization.h"
#include "passes/match.h"

namespace dnn {

// How integers stand for real numbers: one scale and zero point for all.
struct Grid {
  float scale = 1;
  int64_t zero = 0;
  DType dtype = DType::Undefined;
  bool away = false;  // halves are rounded away from zero, as TFLite does, not to the even number

  // The integer that a QuantizeLinear makes of a real number.
  int64_t of(double real) const {
    const float quotient = static_cast<float>(real) / scale;
    return saturate(static_cast<double>(away ? std::round(quotient) : quotient), zero, dtype);
  }
};

// The grid of integers of 8 bits with that scale and zero point (kNoValue: zero); nothing where these are not one constant each.
inline std::optional<Grid> grid_of(const Graph& graph, ValueId integers, ValueId scale_value, ValueId zero_value) {
  const DType dtype = graph.value(integers).type.dtype;
  const Tensor *scale = graph.constant(scale_value), *zero = graph.constant(zero_value);
  if (!is_byte(dtype) || scale == nullptr || scale->size() != 1 || scale->dtype() != DType::Float32 ||
      (zero_value != kNoValue && (zero == nullptr || zero->size() != 1)))
    return std::nullopt;
  Grid grid{scale->data<float>()[0], zero == nullptr ? 0 : to_int64s(*zero)[0], dtype, false};
  if (!(grid.scale > 0) || !std::isfinite(grid.scale)) return std::nullopt;
  return grid;
}

// That of a QuantizeLinear or DequantizeLinear of 8 bits with one constant scale; nothing for others.
inline std::optional<Grid> grid_of(const Graph& graph, const Node& node) {
  const bool to_integers = is_op(node, "QuantizeLinear");
  if ((!to_integers && !is_op(node, "DequantizeLinear")) || node.attribute_int("block_size", 0) != 0)
    return std::nullopt;
  if (graph.value(to_integers ? node.inputs[0] : node.outputs[0]).type.dtype != DType::Float32) return std::nullopt;
  return grid_of(graph, to_integers ? node.outputs[0] : node.inputs[0], node.input(1), node.input(2));
}

inline bool same_grid(const Grid& a, const Grid& b) {
  return a.scale == b.scale && a.zero == b.zero && a.dtype == b.dtype;
}

// Bounds of the integers of a grid that may occur.
struct Bounds {
  explicit Bounds(DType dtype) : low(integer_lowest(dtype)), high(integer_highest(dtype)) {}
  int64_t low, high;

  // Clamps by a Relu or Clip in front of the grid; false where its bounds are not known.
  bool clamp(const Graph& graph, const Node& node, const Grid& grid);
};

// Rounding to the grid keeps the order of numbers, so that what is clamped before it may be clamped after it.
inline bool Bounds::clamp(const Graph& graph, const Node& node, const Grid& grid) {
  int64_t least = INT64_MIN, most = INT64_MAX;
  if (is_op(node, "Relu")) {
    least = grid.of(0);
  } else {
    for (const size_t i : {1, 2}) {
      if (node.input(i) == kNoValue) continue;
      const Tensor* bound = graph.constant(node.inputs[i]);
      if (bound == nullptr || bound->size() != 1 || std::isnan(to_doubles(*bound)[0])) return false;
      (i == 1 ? least : most) = grid.of(to_doubles(*bound)[0]);
    }
  }
  for (int64_t* bound : {&low, &high}) *bound = std::min(std::max(*bound, least), most);
  return true;
}

}  // namespace dnn
