// Scales' places and saturation; see quantization.h.
#include "ops/quantization.h"

#include <algorithm>
#include <cmath>

namespace dnn {

Granularity::Granularity(const Node& node, const Shape& x, const Shape& scale) {
  if (scale.empty() || (scale.size() == 1 && scale[0] == 1 && x.size() != 1)) {
    single_ = true;
    return;
  }
  const auto fail = [&](const std::string& why) {
    fail_malformed(node.label(), ": scale ", shape_text(scale), " for a tensor ", shape_text(x), ": ", why);
  };
  const auto rank = static_cast<int64_t>(x.size());
  int64_t axis = x.size() == 1 ? 0 : int_attribute(node, "axis");
  if (axis < -rank || axis >= rank) fail(cat("axis ", axis, " is out of range"));
  if (axis < 0) axis += rank;
  const size_t at = axis;
  extent_ = std::max<int64_t>(1, x[at]);
  for (size_t i = at + 1; i < x.size(); ++i) inner_ *= x[i];
  inner_ = std::max<int64_t>(1, inner_);
  block_ = int_attribute(node, "block_size");
  if (block_ == 0) {
    if (scale.size() != 1) fail("one axis is expected without block_size");
    if (x.size() == 1 && scale[0] == 1) {
      single_ = true;
    } else if (scale[0] != x[at]) {
      fail(cat("one scale for each index of axis ", axis, " is expected"));
    }
    return;
  }
  if (block_ < 0) fail(cat("block_size ", block_, " is negative"));
  Shape blocked = x;
  blocked[at] = x[at] / block_ + (x[at] % block_ != 0 ? 1 : 0);
  if (scale != blocked) fail(cat("blocks of ", block_, " along axis ", axis, " need ", shape_text(blocked)));
  blocks_ = std::max<int64_t>(1, blocked[at]);
}

int64_t integer_lowest(DType dtype) {
  return dtype_class(dtype) == DTypeClass::Signed ? -(int64_t{1} << (dtype_bits(dtype) - 1)) : 0;
}

int64_t integer_highest(DType dtype) {
  return (int64_t{1} << (dtype_bits(dtype) - (dtype_class(dtype) == DTypeClass::Signed ? 1 : 0))) - 1;
}

void expect_in_type(const InferContext& context, std::string_view attribute, DType dtype) {
  if (!is_integer(dtype) || dtype_bits(dtype) > 32) return;
  const int64_t number = int_attribute(context.node, attribute);
  if (number < integer_lowest(dtype) || number > integer_highest(dtype))
    context.fail("'", attribute, "' is ", number, ", which is no ", dtype_name(dtype));
}

int64_t saturate(double value, int64_t zero_point, DType dtype) {
  const double moved = std::nearbyint(value) + static_cast<double>(zero_point);
  const int64_t low = integer_lowest(dtype), high = integer_highest(dtype);
  if (!(moved > static_cast<double>(low))) return low;
  return moved >= static_cast<double>(high) ? high : static_cast<int64_t>(moved);
}

double round_to(DType dtype, double value) {
  switch (dtype) {
    case DType::Float64: return value;
    case DType::Float32: return static_cast<float>(value);
    case DType::Float16: return static_cast<float>(Half(static_cast<float>(value)));
    case DType::BFloat16: return static_cast<float>(BFloat16(static_cast<float>(value)));
    default: fail_unsupported("quantisation computed in ", dtype_name(dtype));
  }
}

}  // namespace dnn
