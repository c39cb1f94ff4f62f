// Dot products of bytes below one another, in each version that code for this processor may hold.
#include "codegen/integer_vectors.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "base/text.h"
#include "cache.h"
#include "codegen/print.h"
#include "compile/build_c.h"
#include "devices/code.h"
#include "devices/cpu_kernels.h"
#include "target/architecture.h"

namespace dnn::codegen {
namespace {

// The versions' prefixes, and what the processor must have to run each.
struct Version {
  std::string prefix, target;
};
const std::vector<Version>& versions() {
  static const std::vector<Version> all = {{"dot4", ""}, {"dot4v", "avx512vnni"}, {"dot4b", "avx512vnni,avx512vbmi"}};
  return all;
}
constexpr int kLanes = 16, kRows = 4, kStride = 40;

// `ran` and, for one version, the sums of 1 to 4 rows: args are {ran, sums, bytes, weights}.
std::string probe(const Version& v) {
  std::string calls, asks = "1";
  for (int n = 1; n <= kRows; ++n)
    calls += cat("  { const i32x16 s = ", v.prefix, "_rows_u8_i32x16(splat_i32x16(7), x, ", kStride, ", ", n,
                 ", w); __builtin_memcpy(y + ", (n - 1) * kLanes, ", &s, sizeof s); }\n");
  for (const std::string& feature : split(v.target, ',')) {
    if (!feature.empty()) asks += cat(" && __builtin_cpu_supports(\"", feature, "\")");
  }
  const std::string attribute = v.target.empty() ? "" : cat("__attribute__((target(\"", v.target, "\"))) ");
  return cat(attribute, "static void ", v.prefix, "_all(int32_t* y, const uint8_t* x, const int8_t* w) {\n", calls,
             "}\n", "void probe_", v.prefix,
             "(void* const* args, int64_t begin, int64_t end) {\n  *(int32_t*)args[0] = ", asks,
             ";\n  if (*(int32_t*)args[0]) ", v.prefix,
             "_all((int32_t*)args[1], (const uint8_t*)args[2], (const int8_t*)args[3]);\n}\n");
}

std::array<int32_t, kRows * kLanes> by_hand(const std::vector<uint8_t>& x, const std::vector<int8_t>& w) {
  std::array<int32_t, kRows * kLanes> sums{};
  for (int n = 1; n <= kRows; ++n) {
    for (int lane = 0; lane < kLanes; ++lane) {
      int32_t& sum = sums[(n - 1) * kLanes + lane] = 7;
      for (int k = 0; k < n; ++k) sum += x[k * kStride + lane] * w[4 * lane + k];
    }
  }
  return sums;
}

TEST(IntegerVectors, RowsHaveTheSameSumsInEveryVersion) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "for x86-64";
#else
  if (!__builtin_cpu_supports("avx512bw")) GTEST_SKIP() << "this processor has no AVX-512";
  std::string text;
  for (const Version& v : versions()) text += probe(v);
  Variant variant;
  variant.target = {"c", "avx512", {}, ""};
  variant.code.source = std::string(kUnitDivider) + c_vocabulary().prelude(text) + "\n" + text;
  BuildOptions options;
  options.cache_folder = test_cache();
  build_code(variant, options);
  const LoadedCode code(variant.code.binary);
  code.start();
  std::mt19937 engine(1);
  for (int turn = 0; turn < 200; ++turn) {
    std::vector<uint8_t> x(kRows * kStride);
    std::vector<int8_t> w(4 * kLanes);
    for (uint8_t& byte : x) byte = turn == 0 ? 255 : static_cast<uint8_t>(engine());
    for (int8_t& byte : w) byte = turn == 0 ? -128 : static_cast<int8_t>(engine());
    for (const Version& v : versions()) {
      for (int n = 1; n <= kRows; ++n) {  // weights of rows that are not there are zeros, as they are packed
        std::vector<int8_t> zeroed = w;
        for (int lane = 0; lane < kLanes; ++lane) std::fill_n(zeroed.begin() + 4 * lane + n, 4 - n, int8_t{0});
        int32_t ran = 0;
        std::array<int32_t, kRows * kLanes> y{};
        void* const args[] = {&ran, y.data(), x.data(), zeroed.data()};
        reinterpret_cast<CpuKernels::Function>(code.function("probe_" + v.prefix))(args, 0, 1);
        if (ran == 0) continue;
        const auto expected = by_hand(x, w);
        for (int lane = 0; lane < kLanes; ++lane) {
          const int at = (n - 1) * kLanes + lane;
          ASSERT_EQ(y[at], expected[at]) << v.prefix << ", " << n << " rows, lane " << lane;
        }
      }
    }
  }
#endif
}

}  // namespace
}  // namespace dnn::codegen
