// Arithmetic of loop expressions on single values.
#include "loops/scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "refused.h"

namespace dnn::loops {
namespace {

TEST(Scalar, WholeBytesAndWideFloatsHaveArithmetic) {
  std::set<std::string> with;
  for (int code = 0; code < 64; ++code) {
    if (has_arithmetic(static_cast<DType>(code))) with.insert(std::string(dtype_name(static_cast<DType>(code))));
  }
  EXPECT_EQ(with, (std::set<std::string>{"bool", "float32", "float64", "int16", "int32", "int64", "int8", "uint16",
                                         "uint32", "uint64", "uint8"}));
}

TEST(Scalar, IntegersWrapToTheirWidth) {
  EXPECT_EQ(wrap(DType::Int8, 200), -56);
  EXPECT_EQ(wrap(DType::UInt8, -1), 255);
  EXPECT_EQ(binary_value(Op::Add, DType::Int16, {.i = 32767}, {.i = 1}).i, -32768);
  EXPECT_EQ(fma_value(DType::UInt8, {.i = 16}, {.i = 16}, {.i = 3}).i, 3);
}

TEST(Scalar, FloorAndTruncateDiffer) {
  EXPECT_EQ(binary_value(Op::FloorDiv, DType::Int32, {.i = -7}, {.i = 2}).i, -4);
  EXPECT_EQ(binary_value(Op::Div, DType::Int32, {.i = -7}, {.i = 2}).i, -3);
  EXPECT_EQ(cast_value(DType::Float32, DType::Int32, {.f32 = -7.5F}).i, -7);
}

TEST(Scalar, Float32RoundsOnce) {
  const float third = 1.0F / 3;
  EXPECT_EQ(fma_value(DType::Float32, {.f32 = third}, {.f32 = 3}, {.f32 = -1}).f32, std::fma(third, 3.0F, -1.0F));
  EXPECT_NE(fma_value(DType::Float32, {.f32 = third}, {.f32 = 3}, {.f32 = -1}).f32, third * 3 - 1);
}

TEST(Scalar, RefusesWhatHasNoResult) {
  EXPECT_EQ(refused([] { binary_value(Op::Div, DType::Int32, {.i = 1}, {.i = 0}); }),
            "70 loop IR: integer division by zero");
  EXPECT_EQ(refused([] { cast_value(DType::String, DType::Int32, {.i = 0}); }),
            "70 loop IR: no cast from string to int32");
}

}  // namespace
}  // namespace dnn::loops
