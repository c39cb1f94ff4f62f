// Vectors of int32 as C text for aarch64: the helpers of integer_vectors.h by NEON's instructions.
#pragma once
#include <string>
#include <string_view>

namespace dnn::codegen {

// Helpers of 4 lanes, which their types come before; dot products as far as `kernels` use them. Which instructions are used for dot products is up to the compiler's options: text for an instruction set
// with more of them is another variant of a package.
std::string integer_neon(std::string_view kernels);

}  // namespace dnn::codegen
