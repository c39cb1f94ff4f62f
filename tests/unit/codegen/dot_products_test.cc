// Dot products of bfloat16: what the processor's instruction computes, and that loops over pairs say the same.
#include "codegen/dot_products.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>

#include "base/cpu.h"
#include "loop_case.h"
#include "loops/steps.h"

namespace dnn::codegen {
namespace {

using namespace loops;

float float_of(uint32_t bits) {
  float x = 0;
  std::memcpy(&x, &bits, 4);
  return x;
}

float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x; }

float float_of_half(uint16_t bits) { return flushed(float_of(static_cast<uint32_t>(bits) << 16)); }

bool same_bits(float a, float b) { return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0; }

// As the manual has it: the odd elements first, each product added by one rounding, denormal numbers as 0.
float dot_by_hand(float sum, const uint16_t* x, const uint16_t* w) {
  const float odd = flushed(std::fmaf(float_of_half(x[1]), float_of_half(w[1]), flushed(sum)));
  return flushed(std::fmaf(float_of_half(x[0]), float_of_half(w[0]), odd));
}

#if defined(__x86_64__)
float dot_by_processor(float sum, const uint16_t* x, const uint16_t* w) {
  float result = 0;
  asm("vmovss %1, %%xmm0\n vmovd %2, %%xmm1\n vmovd %3, %%xmm2\n vdpbf16ps %%xmm2, %%xmm1, %%xmm0\n vmovss %%xmm0, %0"
      : "=m"(result)
      : "m"(sum), "m"(*reinterpret_cast<const uint32_t*>(x)), "m"(*reinterpret_cast<const uint32_t*>(w))
      : "xmm0", "xmm1", "xmm2");
  return result;
}

// Numbers of any bits, of like sizes, and of sizes whose products lie next to the smallest normal number.
TEST(DotProducts, TheInstructionIsTwoMultiplyAddsTheOddOneFirst) {
  if (!has_feature(CpuFeature::Avx512Bf16) || !has_feature(CpuFeature::Avx512Vl))
    GTEST_SKIP() << "this processor has no AVX512-BF16";
  std::mt19937 engine(1);
  const auto sized = [&](uint32_t bits, uint32_t shift, uint32_t least, uint32_t many) {
    return (bits & ~(0xffU << shift)) | ((least + engine() % many) << shift);
  };
  for (int i = 0; i < 3000000; ++i) {
    alignas(4) uint16_t x[2], w[2];
    const int kind = i % 3;
    for (uint16_t* bits : {x, x + 1, w, w + 1}) {
      *bits = static_cast<uint16_t>(engine());
      if (kind > 0) *bits = static_cast<uint16_t>(sized(*bits, 7, kind == 1 ? 120 : 60, kind == 1 ? 12 : 8));
    }
    uint32_t sum = static_cast<uint32_t>(engine());
    if (kind > 0) sum = sized(sum, 23, kind == 1 ? 118 : 0, 16);
    const float expected = dot_by_hand(float_of(sum), x, w), y = dot_by_processor(float_of(sum), x, w);
    ASSERT_TRUE(same_bits(expected, y)) << std::hexfloat << float_of(sum) << " and " << float_of_half(x[0]) << " * "
                                        << float_of_half(w[0]) << ", " << float_of_half(x[1]) << " * "
                                        << float_of_half(w[1]) << ": " << y << " and not " << expected;
  }
}
#endif

// y[j] = sum over k of x[k] * w[k][j]
struct SumOfProducts {
  BufferRef x, w, y;
  Stmt body;
};
SumOfProducts sum_of(int64_t depth, int64_t stride) {
  SumOfProducts p{global("x", {depth * stride}), global("w", {depth, 3}), global("y", {3}), nullptr};
  const Expr j = variable("j"), k = variable("k");
  const BufferRef sum = local_buffer("sum", DType::Float32);
  p.body = loop("j", 3,
                block({alloc(sum), store(sum, {}, constant(DType::Float32, 0)),
                       loop("k", depth, store(sum, {}, load(sum, {}) + load(p.x, {k * stride}) * load(p.w, {k, j}))),
                       store(p.y, {j}, load(sum, {}))}));
  return p;
}

TEST(DotProducts, LoopsOverPairsComputeWhatTheInstructionDoes) {
  const SumOfProducts p = sum_of(6, 1);
  const Kernel kernel{"k", "", "matmul", {p.y, p.x, p.w}, contract_fma(in_pairs(p.body, "k"))};
  std::mt19937 engine(2);
  std::vector<uint16_t> x(6), w(18);
  std::vector<float> wide_x, wide_w;
  for (uint16_t& bits : x) {
    bits = static_cast<uint16_t>((engine() & 0x807f) | ((120 + engine() % 8) << 7));
    wide_x.push_back(float_of_half(bits));
  }
  for (uint16_t& bits : w) {
    bits = static_cast<uint16_t>((engine() & 0x807f) | ((120 + engine() % 8) << 7));
    wide_w.push_back(float_of_half(bits));
  }
  std::vector<Tensor> arguments = {Tensor(DType::Float32, {3}), Tensor::of<float>({6}, wide_x),
                                   Tensor::of<float>({18}, wide_w)};
  evaluate(kernel, arguments);
  for (size_t j = 0; j < 3; ++j) {
    float sum = 0;
    for (size_t k = 0; k < 6; k += 2) {
      const uint16_t pair[2] = {w[k * 3 + j], w[(k + 1) * 3 + j]};
      sum = dot_by_hand(sum, &x[k], pair);
    }
    EXPECT_TRUE(same_bits(arguments[0].data<float>()[j], sum)) << j;
  }
}

TEST(DotProducts, PairsLieSideBySideInNarrowMemory) {
  const auto any = [](const Buffer&) { return true; };
  const SumOfProducts p = sum_of(6, 1);
  EXPECT_EQ(factor_of_pairs(p.body, "j", "k", {"x"}, any), p.w.get());
  EXPECT_EQ(factor_of_pairs(p.body, "j", "k", {}, any), nullptr) << "x has 32 bits";
  EXPECT_EQ(factor_of_pairs(p.body, "j", "k", {"x"}, [](const Buffer&) { return false; }), nullptr);
  EXPECT_EQ(factor_of_pairs(sum_of(5, 1).body, "j", "k", {"x"}, any), nullptr) << "an odd depth";
  EXPECT_EQ(factor_of_pairs(sum_of(6, 2).body, "j", "k", {"x"}, any), nullptr) << "every other element";
  EXPECT_EQ(factor_of_pairs(p.body, "j", "c", {"x"}, any), nullptr) << "no such loop";
}

}  // namespace
}  // namespace dnn::codegen
