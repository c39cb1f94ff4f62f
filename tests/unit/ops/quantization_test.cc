// Quantised operators: rounding, saturation, where scales lie, and what is refused.
#include "ops/quantization.h"

#include <cmath>

#include "unit/ops/lowering_check.h"

namespace dnn {
namespace {

using Ints = std::vector<int64_t>;

ErrorKind refused_kind(const Node& node, const std::vector<const Tensor*>& inputs) {
  try {
    run_reference(node, inputs);
  } catch (const Error& e) {
    return e.kind();
  }
  ADD_FAILURE() << node.op << " accepts it";
  return ErrorKind::Internal;
}

TEST(Quantization, RoundsToEvenThenAddsThenSaturates) {
  EXPECT_EQ(saturate(0.5, 1, DType::UInt8), 1);
  EXPECT_EQ(saturate(1.5, 1, DType::UInt8), 3);
  EXPECT_EQ(saturate(1e30, 0, DType::Int16), 32767);
  EXPECT_EQ(saturate(-INFINITY, 0, DType::Int4), -8);
  EXPECT_EQ(saturate(200, 100, DType::UInt2), 3);
  EXPECT_EQ(saturate(NAN, 0, DType::UInt8), 0);
}

// Loops hold zero points and bounds as numbers of 32 bits at most, and bytes saturate by bounds of them.
TEST(Quantization, ZeroPointsAndBoundsAreNumbersOfTheirType) {
  const Tensor a = Tensor::of<uint8_t>({2, 2}, {1, 2, 3, 4}), b = Tensor::of<int8_t>({2, 2}, {1, 2, 3, 4}),
               real = Tensor::of<float>({2}, {1, 2}), bias = Tensor::of<int32_t>({2}, {0, 0});
  const auto of = [](const char* op, const std::vector<const Tensor*>& inputs, Attributes attributes) {
    Node node = test_node(op, inputs, std::move(attributes));
    node.domain = kInternalDomain;
    return node;
  };
  const auto byte = static_cast<int64_t>(DType::UInt8);
  const auto expect_refused = [&](const char* op, const std::vector<const Tensor*>& inputs,
                                  const Attributes& attributes, const std::vector<const char*>& names) {
    run_reference(of(op, inputs, attributes), inputs);
    for (const char* name : names) {
      for (const int64_t number : {int64_t{-129}, int64_t{256}, int64_t{1} << 33}) {
        Attributes wrong = attributes;
        wrong[name] = number;
        EXPECT_EQ(refused_kind(of(op, inputs, wrong), inputs), ErrorKind::Malformed) << op << " " << name << number;
      }
    }
  };
  expect_refused("QuantizedMatMul", {&a, &b}, {}, {"a_zero_point", "b_zero_point"});
  expect_refused("ToReal", {&a}, {{"scale", 1.0F}}, {"zero_point"});
  const Attributes made = {{"low", int64_t{0}}, {"high", int64_t{255}}, {"to", byte}};
  Attributes steps = made;
  steps["scale"] = 1.0F;
  expect_refused("ToInteger", {&real}, steps, {"zero_point", "low", "high"});
  expect_refused("QuantizedConv", {&a, &b, &bias, &real}, made, {"padding", "zero_point", "low", "high"});
}

TEST(QuantizeLinear, TakesScalesPerAxisAndPerBlock) {
  const Tensor x = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor rows = Tensor::of<float>({2}, {1, 2}), blocks = Tensor::of<float>({2, 2}, {1, 2, 4, 0.5f});
  const Node by_row = test_node("QuantizeLinear", {&x, &rows}, {{"axis", int64_t{0}}});
  EXPECT_EQ(to_int64s(run_reference(by_row, {&x, &rows})[0]), (Ints{1, 2, 3, 2, 2, 3}));  // 2.5 rounds to even
  const Node by_block = test_node("QuantizeLinear", {&x, &blocks}, {{"axis", int64_t{-1}}, {"block_size", int64_t{2}}});
  EXPECT_EQ(to_int64s(run_reference(by_block, {&x, &blocks})[0]), (Ints{1, 2, 2, 1, 1, 12}));
}

TEST(QuantizeLinear, LowersToTheSameBits) {
  const float inf = INFINITY;
  const Tensor x = Tensor::of<float>({2, 3, 4}, {-inf,   -1e30f, -300,  -128.5f, -127.5f, -1.5f,  -0.5f, -0.0f,   //
                                                 0,      0.5f,   1.5f,  2.5f,    126.5f,  127.5f, 128,   254.5f,  //
                                                 255.5f, 300,    70000, 1e30f,   inf,     NAN,    3,     7});
  const Tensor one = Tensor::of<float>({}, {1}), third = Tensor::of<float>({1}, {1 / 3.0f});
  const Tensor rows = Tensor::of<float>({3}, {0.5f, 1, 0.1f});
  for (const DType to : {DType::UInt8, DType::Int8, DType::UInt16, DType::Int16}) {
    const auto zeros = [&](Shape shape, const Ints& values) {
      return convert(Tensor::of<int64_t>(std::move(shape), values), to);
    };
    for (const int64_t z : {0, 3, 127}) {
      const Tensor scalar = zeros({}, {z}), single = zeros({1}, {z}), per_row = zeros({3}, {z, 0, 1});
      check_lowering(test_node("QuantizeLinear", {&x, &one, &scalar}), {&x, &one, &scalar});
      check_lowering(test_node("QuantizeLinear", {&x, &third, &single}), {&x, &third, &single});
      for (const int64_t axis : {1, -2}) {
        const Node by_row = test_node("QuantizeLinear", {&x, &rows, &per_row}, {{"axis", axis}});
        const Tensor y = check_lowering(by_row, {&x, &rows, &per_row})[0];
        EXPECT_EQ(y.dtype(), to);
        check_lowering(test_node("DequantizeLinear", {&y, &rows, &per_row}, {{"axis", axis}}), {&y, &rows, &per_row});
        check_lowering(test_node("DequantizeLinear", {&y, &rows}, {{"axis", axis}}), {&y, &rows});
      }
    }
  }
  check_lowering(test_node("QuantizeLinear", {&x, &one}), {&x, &one});
}

TEST(QuantizeLinear, WhatFloatCannotHoldIsLeftToTheInterpreter) {
  const auto stages = [](const Node& node, const std::vector<const Tensor*>& inputs) {
    return run_lowered(node, inputs, run_reference(node, inputs)).context.stages.size();
  };
  const Tensor x = Tensor::of<float>({2, 2}, {1, 2, 3, 4}), one = Tensor::of<float>({}, {1});
  const Tensor blocks = Tensor::of<float>({2, 1}, {1, 2}), wide = Tensor::of<int32_t>({2}, {1 << 30, -5});
  EXPECT_EQ(stages(test_node("QuantizeLinear", {&x, &one}), {&x, &one}), 1U);
  const Node by_block = test_node("QuantizeLinear", {&x, &blocks}, {{"axis", int64_t{1}}, {"block_size", int64_t{2}}});
  EXPECT_EQ(stages(by_block, {&x, &blocks}), 0U);
  EXPECT_EQ(stages(test_node("DequantizeLinear", {&wide, &one}), {&wide, &one}), 0U);
}

TEST(QuantizeLinear, RefusesScalesThatDoNotFit) {
  const Tensor x(DType::Float32, {2, 3}), three = Tensor::of<float>({3}, {1, 1, 1}), square(DType::Float32, {2, 2}),
                                          zero(DType::UInt8, {2});
  EXPECT_EQ(refused_kind(test_node("QuantizeLinear", {&x, &three}, {{"axis", int64_t{0}}}), {&x, &three}),
            ErrorKind::Malformed);
  EXPECT_EQ(refused_kind(test_node("QuantizeLinear", {&x, &square}), {&x, &square}), ErrorKind::Malformed);
  EXPECT_EQ(refused_kind(test_node("QuantizeLinear", {&x, &three, &zero}), {&x, &three, &zero}), ErrorKind::Malformed);
  const Attributes blocks = {{"block_size", int64_t{4}}};
  EXPECT_EQ(refused_kind(test_node("DequantizeLinear", {&x, &square}, blocks), {&x, &square}), ErrorKind::Malformed);
  const Attributes to_float = {{"output_dtype", int64_t{1}}};
  EXPECT_EQ(refused_kind(test_node("QuantizeLinear", {&x, &three}, to_float), {&x, &three}), ErrorKind::Unsupported);
}

TEST(DequantizeLinear, SubtractsExactly) {
  const Tensor x = Tensor::of<int32_t>({2}, {2147483647, -5}), scale = Tensor::scalar(2.0),
               zero = Tensor::scalar(int32_t{-1});
  EXPECT_EQ(to_doubles(run_reference(test_node("DequantizeLinear", {&x, &scale, &zero}), {&x, &scale, &zero})[0]),
            (std::vector<double>{4294967296.0, -8}));
}

// A quantised convolution is the float convolution of the dequantised tensors, quantised.
TEST(QLinearConv, AgreesWithTheFloatConvolution) {
  const Tensor x = random_tensor(DType::UInt8, {1, 4, 5, 6}, 1), w = random_tensor(DType::Int8, {6, 2, 3, 3}, 2);
  const Tensor x_scale = Tensor::scalar(0.02f), x_zero = Tensor::scalar(uint8_t{40});
  const Tensor w_scale = Tensor::of<float>({6}, {0.01f, 0.02f, 0.03f, 0.01f, 0.02f, 0.005f});
  const Tensor w_zero = Tensor::of<int8_t>({6}, {50, 40, 60, 50, 45, 55});
  const Tensor y_scale = Tensor::scalar(0.25f), y_zero = Tensor::scalar(uint8_t{128});
  const Tensor bias = Tensor::of<int32_t>({6}, {100, -2000, 0, 7, 5000, 1});
  const Attributes form = {{"group", int64_t{2}}, {"pads", Ints{1, 0, 1, 2}}, {"strides", Ints{1, 2}}};
  const std::vector<const Tensor*> inputs = {&x, &x_scale, &x_zero, &w, &w_scale, &w_zero, &y_scale, &y_zero, &bias};
  const Tensor y = run_reference(test_node("QLinearConv", inputs, form), inputs)[0];

  const std::vector<const Tensor*> xs = {&x, &x_scale, &x_zero}, ws = {&w, &w_scale, &w_zero};
  const Tensor xf = run_reference(test_node("DequantizeLinear", xs), xs)[0];
  const Tensor wf = run_reference(test_node("DequantizeLinear", ws, {{"axis", int64_t{0}}}), ws)[0];
  Tensor bf(DType::Float32, {6});
  for (int i = 0; i < 6; ++i)
    bf.mutable_data<float>()[i] = static_cast<float>(bias.data<int32_t>()[i]) * 0.02f * w_scale.data<float>()[i];
  const std::vector<const Tensor*> fs = {&xf, &wf, &bf};
  const Tensor yf = run_reference(test_node("Conv", fs, form), fs)[0];
  const std::vector<const Tensor*> qs = {&yf, &y_scale, &y_zero};
  const Tensor expected = run_reference(test_node("QuantizeLinear", qs), qs)[0];
  const Ints got = to_int64s(y), want = to_int64s(expected);
  ASSERT_EQ(got.size(), want.size());
  int clipped = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_LE(std::abs(got[i] - want[i]), 1) << i;  // a tie may fall either way
    clipped += got[i] == 0 || got[i] == 255 ? 1 : 0;
  }
  EXPECT_LT(clipped, static_cast<int>(got.size()) / 4);
}

TEST(QLinearMatMul, TakesScalesPerRowAndPerColumn) {
  const Tensor a = Tensor::of<int8_t>({2, 2}, {1, 2, 3, 4}), b = Tensor::of<int8_t>({2, 2}, {1, 0, 0, 1});
  const Tensor rows = Tensor::of<float>({2, 1}, {1, 2}), columns = Tensor::of<float>({2}, {1, 10});
  const Tensor row_zeros(DType::Int8, {2, 1}), column_zeros(DType::Int8, {2});
  const Tensor one = Tensor::scalar(1.0f), zero = Tensor::scalar(int8_t{0});
  const std::vector<const Tensor*> inputs = {&a, &rows, &row_zeros, &b, &columns, &column_zeros, &one, &zero};
  EXPECT_EQ(to_int64s(run_reference(test_node("QLinearMatMul", inputs), inputs)[0]), (Ints{1, 20, 6, 80}));
  const Tensor three = Tensor::of<float>({3}, {1, 1, 1});
  const std::vector<const Tensor*> wrong = {&a, &three, &zero, &b, &columns, &column_zeros, &one, &zero};
  EXPECT_EQ(refused_kind(test_node("QLinearMatMul", wrong), wrong), ErrorKind::Malformed);
}

}  // namespace
}  // namespace dnn
