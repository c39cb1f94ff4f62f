// Writing Keras: what rows of exports.def write computes what the IR says when it is read back; names, orders and refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "formats/keras/export.h"
#include "graph/diff.h"
#include "graph_case.h"
#include "unit/formats/keras/model_builder.h"

namespace dnn::keras {
namespace {

Graph graph_of(const std::string& body) { return parse_graph("graph \"g\" {\n  opset 21\n" + body + "\n}\n"); }

std::string file_of(const Graph& graph, Dialect dialect) {
  return (dialect == Dialect::Keras3 ? to_files(graph, {}) : keras_h5::to_files(graph, {}))[0].bytes.text();
}

// Written and read again, the graph gives the same outputs under the same names, but for the last bits.
Graph round_trip(const std::string& body, Dialect dialect) {
  const Graph graph = graph_of(body);
  Graph again = read_text(file_of(graph, dialect));
  const std::vector<Tensor> inputs = ramps(graph), before = interpret(graph, inputs), now = interpret(again, inputs);
  EXPECT_EQ(before.size(), now.size());
  for (size_t i = 0; i < before.size() && i < now.size(); ++i) {
    EXPECT_EQ(before[i].shape(), now[i].shape()) << body;
    const std::vector<double> a = to_doubles(before[i]), b = to_doubles(now[i]);
    for (size_t k = 0; k < a.size() && k < b.size(); ++k) EXPECT_NEAR(a[k], b[k], 4e-6 * (1 + std::abs(a[k]))) << body;
    EXPECT_EQ(graph.value(graph.outputs[i]).name, again.value(again.outputs[i]).name);
  }
  return again;
}

std::string classes_of(const Graph& graph, Dialect dialect) {
  std::vector<std::string> names;
  const Plan plan = plan_model(graph, dialect);
  for (const WrittenLayer& layer : plan.layers()) names.push_back(layer.class_name);
  return join(names, " ");
}

constexpr const char* kImageInput = "  input x: float32[N,4,6,7]\n";
constexpr const char* kRows = "  input x: float32[N,6]\n";
constexpr const char* kTokens = "  input x: float32[N,5,6]\n";

// Both files can hold these.
TEST(KerasWrite, LayersComputeTheSameWhenReadBack) {
  const std::pair<const char*, const char*> cases[] = {
      {kImageInput,
       "  const w: float32[6,4,3,3] = random(1)\n  const b: float32[6] = random(2)\n  y = Conv(x, w, b) {pads = [1, 1, "
       "1, 1], strides = [2, 1]}"},
      {kImageInput, "  const w: float32[6,2,3,2] = random(1)\n  y = Conv(x, w) {group = 2, dilations = [2, 1]}"},
      {kImageInput,
       "  const w: float32[8,1,3,3] = random(1)\n  y = Conv(x, w) {group = 4, auto_pad = \"SAME_LOWER\", strides = [2, "
       "2]}"},
      {kImageInput, "  const w: float32[4,4,2,2] = random(1)\n  y = Conv(x, w) {pads = [0, 2, 1, 0]}"},
      {kImageInput,
       "  const w: float32[4,3,3,3] = random(1)\n  const b: float32[3] = random(2)\n  y = ConvTranspose(x, w, b) "
       "{strides = [2, 2], pads = [1, 0, 1, 1], output_padding = [1, 0]}"},
      {kImageInput,
       "  const w: float32[4,3,4,4] = random(1)\n  y = ConvTranspose(x, w) {strides = [2, 2], pads = [1, 1, 1, 1]}"},
      {kImageInput, "  r = Relu(x)\n  y = MaxPool(r) {kernel_shape = [3, 2], strides = [2, 2], pads = [1, 1, 1, 0]}"},
      {kImageInput, "  r = Sigmoid(x)\n  y = MaxPool(r) {kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1}"},
      {kImageInput, "  y = AveragePool(x) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]}"},
      {kImageInput, "  y = AveragePool(x) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], count_include_pad = 1}"},
      {kImageInput,
       "  y = AveragePool(x) {kernel_shape = [3, 3], strides = [2, 2], auto_pad = \"SAME_UPPER\", count_include_pad = "
       "1}"},
      {kImageInput,
       "  const s: float32[4] = random(1)\n  const b: float32[4] = random(2)\n  const m: float32[4] = random(3)\n  "
       "const v: float32[4] = {0.5, 1, 2, 3}\n  y = BatchNormalization(x, s, b, m, v) {epsilon = 0.01}"},
      {kImageInput,
       "  const s: float32[4] = random(1)\n  const b: float32[4] = random(2)\n  y = GroupNormalization(x, s, b) "
       "{num_groups = 2}"},
      {kTokens,
       "  const s: float32[6] = random(1)\n  const b: float32[6] = random(2)\n  y = LayerNormalization(x, s, b) "
       "{epsilon = 1e-4}"},
      {kTokens,
       "  const s: float32[5,6] = random(1)\n  const b: float32[5,6] = random(2)\n  y = LayerNormalization(x, s, b) "
       "{axis = 1}"},
      {kImageInput, "  const c: float32[6,1] = random(1)\n  y = Add(x, c)"},
      {kImageInput, "  const c: float32[4,6,1] = random(1)\n  y = Add(x, c)"},
      {kImageInput,
       "  const s: float32[4] = {1, 1, 2, 2}\n  y = Resize(x, _, s) {mode = \"nearest\", nearest_mode = \"floor\", "
       "coordinate_transformation_mode = \"asymmetric\"}"},
      {kImageInput, "  y = GlobalAveragePool(x)"},
      {kImageInput, "  const a: int64[2] = {2, 3}\n  y = ReduceMax(x, a) {keepdims = 0}"},
      {kImageInput, "  y = Relu(x)"},
      {kImageInput, "  const l: float32[] = {-0.5}\n  const h: float32[] = {0.75}\n  y = Clip(x, l, h)"},
      {kImageInput, "  y = LeakyRelu(x) {alpha = 0.3}"},
      {kImageInput, "  y = Elu(x) {alpha = 0.7}"},
      {kImageInput, "  y = HardSwish(x)"},
      {kImageInput, "  y = Swish(x)"},
      {kImageInput, "  y = Swish(x) {alpha = 1.5}"},
      {kImageInput, "  y = HardSigmoid(x) {alpha = 0.3, beta = 0.4}"},
      {kImageInput, "  s = Sigmoid(x)\n  y = Mul(x, s)"},
      {kImageInput, "  y = Gelu(x)"},
      {kImageInput, "  y = Softplus(x)"},
      {kImageInput, "  const s: float32[4,1,1] = random(1)\n  y = PRelu(x, s)"},
      {kImageInput, "  y = Softmax(x) {axis = 1}"},
      {kImageInput, "  const c: float32[4,1,1] = random(1)\n  y = Add(x, c)"},
      {"  input x: float32[N,4,6,20]\n", "  const c: float32[20] = random(1)\n  y = Mul(x, c)"},
      {kImageInput, "  const c: float32[1,4,6,7] = random(1)\n  y = Add(c, x)"},
      {kImageInput, "  const c: float32[] = {3}\n  y = Sub(c, x)"},
      {kImageInput, "  const c: float32[] = {4}\n  y = Div(x, c)"},
      {kImageInput, "  r = Relu(x)\n  s = Tanh(x)\n  y = Sub(r, s)"},
      {kImageInput, "  r = Relu(x)\n  s = Tanh(x)\n  y = Max(r, s, x)"},
      {kImageInput, "  r = Relu(x)\n  s = Tanh(x)\n  t = Sum(r, s, x)\n  y = Concat(t, s) {axis = 1}"},
      {kRows,
       "  const w: float32[3,6] = random(1)\n  const b: float32[3] = random(2)\n  y = Gemm(x, w, b) {transB = 1}"},
      {kTokens,
       "  const w: float32[6,3] = random(1)\n  const b: float32[3] = random(2)\n  z = MatMul(x, w)\n  y = Add(b, z)"},
      {kTokens,
       "  const c: float32[1,5,6] = random(1)\n  const k: float32[6,6] = random(2)\n  z = MatMul(x, k)\n  y = Add(z, "
       "c)"},
      {kTokens, "  const p: int64[3] = {0, 2, 1}\n  t = Transpose(x) {perm = [0, 2, 1]}\n  y = MatMul(x, t)"},
      {kTokens, "  const i: int64[] = {3}\n  y = Gather(x, i) {axis = 1}"},
      {kImageInput, "  const p: int64[8] = {0, 0, 1, 2, 0, 0, 0, 1}\n  y = Pad(x, p)"},
      {kImageInput, "  const p: int64[8] = {0, 2, 0, 0, 0, 3, 0, 0}\n  y = Pad(x, p)"},
      {kImageInput,
       "  const b: int64[2] = {1, 0}\n  const e: int64[2] = {3, 5}\n  const a: int64[2] = {1, 3}\n  y = Slice(x, b, e, "
       "a)"},
      {kImageInput,
       "  const b: int64[2] = {0, 0}\n  const e: int64[2] = {9, 9}\n  const a: int64[2] = {2, 3}\n  const s: int64[2] "
       "= {2, 2}\n"
       "  m = AveragePool(x) {kernel_shape = [1, 1]}\n  y = Slice(m, b, e, a, s)"},
      {kImageInput, "  a, b = Split(x) {axis = 1, num_outputs = 2}\n  y = Add(a, b)"},
      {kImageInput, "  y = Flatten(x)"},
      {kImageInput, "  const s: int64[3] = {0, 4, 42}\n  y = Reshape(x, s)"},
      {kImageInput, "  y = DepthToSpace(x) {blocksize = 2}"},
      {kImageInput, "  y = DepthToSpace(x) {blocksize = 2, mode = \"CRD\"}"},
      {kImageInput, "  y = Dropout(x)"}};
  for (const auto& [input, body] : cases) {
    SCOPED_TRACE(body);
    round_trip(std::string(input) + body + "\n  output y", Dialect::Keras2);
    round_trip(std::string(input) + body + "\n  output y", Dialect::Keras3);
  }
}

// Operations, which files of Keras 3 hold; their own answers to these were compared in Keras 3.
TEST(KerasWrite, OperationsComputeTheSameWhenReadBack) {
  const std::pair<const char*, const char*> cases[] = {
      {kTokens, "  y = ArgMax(x) {axis = -1, keepdims = 0}"},
      {kTokens, "  y = ArgMin(x) {axis = 1}"},
      {kTokens, "  y = ArgMax(x) {axis = 2, select_last_index = 1}"},
      {kTokens, "  const a: int64[] = {-1}\n  y = CumSum(x, a)"},
      {kTokens,
       "  const z: float32[] = {0.5}\n  a = Less(x, z)\n  w = Neg(x)\n  b = Less(w, z)\n  o = Xor(a, b)\n  n = "
       "Not(o)\n  p = "
       "And(a, n)\n  q = Or(p, b)\n  y = Where(q, x, z)"},
      {kTokens,
       "  const z: float32[] = {1}\n  const l: float32[] = {-inf}\n  g = Less(x, z)\n  m = Where(g, x, l)\n  y = "
       "Exp(m)"},
      {kTokens, "  const l: float32[6] = {1, -inf, 2, inf, 3, 4}\n  m = Max(x, l)\n  y = Sigmoid(m)"},
      {kTokens, "  i = ArgMax(x) {axis = 2}\n  const c: int64[1] = {7}\n  y = Sub(c, i)"},
      {kTokens,
       "  const b: int64[1] = {-1}\n  const e: int64[1] = {-100}\n  const a: int64[1] = {2}\n  y = Slice(x, b, e, a, "
       "b)"}};
  for (const auto& [input, body] : cases) {
    SCOPED_TRACE(body);
    round_trip(std::string(input) + body + "\n  output y", Dialect::Keras3);
  }
}

const char kNet[] = R"(  input image: float32[N,3,9,9]
  const conv.weight: float32[4,3,3,3] = random(1)
  const s: float32[4] = random(2)
  const b: float32[4] = random(3)
  const m: float32[4] = random(4)
  const v: float32[4] = {1, 2, 3, 4}
  const fc.weight: float32[5,4] = random(5)
  const fc.bias: float32[5] = random(6)
  c = Conv(image, conv.weight) @/features/conv/Conv {pads = [1, 1, 1, 1], strides = [2, 2]}
  n = BatchNormalization(c, s, b, m, v) @/features/bn
  r = Relu(n) @/features/relu
  g = GlobalAveragePool(r) @/pool
  f = Flatten(g) @/flat
  logits = Gemm(f, fc.weight, fc.bias) @/fc/Gemm {transB = 1}
  output logits)";

TEST(KerasWrite, NetworksAreLayersAsPeopleWriteThem) {
  const Graph graph = graph_of(kNet);
  const Graph again = round_trip(kNet, Dialect::Keras2);
  std::vector<std::string> names, constants;
  for (NodeId id : again.order()) names.push_back(again.node(id).name);
  for (const char* name : {"/features/conv/Conv", "/features/bn", "/features/relu", "/fc/Gemm"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  EXPECT_NE(again.find_value("conv.weight"), kNoValue);
  EXPECT_TRUE(
      again.constant(again.find_value("conv.weight"))->identical(*graph.constant(graph.find_value("conv.weight"))));
}

TEST(KerasWrite, TheSameGraphGivesTheSameBytes) {
  for (Dialect dialect : {Dialect::Keras2, Dialect::Keras3})
    EXPECT_EQ(file_of(graph_of(kNet), dialect), file_of(graph_of(kNet), dialect));
}

// What came from Keras goes back as it was: names, activations inside layers, weights to the bit.
TEST(KerasWrite, ModelsOfKerasComeBack) {
  const std::string config = R"({"class_name": "Functional", "config": {"name": "m", "layers": [
    {"class_name": "InputLayer", "name": "x", "config": {"batch_input_shape": [null, 4, 4, 2], "name": "x"}, "inbound_nodes": []},
    {"class_name": "Conv2D", "name": "c", "config": {"name": "c", "filters": 3, "kernel_size": [3, 3], "strides": [2, 2],
     "padding": "same", "activation": "swish"}, "inbound_nodes": [[["x", 0, 0, {}]]]},
    {"class_name": "GlobalAveragePooling2D", "name": "g", "config": {"name": "g"}, "inbound_nodes": [[["c", 0, 0, {}]]]},
    {"class_name": "Dense", "name": "d", "config": {"name": "d", "units": 2, "activation": "softmax"},
     "inbound_nodes": [[["g", 0, 0, {}]]]}],
    "input_layers": [["x", 0, 0]], "output_layers": [["d", 0, 0]]}})";
  const auto random = [](const Shape& shape) {
    return Tensor::of<float>(shape, counting(static_cast<size_t>(element_count(shape))));
  };
  const Graph graph =
      read_text(h5_file(config, {{"c", {{"c/kernel:0", random({3, 3, 2, 3})}, {"c/bias:0", random({3})}}},
                                 {"d", {{"d/kernel:0", random({3, 2})}, {"d/bias:0", random({2})}}}}));
  for (Dialect dialect : {Dialect::Keras2, Dialect::Keras3}) {
    const Graph again = read_text(file_of(graph, dialect));
    EXPECT_TRUE(graph_difference(graph, again).empty()) << join(graph_difference(graph, again), "\n");
  }
}

// Keras numbers layers by their distance from the outputs and finds weights by that; the expected order is what Keras 3.15 and
// tf_keras 2.21 make of this net.
TEST(KerasWrite, LayersStandInKerasOrder) {
  Graph graph = graph_of(R"(  input x: float32[N,4]
  const w: float32[4,4] = random(1)
  a = Gemm(x, w) @short
  b = Gemm(x, w) @long1
  c = Gemm(b, w) @long2
  d = Add(a, c) @sum
  output d)");
  infer_types(graph);
  std::vector<std::string> names;
  const Plan plan = plan_model(graph, Dialect::Keras2);
  for (const WrittenLayer& layer : plan.layers()) names.push_back(layer.name);
  EXPECT_EQ(join(names, " "), "x long1 short long2 sum");
  EXPECT_EQ(classes_of(graph, Dialect::Keras2), "InputLayer Dense Dense Dense Add");
}

// Keras' merging layers refuse operands of two batches, which its operations broadcast.
TEST(KerasWrite, OperandsOfTwoBatchesAreNotMerged) {
  for (const std::string rows : {"1", "2"}) {
    Graph graph = graph_of("  input x: float32[2,4]\n  input z: float32[" + rows + ",4]\n" + R"(
  y = Sub(x, z) @apart
  output y)");
    infer_types(graph);
    const Plan plan = plan_model(graph, Dialect::Keras3);
    EXPECT_EQ(plan.layers().back().class_name, "Subtract");
    EXPECT_EQ(plan.layers().back().module, rows == "1" ? "keras.src.ops.numpy" : "");
  }
}

TEST(KerasWrite, MetadataTravels) {
  Graph graph = graph_of(kNet);
  graph.metadata = {{"labels", "cat\ndog"}, {"author", "nobody"}};
  for (Dialect dialect : {Dialect::Keras2, Dialect::Keras3}) {
    auto metadata = read_text(file_of(graph, dialect)).metadata;
    std::sort(metadata.begin(), metadata.end());
    EXPECT_EQ(metadata,
              (std::vector<std::pair<std::string, std::string>>{{"author", "nobody"}, {"labels", "cat\ndog"}}));
  }
}

TEST(KerasWrite, WhatKerasLacksIsRefusedByName) {
  const auto refusal = [](const std::string& body, Dialect dialect) {
    try {
      file_of(graph_of(body), dialect);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string sqrt = "  input x: float32[N,4]\n  y = Sqrt(x) @root\n  output y";
  EXPECT_NE(refusal(sqrt, Dialect::Keras2).find("node 'root' (Sqrt)"), std::string::npos);
  EXPECT_EQ(refusal(sqrt, Dialect::Keras3), "");
  const std::string lrn = std::string(kImageInput) + "  y = LRN(x) @norm {size = 3}\n  output y";
  for (Dialect dialect : {Dialect::Keras2, Dialect::Keras3})
    EXPECT_NE(refusal(lrn, dialect).find("node 'norm' (LRN)"), std::string::npos);
  const std::string batch = "  input x: float32[2,4]\n  y = Transpose(x) @t {perm = [1, 0]}\n  output y";
  EXPECT_NE(refusal(batch, Dialect::Keras3).find("moves the batch's axis"), std::string::npos);
}

}  // namespace
}  // namespace dnn::keras
