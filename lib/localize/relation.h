// How one constant relates to another that should be the same: rounded, scaled, shuffled, cut, or simply other numbers.
#pragma once
#include <string>

#include "tensor/tensor.h"

namespace dnn {

// "" where all numbers are the same; else as "rounded to float16", "scaled by 0.9", "the same numbers in another order", "zero",
// "8 of 2304 elements differ", with the largest difference where that says more.
std::string constant_relation(const Tensor& source, const Tensor& target);

}  // namespace dnn
