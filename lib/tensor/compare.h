// Distances between two tensors: absolute, relative to the largest value, L2, cosine, and in units in the last place.
#pragma once
#include <optional>

#include "tensor/tensor.h"

namespace dnn {

struct Distance {
  int64_t n = 0;                  // elements
  int64_t n_different = 0;        // elements that are unequal as numbers (NaN equals NaN)
  double max_abs = 0;             // infinite where one side is NaN or infinite and the other is not the same
  int64_t max_abs_index = -1;     // row-major; -1 when nothing differs
  double largest = 0;             // largest finite |element| of the reference
  double difference_sum = 0;      // of |a - b|; infinite as max_abs is
  double difference_squares = 0;  // sum of (a - b)^2
  double reference_squares = 0, other_squares = 0, product = 0;  // over elements finite on both sides
  int64_t n_nan = 0;                                             // elements that are NaN on one side only
  std::optional<uint64_t> max_ulp;  // when both have the same floating-point type, and n_nan is 0

  double relative() const;  // max_abs / largest; 0 when nothing differs, infinite against an all-zero reference
  double l2() const;        // ||a - b||
  double cosine() const;    // 1 for two zero tensors, 0 when only one of them is zero
};

// Element by element in row-major order; shapes may differ, sizes may not (Malformed). Strings are Unsupported.
Distance compare(const Tensor& reference, const Tensor& other);

// Representable values from a to b; the largest number when just one of them is NaN.
uint64_t ulp_distance(float a, float b);
uint64_t ulp_distance(double a, double b);

// The index of the largest element of a vector (all extents but one are 1), the lowest of equal ones; -1 for others.
int64_t top_label(const Tensor& output);

}  // namespace dnn
