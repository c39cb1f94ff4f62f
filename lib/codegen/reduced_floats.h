// Float16 and bfloat16 in kernels' text: rounding of float32 numbers to them, and memory of them that is read and written as float32.
#pragma once
#include <cstdint>
#include <string>

#include "loops/ir.h"
#include "target/backend.h"

namespace dnn::codegen {

// The helpers of so many lanes (1: a scalar) that occur in `kernels`: round_bfloat16_f32x16() and its kind, and in C
// widen_bf16_f32x16(), narrow_bf16_f32x16() of numbers that fit and narrow_round_bfloat16_f32x16(). The types that they name stand before
// them. They round to nearest, halves to even, and keep denormal numbers whatever the processor does with these elsewhere; but an
// instruction that narrows (AVX512-BF16) counts them as 0.
std::string reduced_floats(const std::string& kernels, Language language, int64_t lanes);

// Gives the arguments of these names, float32 buffers that hold numbers of `dtype` alone, that type; what reads or writes them converts.
loops::Kernel narrow_buffers(const loops::Kernel& kernel, const std::vector<std::string>& names, DType dtype);

}  // namespace dnn::codegen
