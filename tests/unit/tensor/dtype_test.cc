// Storage floats round as the hardware does, and every code of the small formats survives decode and encode.
#include "tensor/dtype.h"

#include <gtest/gtest.h>
#include <immintrin.h>

#include <cmath>
#include <random>

#include "tensor/tensor.h"

namespace dnn {
namespace {

TEST(Half, EveryCodeSurvivesARoundTrip) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    Half half;
    half.bits = static_cast<uint16_t>(code);
    const float value = static_cast<float>(half);
    if (std::isnan(value)) continue;
    EXPECT_EQ(Half(value).bits, code);
  }
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(Half(1.0f + 0x1p-11f).bits, Half(1.0f).bits);                // tie, down to even
  EXPECT_EQ(Half(1.0f + 3 * 0x1p-11f).bits, Half(1.0f + 0x1p-9f).bits);  // tie, up to even
  EXPECT_EQ(Half(65519.996f).bits, 0x7bff);
  EXPECT_EQ(Half(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Half(0x1p-25f).bits, 0);
  EXPECT_EQ(Half(0x1.8p-25f).bits, 1);
}

TEST(SmallFloat, EveryCodeSurvivesARoundTrip) {
  for (DType dtype : {DType::Float8E4M3FN, DType::Float8E4M3FNUZ, DType::Float8E5M2, DType::Float8E5M2FNUZ,
                      DType::Float4E2M1, DType::Float6E2M3, DType::Float6E3M2, DType::Float8E8M0}) {
    for (int code = 0; code < 1 << dtype_bits(dtype); ++code) {
      const float value = small_float_decode(dtype, static_cast<uint8_t>(code));
      if (std::isnan(value)) continue;
      if (dtype == DType::Float8E8M0 && code == 0) continue;  // 2^-127 is subnormal in float32
      EXPECT_EQ(small_float_encode(dtype, value, false), code) << dtype_name(dtype) << " code " << code;
    }
  }
}

TEST(Convert, DoubleToHalfRoundsOnce) {
  const double just_above_tie = 1.0 + 0x1p-11 + 0x1p-40;  // float32 would first round it down onto the tie
  const Tensor half = convert(Tensor::of<double>({1}, {just_above_tie}), DType::Float16);
  EXPECT_EQ(half.data<Half>()[0].bits, Half(1.0f).bits + 1);
}

TEST(Tensor, CopiesShareUntilOneWrites) {
  Tensor a = Tensor::of<float>({2}, {1, 2});
  Tensor b = a;
  EXPECT_EQ(a.bytes().data(), b.bytes().data());
  b.mutable_data<float>()[0] = 5;
  EXPECT_EQ(a.data<float>()[0], 1);
  EXPECT_EQ(b.data<float>()[0], 5);
}

}  // namespace
}  // namespace dnn
