// CPUID; see cpu.h.
#include "base/cpu.h"

#include <cpuid.h>

#include <cstring>

namespace dnn {

const std::vector<std::string>& known_isas() {
  static const std::vector<std::string> names = {"x86-64", "avx2", "avx512"};
  return names;
}

std::vector<std::string> supported_isas() {
  std::vector<std::string> names = {"x86-64"};
  __builtin_cpu_init();  // these checks include the operating system's XCR0
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  const bool avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  if (avx2) names.emplace_back("avx2");
  if (avx2 && avx512) names.emplace_back("avx512");
  return names;
}

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

}  // namespace dnn
