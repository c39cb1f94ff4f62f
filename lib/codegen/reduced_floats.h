// Float16 and bfloat16 in kernels' text: rounding of float32 numbers to them, and constants of them read as float32.
#pragma once
#include <cstdint>
#include <string>

#include "loops/ir.h"
#include "target/backend.h"

namespace dnn::codegen {

// The helpers of so many lanes (1: a scalar) that occur in `kernels`: round_bfloat16_f32x16() and its kind, and in C
// widen_bf16_f32x16(). The types that they name stand before them. They round to nearest, halves to even, and keep denormal numbers
// whatever the processor does with these elsewhere.
std::string reduced_floats(const std::string& kernels, Language language, int64_t lanes);

// Gives the arguments of these names, float32 constants that hold numbers of `dtype` alone, that type; what reads them converts.
loops::Kernel narrow_constants(const loops::Kernel& kernel, const std::vector<std::string>& names, DType dtype);

}  // namespace dnn::codegen
