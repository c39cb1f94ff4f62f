// Bytes that saturate: which stores are clamped as integers, and that each version of the instruction gives what a clamp gives.
#include "codegen/saturated_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "cache.h"
#include "codegen/kernel_set.h"
#include "codegen/print.h"
#include "compile/build_c.h"
#include "devices/code.h"
#include "devices/cpu_kernels.h"
#include "target/isa.h"

namespace dnn::codegen {
namespace {

using namespace loops;

constexpr double kUnknownMagnitude = std::numeric_limits<double>::infinity();

BufferRef memory_of_16(const char* name, DType dtype) {
  return std::make_shared<Buffer>(Buffer{name, dtype, {16}, {}});
}

// byte(int32(round(min(max(x, low), high))) + zero_point)
Expr clamped_byte(DType dtype, const Expr& x, double low, double high, int64_t zero_point) {
  const Expr kept = loops::min(loops::max(x, constant(DType::Float32, low)), constant(DType::Float32, high));
  return cast(dtype, cast(DType::Int32, unary(Op::RoundEven, kept)) + constant_int(DType::Int32, zero_point));
}

std::string saturated_text(DType dtype, const Expr& x, double low, double high, int64_t zero_point,
                           double scales = 0.4) {
  const Stmt s = store(memory_of_16("y", dtype), {Expr(0)}, clamped_byte(dtype, x, low, high, zero_point));
  return to_text(saturate_bytes(s, [&](const Buffer& b) { return b.name == "scales" ? scales : kUnknownMagnitude; }));
}

bool saturates(DType dtype, const Expr& x, double low, double high, int64_t zero_point, double scales = 0.4) {
  const std::string text = saturated_text(dtype, x, low, high, zero_point, scales);
  return text.find("uint8(min(max(int32(round_even(") != std::string::npos ||
         text.find("int8(min(max(int32(round_even(") != std::string::npos;
}

const Expr kSum = cast(DType::Float32, load(memory_of_16("sum", DType::Int32), {Expr(0)}));
const Expr kScaled = kSum * load(memory_of_16("scales", DType::Float32), {Expr(0)});

TEST(SaturatedBytes, ClampsOfTheWholeRangeAreTakenAsIntegers) {
  EXPECT_TRUE(saturates(DType::UInt8, kScaled, -7, 248, 7));
  EXPECT_TRUE(saturates(DType::UInt8, kScaled, 0, 255, 0));
  EXPECT_TRUE(saturates(DType::Int8, kScaled, -128, 127, 0));
  EXPECT_TRUE(saturates(DType::Int8, kScaled, -131, 124, 3));
  EXPECT_FALSE(saturates(DType::UInt8, kScaled, 0, 248, 7));     // a Relu's
  EXPECT_FALSE(saturates(DType::UInt8, kScaled, -7, 200, 7));    // a Clip's
  EXPECT_FALSE(saturates(DType::UInt8, kScaled, -128, 127, 0));  // another type's
}

TEST(SaturatedBytes, OnlyWhereInt32HoldsTheNumber) {
  const Expr number = load(memory_of_16("numbers", DType::Float32), {Expr(0)});
  EXPECT_FALSE(saturates(DType::UInt8, number, 0, 255, 0));
  EXPECT_FALSE(saturates(DType::UInt8, kScaled, 0, 255, 0, 0.51));
  EXPECT_FALSE(saturates(DType::UInt8, kScaled, 0, 255, 0, kUnknownMagnitude));
  EXPECT_FALSE(saturates(DType::UInt8, kSum, 0, 255, 0));
  // A quotient by what is at least 1, and by a constant.
  const Expr swish = kScaled / unary(Op::StatedDivisor, kScaled);
  EXPECT_TRUE(saturates(DType::UInt8, swish / constant(DType::Float32, 0.02), -7, 248, 7, 0.009));
  EXPECT_FALSE(saturates(DType::UInt8, swish / constant(DType::Float32, 0.02), -7, 248, 7, 0.011));
  EXPECT_FALSE(saturates(DType::UInt8, kScaled / number, 0, 255, 0));
  EXPECT_FALSE(saturates(DType::UInt8, unary(Op::Exp, kScaled), 0, 255, 0));
}

// A NaN is within no bounds: infinity times 0, its difference to itself, 0 by 0.
TEST(SaturatedBytes, WhatMayBeNoNumberIsNotBounded) {
  const auto real = [](double value) { return constant(DType::Float32, value); };
  const Expr number = load(memory_of_16("numbers", DType::Float32), {Expr(0)});
  EXPECT_FALSE(saturates(DType::UInt8, number * real(0), 0, 255, 0));
  EXPECT_FALSE(saturates(DType::UInt8, (kScaled + number) * real(0), 0, 255, 0));
  EXPECT_FALSE(saturates(DType::UInt8, real(0) / number, 0, 255, 0));
  EXPECT_FALSE(saturates(DType::UInt8, kScaled * real(0) / number, 0, 255, 0));
  EXPECT_FALSE(saturates(DType::UInt8, real(0) / real(0), 0, 255, 0));
  EXPECT_FALSE(
      saturates(DType::UInt8, kSum * real(1e-45) / real(1e-40), 0, 255, 0));  // of numbers that are flushed to 0
  EXPECT_FALSE(saturates(DType::UInt8, number * real(0) - kScaled, 0, 255, 0));
  EXPECT_FALSE(saturates(DType::UInt8, kScaled * real(std::nan("")), 0, 255, 0));
  // Beyond float32 on the way to a small number, and beyond float16.
  EXPECT_FALSE(saturates(DType::UInt8, kScaled * real(3e38) * real(0), 0, 255, 0));
  EXPECT_FALSE(saturates(DType::UInt8, kScaled * real(3e38) * real(1e-38) * real(1e-8), 0, 255, 0));
  const Expr half = cast(DType::Float32, cast(DType::Float16, kScaled));
  EXPECT_FALSE(saturates(DType::UInt8, half * real(0), 0, 255, 0));
  EXPECT_TRUE(saturates(DType::UInt8, kScaled * real(0), 0, 255, 0));
  EXPECT_TRUE(saturates(DType::UInt8, kScaled * real(1e-9) * real(1e8), 0, 255, 0));
}

// A negative integer without its sign is a large one. Zero points and bounds that are no bytes are left alone.
TEST(SaturatedBytes, IntegersKeepWithinTheirTypes) {
  const Expr byte = load(memory_of_16("bytes", DType::Int8), {Expr(0)});
  const auto real = [](const Expr& e) { return cast(DType::Float32, e); };
  EXPECT_TRUE(saturates(DType::UInt8, real(cast(DType::Int32, byte)), 0, 255, 0));
  EXPECT_FALSE(saturates(DType::UInt8, real(cast(DType::UInt32, byte)), 0, 255, 0));
  EXPECT_FALSE(
      saturates(DType::UInt8, real(cast(DType::Int64, load(memory_of_16("n", DType::Int64), {Expr(0)}))), 0, 255, 0));
  EXPECT_FALSE(saturates(DType::UInt8, kScaled, -1000, -745, 1000));
  EXPECT_FALSE(saturates(DType::UInt8, kScaled, -kUnknownMagnitude, kUnknownMagnitude, 0));
}

// A local may be any number once it is added to in a loop.
TEST(SaturatedBytes, LocalsAreKnownByTheirOnlyStore) {
  const BufferRef once = local_buffer("once", DType::Float32), more = local_buffer("more", DType::Float32),
                  y = memory_of_16("y", DType::UInt8);
  const auto text = [&](std::vector<Stmt> statements, const BufferRef& read) {
    statements.push_back(store(y, {Expr(0)}, clamped_byte(DType::UInt8, load(read, {}), 0, 255, 0)));
    return to_text(saturate_bytes(block(statements),
                                  [](const Buffer& b) { return b.name == "scales" ? 0.4 : kUnknownMagnitude; }));
  };
  const std::string taken = "uint8(min(max(int32(";
  EXPECT_NE(text({store(once, {}, kScaled)}, once).find(taken), std::string::npos);
  const Stmt grows = loop("k", 1000, store(more, {}, load(more, {}) + kScaled));
  EXPECT_EQ(text({store(more, {}, constant(DType::Float32, 0)), grows}, more).find(taken), std::string::npos);
  EXPECT_EQ(text({}, once).find(taken), std::string::npos);
  const Stmt reads_before =
      loop("k", 9, block({store(once, {}, load(more, {})), store(more, {}, load(more, {}) + kScaled)}));
  EXPECT_EQ(text({store(more, {}, constant(DType::Float32, 0)), reads_before}, once).find(taken), std::string::npos);
  // A local that is read before it is stored is known of no turn.
  EXPECT_EQ(text({loop("k", 9, block({store(once, {}, load(more, {})), store(more, {}, kScaled)}))}, once).find(taken),
            std::string::npos);
}

TEST(SaturatedBytes, AreFoundInAStore) {
  const Expr clamp = clamped_byte(DType::UInt8, kScaled, -7, 248, 7);
  EXPECT_FALSE(saturated(clamp));
  const Stmt s =
      saturate_bytes(store(memory_of_16("y", DType::UInt8), {Expr(0)}, clamp), [](const Buffer&) { return 0.4; });
  ASSERT_TRUE(saturated(s->value));
  EXPECT_EQ(to_text(*saturated(s->value)),
            to_text(cast(DType::Int32, unary(Op::RoundEven, kScaled)) + constant_int(DType::Int32, 7)));
}

// A number that is rounded on the way to the byte has no end beyond which its quotient does not matter.
TEST(SaturatedBytes, OnlyTheLastQuotientSaturates) {
  const BufferRef y = memory_of_16("y", DType::UInt8), sums = memory_of_16("sum", DType::Int32);
  const auto real = [](double value) { return constant(DType::Float32, value); };
  const Expr sum = cast(DType::Float32, load(sums, {variable("l")}));
  const Expr steps = cast(DType::Float32, cast(DType::Int32, unary(Op::RoundEven, sum / real(7))));
  const Stmt byte = store(y, {variable("l")}, clamped_byte(DType::UInt8, steps / real(900), -7, 248, 7));
  Kernel kernel;
  kernel.name = "k";
  kernel.arguments = {y, sums};
  kernel.body = saturate_bytes(loop("l", 16, byte, LoopKind::Vector), [](const Buffer&) { return kUnknownMagnitude; });
  const std::string text = print_kernel(kernel, c_vocabulary());
  const size_t first = text.find("saturate_u8_i32x16(");
  ASSERT_NE(first, std::string::npos) << text;
  const size_t quotient = text.find("round_quotient_wide_i32x16(", first);
  ASSERT_NE(quotient, std::string::npos) << text;
  EXPECT_EQ(text.find("round_quotient_wide_i32x16(", quotient + 1), std::string::npos) << text;
}

// Integers of up to 2^30 and a zero point, at and beyond the ends of a byte, through each instruction set's vectors.
TEST(SaturatedBytes, EachVersionClamps) {
  const std::vector<int32_t> numbers = {-1073742079, -1000000, -40000, -32769,  -32768,     -1000,      -256,  -129,
                                        -128,        -127,     -1,     0,       1,          126,        127,   128,
                                        129,         254,      255,    256,     257,        1000,       32767, 32768,
                                        40000,       65535,    65536,  1000000, 1073742079, 1073741824, 5,     -5};
  int versions = 0;
  for (const Isa* isa : isas_of(Language::C, false)) {
    const auto lanes = static_cast<int>(isa->lanes(DType::Int32));
    if (!isa->runs_here() || lanes < 4) continue;
    std::string text;
    for (const char* type : {"u8", "i8"})
      text += cat("void saturate_", type, "(void* const* args, int64_t begin, int64_t end) {\n  for (int i = 0; i < ",
                  numbers.size(), "; i += ", lanes, ") saturate_", type, "_i32x", lanes, "((",
                  type[0] == 'u' ? "uint8_t" : "int8_t", "*)args[0] + i, *(const i32x", lanes,
                  "_in_memory*)((const int32_t*)args[1] + i));\n}\n");
    Variant variant;
    variant.target = {"c", isa->name, {}, ""};
    variant.code.source = std::string(kUnitDivider) + vocabulary_of(*isa).prelude(text) + "\n" + text;
    BuildOptions options;
    options.cache_folder = test_cache();
    build_code(variant, options);
    const LoadedCode code(variant.code.binary);
    code.start();
    for (const DType dtype : {DType::UInt8, DType::Int8}) {
      std::vector<uint8_t> y(numbers.size());
      std::vector<int32_t> x = numbers;
      void* const args[] = {y.data(), x.data()};
      const char* name = dtype == DType::UInt8 ? "saturate_u8" : "saturate_i8";
      reinterpret_cast<CpuKernels::Function>(code.function(name))(args, 0, 1);
      for (size_t i = 0; i < x.size(); ++i) {
        const int32_t low = dtype == DType::UInt8 ? 0 : -128, high = dtype == DType::UInt8 ? 255 : 127;
        ASSERT_EQ(y[i], static_cast<uint8_t>(std::clamp(x[i], low, high))) << isa->name << " " << name << " " << x[i];
      }
    }
    ++versions;
  }
  EXPECT_GE(versions, 1);
}

}  // namespace
}  // namespace dnn::codegen
