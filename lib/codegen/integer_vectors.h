// Vectors of int32 as C text: how they read and write bytes, round, and add dot products of four bytes.
#pragma once
#include <string>
#include <string_view>

#include "loops/ir.h"
#include "target/architecture.h"

namespace dnn::codegen {

// Types and helpers for vectors of so many lanes, which those of float32 come before.
// `kernels`: the text that uses them.
std::string integer_vectors(int64_t lanes, Arch architecture, std::string_view kernels);

// A kernel's text, made twice where it has dot products: the second for processors with instructions for them (the rows of
// isas.def's extensions), and a function that chooses.
// `linkage` stands in front of the kernel's own function: "" in packages, whose loader looks for it.
std::string with_dot_products(const loops::Kernel& kernel, const std::string& text, const std::string& linkage);

}  // namespace dnn::codegen
