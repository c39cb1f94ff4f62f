// What this processor can do, and which one it is, by CPUID. What code is made of that is in lib/target.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace dnn {

enum class CpuFeature {
#define DNN_CPU_FEATURE(enumerator, name, leaf, subleaf, from, bit, state) enumerator,
#include "base/cpu_features.def"
#undef DNN_CPU_FEATURE
};

// Whether this processor has it and its operating system keeps the registers that it takes. A process must ask Linux for the tiles of
// AMX before it uses them.
bool has_feature(CpuFeature feature);
// As /proc/cpuinfo has it: "avx512_vnni".
const char* feature_name(CpuFeature feature);
const std::vector<CpuFeature>& all_features();

// "Intel(R) Xeon(R) ..." as CPUID says it.
std::string cpu_name();

struct CpuModel {
  std::string vendor;  // "AuthenticAMD"
  unsigned family = 0, model = 0;
};
CpuModel cpu_model();

}  // namespace dnn
