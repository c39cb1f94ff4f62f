// What this processor can do, and which one it is, by CPUID or as Linux says it. What code is made of that is in lib/target.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace dnn {

enum class CpuFeature {
#define DNN_CPU_FEATURE(enumerator, name, leaf, subleaf, from, bit, state) enumerator,
#define DNN_ARM_FEATURE(enumerator, name, word, bit) enumerator,
#include "base/cpu_features.def"
#undef DNN_CPU_FEATURE
#undef DNN_ARM_FEATURE
};

// Whether this processor has it, which those of another architecture have not, and its operating system keeps the registers that it takes. A process must ask Linux for the tiles of
// AMX before it uses them.
bool has_feature(CpuFeature feature);
// As /proc/cpuinfo has it: "avx512_vnni".
const char* feature_name(CpuFeature feature);
const std::vector<CpuFeature>& all_features();

// "Intel(R) Xeon(R) ..." as CPUID says it; of aarch64 "aarch64, implementer 0x41, part 0xd0b".
std::string cpu_name();

struct CpuModel {
  std::string vendor;  // "AuthenticAMD"; nothing is known of an aarch64
  unsigned family = 0, model = 0;
};
CpuModel cpu_model();

}  // namespace dnn
