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
// Kinds of processors that the compiler tells apart by their speeds, beyond their instruction set: "generic", and AMD's "zen4" (a
// vector of 512 bits in two halves) and "zen5" (with units of 512 bits).
const std::vector<std::string>& known_processors();
// This processor's kind; "generic" where it is none of the others.
std::string processor_kind();

}  // namespace dnn
