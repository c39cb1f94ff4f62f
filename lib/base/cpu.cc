// CPUID, and Linux's auxiliary vector; see cpu.h.
#include "base/cpu.h"

#include <sys/auxv.h>
#if defined(__x86_64__)
#include <cpuid.h>
#else
#include <fstream>
#endif

#include <cstring>

namespace dnn {
namespace {

enum Register { Eax, Ebx, Ecx, Edx };

struct FeatureRow {
  const char* name;
  unsigned long word;  // of the auxiliary vector; 0: CPUID says it
  unsigned leaf, subleaf;
  Register from;
  unsigned bit;
  uint64_t state;
};
constexpr FeatureRow kFeatures[] = {
#define DNN_CPU_FEATURE(enumerator, name, leaf, subleaf, from, bit, state) {name, 0, leaf, subleaf, from, bit, state},
#define DNN_ARM_FEATURE(enumerator, name, word, bit) {name, word, 0, 0, Eax, bit, 0},
#include "base/cpu_features.def"
#undef DNN_CPU_FEATURE
#undef DNN_ARM_FEATURE
};
constexpr size_t kFeatureCount = sizeof kFeatures / sizeof *kFeatures;

#if defined(__x86_64__)
// The registers that the operating system keeps when it switches threads: XCR0, 0 where it does not say.
uint64_t kept_state() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kOsXsave = 1u << 27;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kOsXsave) == 0) return 0;
  unsigned low = 0, high = 0;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

bool detect(const FeatureRow& row) {
  if (row.word != 0) return false;
  unsigned words[4] = {};
  if (__get_cpuid_count(row.leaf, 0, &words[0], &words[1], &words[2], &words[3]) == 0) return false;
  if (row.subleaf > 0) {
    if (words[0] < row.subleaf) return false;  // the last subleaf that there is
    __get_cpuid_count(row.leaf, row.subleaf, &words[0], &words[1], &words[2], &words[3]);
  }
  static const uint64_t kept = kept_state();
  return (words[row.from] >> row.bit & 1) != 0 && (kept & row.state) == row.state;
}
#elif defined(__aarch64__)
bool detect(const FeatureRow& row) { return row.word != 0 && (::getauxval(row.word) >> row.bit & 1) != 0; }
#else
bool detect(const FeatureRow&) { return false; }
#endif

}  // namespace

bool has_feature(CpuFeature feature) {
  static const std::vector<bool> found = [] {
    std::vector<bool> result;
    for (const FeatureRow& row : kFeatures) result.push_back(detect(row));
    return result;
  }();
  return found[static_cast<size_t>(feature)];
}

const char* feature_name(CpuFeature feature) { return kFeatures[static_cast<size_t>(feature)].name; }

const std::vector<CpuFeature>& all_features() {
  static const std::vector<CpuFeature> all = [] {
    std::vector<CpuFeature> result;
    for (size_t i = 0; i < kFeatureCount; ++i) result.push_back(static_cast<CpuFeature>(i));
    return result;
  }();
  return all;
}

#if defined(__x86_64__)
std::string cpu_name() {
  unsigned words[12] = {};
  unsigned highest = 0, b = 0, c = 0, d = 0;
  __get_cpuid(0x80000000u, &highest, &b, &c, &d);
  if (highest < 0x80000004u) return "unknown";
  for (unsigned leaf = 0; leaf < 3; ++leaf) {
    __get_cpuid(0x80000002u + leaf, &words[leaf * 4], &words[leaf * 4 + 1], &words[leaf * 4 + 2], &words[leaf * 4 + 3]);
  }
  char name[sizeof words + 1] = {};
  std::memcpy(name, words, sizeof words);
  std::string text(name);
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

CpuModel cpu_model() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0, &a, &b, &c, &d) == 0) return {};
  CpuModel result;
  for (const unsigned word : {b, d, c}) result.vendor.append(reinterpret_cast<const char*>(&word), sizeof word);
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return {};
  result.family = (a >> 8 & 0xf) + (a >> 20 & 0xff);
  result.model = (a >> 4 & 0xf) + (a >> 12 & 0xf0);
  return result;
}
#else
std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string implementer, part;
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    if (implementer.empty() && line.rfind("CPU implementer", 0) == 0) implementer = line.substr(colon + 2);
    if (part.empty() && line.rfind("CPU part", 0) == 0) part = line.substr(colon + 2);
  }
  return implementer.empty() ? "unknown" : "aarch64, implementer " + implementer + ", part " + part;
}

CpuModel cpu_model() { return {}; }
#endif

}  // namespace dnn
