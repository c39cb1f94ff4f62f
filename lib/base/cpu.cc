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

const std::vector<std::string>& known_processors() {
  static const std::vector<std::string> names = {"generic", "zen4", "zen5"};
  return names;
}

std::string processor_kind() {
  unsigned a = 0, vendor_b = 0, vendor_c = 0, vendor_d = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0, &a, &vendor_b, &vendor_c, &vendor_d) == 0 || vendor_b != signature_AMD_ebx) return "generic";
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return "generic";
  const unsigned family = (a >> 8 & 0xf) + (a >> 20 & 0xff), model = (a >> 4 & 0xf) + (a >> 12 & 0xf0);
  // Of Zen 5 those for servers and desktops; most laptops' take a vector of 512 bits in two halves, as those of Zen 4, which
  // share a family with Zen 3's.
  constexpr unsigned kZen5 = 0x1a, kServers = 0x20, kDesktop = 0x44;
  if (family == kZen5) return model < kServers || model == kDesktop ? "zen5" : "generic";
  constexpr unsigned kZen4 = 0x19;
  const bool server = model >= 0x10 && model < 0x20, client = model >= 0x60 && model < 0x80, dense = model >= 0xa0;
  return family == kZen4 && (server || client || dense) ? "zen4" : "generic";
}

}  // namespace dnn
