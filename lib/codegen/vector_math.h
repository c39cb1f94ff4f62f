// exp, erf, tanh and silu of float vectors as C text, in GNU C's vector extensions: what kernels call where DNN_VECTOR_MATH is
// defined. An element has the same bits whichever vector it lies in.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace dnn::codegen {

inline constexpr std::string_view kOwnMath[] = {"exp", "erf", "tanh", "silu"};

// What vector_math() calls: once in a text.
std::string vector_math_terms();

// exp_V, erf_V, tanh_V and silu_V of the float vector type `v` = V of so many lanes (2, 4, 8 or 16), by max_V, min_V, abs_V, select_V,
// splat_V and V_mask: to about 2 ulp, with DNN_FAST_MATH to 2e-5.
std::string vector_math(const std::string& v, int64_t lanes);

// The same functions of a float in C99, `f32` being its type: exp_f32, erf_f32, tanh_f32 and silu_f32 by max_f32, min_f32 and abs_f32. They
// give the bits of vectors without AVX-512.
std::string one_by_one_math();

}  // namespace dnn::codegen
