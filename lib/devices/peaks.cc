// Measuring peaks; see peaks.h.
#include "devices/peaks.h"

#include <chrono>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "base/simd.h"
#include "target/isa.h"

namespace dnn {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kFlopTime = std::chrono::milliseconds(20), kByteTime = std::chrono::milliseconds(25);
constexpr int kAccumulators = 12;  // enough chains to hide the latency of a multiply-add
constexpr int64_t kRounds = 2000;  // between looks at the clock
constexpr size_t kBufferBytes = size_t{32} << 20;

// Floating-point operations of one call. This file alone is compiled with -ffp-contract=fast, so operations are fused
// where the target can; each lane tends to 1, so that no value becomes denormal or infinite.
template <class V>
[[gnu::always_inline]] inline double multiply_add(float* sink) {
  V a[kAccumulators], factor = V{} + 0.5f, term = V{} + 0.5f;
#pragma GCC unroll 12  // all three loops, or the accumulators lie in memory
  for (int i = 0; i < kAccumulators; ++i) a[i] = V{} + *sink + static_cast<float>(i);
  for (int64_t round = 0; round < kRounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kAccumulators; ++i) a[i] = a[i] * factor + term;
    asm volatile("" : "+m"(*sink));  // no round is left out
  }
  V sum = V{};
#pragma GCC unroll 12
  for (int i = 0; i < kAccumulators; ++i) sum += a[i];
  *sink = sum[0] * 1e-30f;
  constexpr int64_t kLanes = sizeof(V) / sizeof(float);
  return static_cast<double>(2 * kAccumulators * kRounds * kLanes);
}

using Lanes4 = float __attribute__((vector_size(16)));
using Lanes8 = float __attribute__((vector_size(32)));
using Lanes16 = float __attribute__((vector_size(64)));

double in_16_bytes(float* sink) { return multiply_add<Lanes4>(sink); }
DNN_FOR_AVX2 double in_32_bytes(float* sink) { return multiply_add<Lanes8>(sink); }
DNN_FOR_AVX512 double in_64_bytes(float* sink) { return multiply_add<Lanes16>(sink); }

// Sum over the threads of amount per nanosecond.
double together(int threads, const std::function<double()>& rate) {
  std::vector<double> rates(threads, 0);
  std::vector<std::thread> others;
  for (size_t i = 1; i < rates.size(); ++i) others.emplace_back([&, i] { rates[i] = rate(); });
  rates[0] = rate();
  double sum = 0;
  for (std::thread& thread : others) thread.join();
  for (double r : rates) sum += r;
  return sum;
}

// The best of the spans between two looks at the clock, until `time` is over: others may disturb, nothing helps.
double best_rate(std::chrono::nanoseconds time, const std::function<double()>& work) {
  double best = 0;
  for (const Clock::time_point end = Clock::now() + time; Clock::now() < end;) {
    const Clock::time_point start = Clock::now();
    const double amount = work();
    const double ns = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    if (ns > 0 && amount / ns > best) best = amount / ns;
  }
  return best;
}

}  // namespace

Peaks measure_peaks(const std::string& isa, int threads) {
  Peaks peaks;
  peaks.isa = isa;
  peaks.threads = threads;
  const Isa* row = find_isa(Language::C, isa);
  const auto kernel = version_for(row == nullptr ? 0 : row->vector_bytes, in_16_bytes, in_32_bytes, in_64_bytes);
  peaks.gflops = together(threads, [&] {
    float sink = 0;
    return best_rate(kFlopTime, [&] { return kernel(&sink); });
  });
  peaks.gbytes_per_s = together(threads, [&] {
    std::vector<char> from(kBufferBytes, 1), to(kBufferBytes, 2);
    return best_rate(kByteTime, [&] {
      std::memcpy(to.data(), from.data(), kBufferBytes);
      asm volatile("" : : "r"(to.data()) : "memory");
      return 2.0 * kBufferBytes;
    });
  });
  return peaks;
}

}  // namespace dnn
