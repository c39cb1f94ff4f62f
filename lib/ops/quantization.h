// quantization: what the quantised operators share: which scale belongs to which element, and saturation.
#pragma once
#include "ops/op.h"

namespace dnn {

// How scales (and zero points, of the same shape) lie over a tensor: one for all, one per index of an axis, or one per
// block along an axis. Attributes axis and block_size. Throws Malformed where the shapes do not fit.
class Granularity {
 public:
  Granularity(const Node& node, const Shape& x, const Shape& scale);
  // Index of the scale of x's element i (row-major).
  int64_t operator()(int64_t i) const {
    if (single_) return 0;
    const int64_t along = i / inner_ % extent_;
    return blocks_ == 0 ? along : (i / (inner_ * extent_) * blocks_ + along / block_) * inner_ + i % inner_;
  }

 private:
  bool single_ = false;
  int64_t inner_ = 1, extent_ = 1, block_ = 1, blocks_ = 0;
};

// int8 and uint8.
inline bool is_byte(DType dtype) { return dtype == DType::Int8 || dtype == DType::UInt8; }
// The smallest and largest value of an integer type of at most 32 bits.
int64_t integer_lowest(DType dtype);
int64_t integer_highest(DType dtype);
// Malformed unless the attribute's number is one of an integer type, where that is known: of zero points and bounds, which loops hold as such numbers.
void expect_in_type(const InferContext& context, std::string_view attribute, DType dtype);
// round_to_even(value) + zero_point, saturated to the type; a NaN gives the lowest value.
int64_t saturate(double value, int64_t zero_point, DType dtype);
// `value` rounded to a float type, as a double; other types are Unsupported.
double round_to(DType dtype, double value);

}  // namespace dnn
