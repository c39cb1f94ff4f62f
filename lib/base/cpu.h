// What this processor can do, by CPUID: instruction sets that kernels are built for, and their names.
#pragma once
#include <string>
#include <vector>

namespace dnn {

// Instruction sets that kernels come in, best last: "x86-64", "avx2" (with FMA), "avx512" (F, BW, DQ, VL).
const std::vector<std::string>& known_isas();
// Those that this processor and its operating system support, best last.
std::vector<std::string> supported_isas();
// "Intel(R) Xeon(R) ..." as CPUID says it.
std::string cpu_name();

}  // namespace dnn
