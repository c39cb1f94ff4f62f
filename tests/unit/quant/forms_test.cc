// Forms of a quantised network: operators on integers, and integers at its inputs and outputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cases.h"
#include "formats/format.h"
#include "formats/onnx/qoperator.h"
#include "interp/interpreter.h"
#include "quant/io_types.h"

namespace dnn::quant {
namespace {

constexpr const char* kMany = R"(
  input x: float32[1,3,8,8]
  const w: float32[8,3,3,3] = random(1)
  const b: float32[8] = random(2)
  const v: float32[8,8,1,1] = random(3)
  const g: float32[4,8] = random(4)
  const m: float32[4,4] = random(5)
  const low: float32[] = {0}
  const high: float32[] = {6}
  const zero: int64[1] = {0}
  const eight: int64[1] = {8}
  const one: int64[1] = {1}
  c = Conv(x, w, b) @conv {pads = [1, 1, 1, 1]}
  r = Relu(c) @relu
  d = Conv(r, v) @pointwise
  e = Clip(d, low, high) @clip
  a = Add(e, r) @add
  k = Concat(a, r) @join {axis = 1}
  q = MaxPool(k) @max {kernel_shape = [2, 2], strides = [2, 2]}
  s1 = Slice(q, zero, eight, one) @slice
  p = GlobalAveragePool(s1) @pool
  f = Flatten(p) @flatten
  h = Gemm(f, g) @head {transB = 1}
  z = MatMul(h, m) @product
  y = Sigmoid(z) @gate
  output y
)";

Graph quantised(const Graph& graph, const QuantizeOptions& o, const std::vector<Tensor>& samples) {
  Given given(samples);
  QuantizeReport report;
  return quantize(graph, given, o, &report);
}

int64_t count(const Graph& graph, const std::string& op) {
  return std::count_if(graph.order().begin(), graph.order().end(), [&](NodeId id) { return graph.node(id).op == op; });
}

TEST(QOperator, IsTheSameNetworkOfIntegerOperators) {
  const Graph graph = prepare(parsed(kMany));
  const std::vector<Tensor> samples = random_samples({1, 3, 8, 8}, 20);
  for (const char* scheme : {"int8", "uint8"}) {
    QuantizeOptions o = options();
    o.scheme = scheme_named(scheme);
    o.fuses = fuses_in_qoperator;
    o.real_results = false;
    const Graph qdq = quantised(graph, o, samples);
    Graph collapsed = qdq;
    onnx::to_qoperator(collapsed);
    verify(collapsed);
    for (const auto& [op, times] : std::vector<std::pair<std::string, int64_t>>{{"QLinearConv", 2},
                                                                                {"QLinearAdd", 1},
                                                                                {"Concat", 1},
                                                                                {"QLinearGlobalAveragePool", 1},
                                                                                {"QGemm", 1},
                                                                                {"QLinearMatMul", 1},
                                                                                {"QLinearSigmoid", 1},
                                                                                {"MaxPool", 1},
                                                                                {"Relu", 0},
                                                                                {"Clip", 0},
                                                                                {"Conv", 0},
                                                                                {"QuantizeLinear", 1},
                                                                                {"DequantizeLinear", 1}})
      EXPECT_EQ(count(collapsed, op), times) << op << " " << scheme;
    // The file is read back as the same numbers, up to a step of the output.
    WriteOptions write;
    write.qoperator = true;
    const Graph back = read_model(model_in_memory("net.onnx", find_format("onnx")->to_files(qdq, write)));
    for (const Tensor& sample : samples) {
      const std::vector<double> one = to_doubles(interpret(qdq, {sample})[0]),
                                other = to_doubles(interpret(back, {sample})[0]);
      for (size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], other[i], 1.01 / 256) << scheme;
    }
  }
}

// An activation that the range of its result does not stand for stays, and so does all around it.
TEST(QOperator, LeavesWhatSaturationDoesNotDo) {
  Graph graph = prepare(parsed(kResidual));
  QuantizeOptions o = options();
  const Graph qdq = quantised(graph, o, random_samples({1, 3, 8, 8}, 20));
  Graph collapsed = qdq;
  onnx::to_qoperator(collapsed);
  EXPECT_EQ(count(collapsed, "QLinearConv"), 2);
  EXPECT_EQ(count(collapsed, "Swish"), 1);
  EXPECT_EQ(count(collapsed, "Add"), 1);  // Swish is at its end, and a sum of integers saturates
  EXPECT_EQ(count(collapsed, "QLinearAdd"), 0);
}

TEST(IoTypes, IntegersStandForTheSameNumbers) {
  const Graph graph = prepare(parsed(kMany));
  const std::vector<Tensor> samples = random_samples({1, 3, 8, 8}, 20);
  QuantizeOptions o = options();
  o.integer_outputs = true;
  const Graph plain = quantised(graph, o, samples);
  const NodeId first = Uses(plain).readers[static_cast<size_t>(plain.inputs[0])][0];
  const double scale = to_doubles(*plain.constant(plain.node(first).inputs[1]))[0];
  const int64_t zero = to_int64s(*plain.constant(plain.node(first).inputs[2]))[0];
  for (const DType in : {DType::Float32, DType::Int8, DType::UInt8}) {
    for (const DType out : {DType::Float32, DType::Int8, DType::UInt8}) {
      Graph changed = plain;
      set_io_types(changed, in, out);
      infer_types(changed);
      verify(changed);
      EXPECT_EQ(changed.value(changed.inputs[0]).name, "x");
      EXPECT_EQ(changed.value(changed.outputs[0]).name, "y");
      EXPECT_EQ(changed.value(changed.inputs[0]).type.dtype, in);
      EXPECT_EQ(changed.value(changed.outputs[0]).type.dtype, out);
      for (const Tensor& sample : samples) {
        Tensor given = sample;
        if (in != DType::Float32) {
          const int64_t shift = in == DType::UInt8 ? 128 : 0;
          given = quantize_tensor(sample, {static_cast<float>(scale), zero + shift, in});
        }
        const std::vector<double> a = to_doubles(interpret(plain, {sample})[0]),
                                  b = to_doubles(interpret(changed, {given})[0]);
        for (size_t i = 0; i < a.size(); ++i) {
          const double real = out == DType::Float32 ? b[i] : (b[i] + (out == DType::Int8 ? 128 : 0)) / 256;
          EXPECT_EQ(a[i], real);
        }
      }
    }
  }
}

// A network may end in an operator that stays in float32: its results are rounded where integers are asked for.
TEST(IoTypes, AnOperatorOfRealNumbersEndsInIntegers) {
  const Graph graph = prepare(parsed(R"(
  input x: float32[1,4,8]
  const w: float32[8,8] = random(1)
  const scale: float32[8] = random(2)
  m = MatMul(x, w) @m
  y = LayerNormalization(m, scale) @last
  output y
)"));
  QuantizeOptions o = options();
  o.integer_outputs = true;
  const std::vector<Tensor> samples = random_samples({1, 4, 8}, 20);
  Graph changed = quantised(graph, o, samples);
  set_io_types(changed, DType::Float32, DType::Int8);
  infer_types(changed);
  verify(changed);
  EXPECT_EQ(changed.value(changed.outputs[0]).name, "y");
  EXPECT_EQ(interpret(changed, {samples[0]})[0].dtype(), DType::Int8);
}

TEST(IoTypes, RefusesWhatHasNoIntegers) {
  const Graph graph = prepare(parsed(kResidual));
  QuantizeOptions o = options();
  o.keep_float = {"conv"};
  Graph changed = quantised(graph, o, random_samples({1, 3, 8, 8}, 12));
  EXPECT_THROW(set_io_types(changed, DType::Int8, DType::Float32), Error);
}

}  // namespace
}  // namespace dnn::quant
