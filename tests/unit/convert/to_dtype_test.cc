// float16 and back: where the Casts stand, what stays in float32, and how far the outputs come apart.
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "cache.h"
#include "convert/convert.h"
#include "convert/surgery.h"
#include "graph/tensor_text.h"
#include "graph/text.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "unit/convert/graph_of.h"

namespace dnn {
namespace {

int count(const Graph& graph, const std::string& op) {
  int n = 0;
  for (NodeId id : graph.order()) n += graph.node(id).op == op ? 1 : 0;
  return n;
}

constexpr const char* kFloatNetwork = R"(
  input x: float32[1,3,6,6]
  const w: float32[4,3,3,3] = random(1)
  const f: float32[4,5] = random(2)
  c = Conv(x, w) @conv
  r = Relu(c)
  p = GlobalAveragePool(r)
  g = Flatten(p)
  y = MatMul(g, f) @fc
  output y
)";

TEST(ToDtype, ComputesInHalvesBetweenFloats) {
  const Graph before = graph_of(kFloatNetwork);
  Graph graph = before;
  EXPECT_TRUE(to_dtype(graph, DType::Float16, DType::Float32).empty());
  verify(graph);
  EXPECT_EQ(count(graph, "Cast"), 2);
  EXPECT_EQ(graph.value(graph.inputs[0]).name, "x");
  EXPECT_EQ(graph.value(graph.inputs[0]).type.dtype, DType::Float32);
  EXPECT_EQ(graph.value(graph.outputs[0]).name, "y");
  EXPECT_EQ(graph.value(graph.outputs[0]).type.dtype, DType::Float32);
  EXPECT_EQ(graph.value(graph.find_value("c")).type.dtype, DType::Float16);
  EXPECT_EQ(graph.constant(graph.find_value("w"))->dtype(), DType::Float16);
  const Tensor x = random_tensor(DType::Float32, {1, 3, 6, 6}, 3);
  const std::vector<double> y = to_doubles(interpret(graph, {x})[0]), expected = to_doubles(interpret(before, {x})[0]);
  double apart = 0;
  for (size_t i = 0; i < y.size(); ++i) apart = std::max(apart, std::abs(y[i] - expected[i]));
  EXPECT_GT(apart, 0);
  EXPECT_LT(apart, 1e-2);
}

TEST(ToDtype, InputsAndOutputsInHalvesWhereAsked) {
  Graph graph = graph_of(kFloatNetwork);
  to_dtype(graph, DType::Float16, DType::Float16);
  EXPECT_EQ(count(graph, "Cast"), 0);
  EXPECT_EQ(graph.value(graph.inputs[0]).type.dtype, DType::Float16);
  EXPECT_EQ(graph.value(graph.outputs[0]).type.dtype, DType::Float16);
}

TEST(ToDtype, ThereAndBackKeepsTheHalves) {
  Graph graph = graph_of(kFloatNetwork);
  to_dtype(graph, DType::Float16, DType::Float16);
  const Tensor halves = *graph.constant(graph.find_value("w"));
  to_dtype(graph, DType::Float32, DType::Float32);
  EXPECT_EQ(count(graph, "Cast"), 0);
  EXPECT_EQ(graph.value(graph.outputs[0]).type.dtype, DType::Float32);
  EXPECT_TRUE(graph.constant(graph.find_value("w"))->identical(convert(halves, DType::Float32)));
}

TEST(ToDtype, KeepsQuantisedPartsInFloats) {
  Graph graph = graph_of(R"(
  input x: float32[4]
  const s: float32[] = {0.5}
  const z: int8[] = {0}
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  y = Relu(d)
  output y
)");
  to_dtype(graph, DType::Float16, DType::Float32);
  verify(graph);
  EXPECT_EQ(graph.value(graph.find_value("y_float16")).type.dtype, DType::Float16);
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op == "QuantizeLinear") {
      EXPECT_EQ(graph.value(node.inputs[0]).type.dtype, DType::Float32);
    }
    if (node.op == "DequantizeLinear") {
      EXPECT_EQ(graph.constant(node.inputs[1])->dtype(), DType::Float32);
    }
  }
  const Tensor x = Tensor::of<float>({4}, {1, -1, 0.3F, 2.5F});
  EXPECT_TRUE(interpret(graph, {x})[0].identical(Tensor::of<float>({4}, {1, 0, 0.5F, 2.5F})));
}

TEST(ToDtype, KeepsTheScalesOfAResize) {
  Graph graph = graph_of(R"(
  input x: float32[1,1,2,2]
  const k: float32[4] = {1, 1, 2, 2}
  y = Resize(x, _, k) {mode = "nearest"}
  output y
)");
  to_dtype(graph, DType::Float16, DType::Float32);
  verify(graph);
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op == "Resize") {
      EXPECT_EQ(graph.constant(node.inputs[2])->dtype(), DType::Float32);
    }
  }
}

TEST(ToDtype, NamesWhatIsBeyondHalves) {
  Graph graph = graph_of("  input x: float32[2]\n  const k: float32[2] = {1e6, -2}\n  y = Min(x, k)\n  output y\n");
  EXPECT_EQ(to_dtype(graph, DType::Float16, DType::Float32), std::vector<std::string>{"k"});
  EXPECT_EQ(to_doubles(*graph.constant(graph.find_value("k"))), (std::vector<double>{65504, -2}));
}

// A file of float16 weights held infinities, and its outputs were NaN. A single number is no weight, and stays float32.
TEST(ToDtype, NoWeightOfTfliteBecomesInfinite) {
  const TemporaryFolder folder(testing::TempDir());
  const std::string path = folder.path() + "/half.tflite";
  std::string said;
  ConvertOptions options;
  options.certify = false;
  options.dtype = DType::Float16;
  options.warn = [&](const std::string& line) { said += line; };
  const std::string body =
      "  input x: float32[1,2]\n  const w: float32[2,2] = {1e6, -1e5, 3, -2}\n  const most: float32[] = {1e7}\n"
      "  a = MatMul(x, w)\n  y = Min(a, most)\n  output y\n";
  convert_model(graph_of(body), path, options);
  EXPECT_EQ(said, "numbers beyond 65504, float16's largest, became that in w");
  const Tensor x = Tensor::of<float>({1, 2}, {1, 0});
  EXPECT_EQ(to_doubles(interpret(read_model(path), {x})[0]), (std::vector<double>{65504, -65504}));
}

TEST(ToDtype, RefusesSubgraphs) {
  Graph graph = graph_of(R"(
  input c: bool[]
  input x: float32[2]
  y: float32[2] = If(c) @choice {
    then_branch = graph "a" {
      capture x
      a: float32[2] = Relu(x)
      output a
    },
    else_branch = graph "b" {
      capture x
      b: float32[2] = Neg(x)
      output b
    }
  }
  output y
)");
  EXPECT_THROW(to_dtype(graph, DType::Float16, DType::Float32), Error);
}

// TFLite computes in float32: the weights alone are halves, which DEQUANTIZE widens.
TEST(ToDtype, TfliteHasHalvesAsWeights) {
  const TemporaryFolder folder(testing::TempDir());
  const std::string half = folder.path() + "/half.tflite", whole = folder.path() + "/whole.tflite";
  ConvertOptions options;
  options.certificate.probes = 2;
  const std::string big =
      "  input x: float32[1,64]\n  const w: float32[64,64] = random(1)\n  y = MatMul(x, w)\n  output y\n";
  convert_model(graph_of(big), whole, options);
  options.dtype = DType::Float16;
  const std::optional<Certificate> certificate = convert_model(graph_of(big), half, options);
  ASSERT_TRUE(certificate);
  EXPECT_GT(certificate->max_relative(), 0);
  EXPECT_LT(certificate->max_relative(), 2e-3);
  EXPECT_LT(read_file(half).size(), read_file(whole).size() - size_t{64} * 64 * 2 + 600);
  options.io_dtype = DType::Float16;
  EXPECT_THROW(convert_model(graph_of(big), half, options), Error);
}

TEST(ToDtype, TheCertificateComparesWithTheFloats) {
  const TemporaryFolder folder(testing::TempDir());
  ConvertOptions options;
  options.certificate.probes = 2;
  options.dtype = DType::Float16;
  for (const DType io : {DType::Float32, DType::Float16}) {
    options.io_dtype = io;
    const auto certificate = convert_model(graph_of(kFloatNetwork), folder.path() + "/half.onnx", options);
    ASSERT_TRUE(certificate);
    EXPECT_GT(certificate->max_relative(), 0);
    EXPECT_LT(certificate->max_relative(), kTolerance16);
    const Graph written = read_model(folder.path() + "/half.onnx");
    EXPECT_EQ(written.value(written.inputs[0]).type.dtype, io);
  }
  options.tolerance = 1e-6;
  EXPECT_THROW(convert_model(graph_of(kFloatNetwork), folder.path() + "/half.onnx", options), Error);
}

}  // namespace
}  // namespace dnn
