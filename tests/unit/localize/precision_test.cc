// Which layers bear a smaller type: rounding by hand, what a layer is, and rankings that are known beforehand.
#include "localize/precision.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cache.h"
#include "localize/precision_layers.h"
#include "localize/precision_model.h"
#include "special_floats.h"
#include "unit/localize/isolated.h"

namespace dnn {
namespace {

std::vector<float> floats(const Tensor& tensor) { return {tensor.data<float>(), tensor.data<float>() + tensor.size()}; }

Tensor row_of(const std::vector<float>& values) {
  return Tensor::of<float>({1, static_cast<int64_t>(values.size())}, values);
}

TEST(Rounding, Float16AndBFloat16) {
  RoundingLoss loss;
  const Tensor x = row_of({1 + 0x1p-11F, 1 + 0x3p-11F, 65519, 65520, -1e6F, 1e-8F, 0, kInf});
  EXPECT_EQ(floats(rounded_to(x, DType::Float16, &loss)),
            (std::vector<float>{1, 1 + 0x1p-9F, 65504, kInf, -kInf, 0, 0, kInf}));
  EXPECT_EQ(loss.n, 8);
  EXPECT_EQ(loss.to_infinity, 2);
  EXPECT_EQ(loss.to_zero, 1);
  loss = {};
  EXPECT_EQ(floats(rounded_to(row_of({1 + 0x1p-8F, 1 + 0x3p-8F, 65520, 3.4e38F}), DType::BFloat16, &loss)),
            (std::vector<float>{1, 1 + 0x1p-6F, 65536, kInf}));
  EXPECT_EQ(loss.to_infinity, 1);
  EXPECT_EQ(loss.to_zero, 0);
}

TEST(Rounding, Int8ByARange) {
  RoundingLoss loss;
  // A scale of 1, and the zero point -128 + 55: -55 to 200 are the 256 numbers.
  EXPECT_EQ(floats(rounded_to_int8(row_of({-55, 200, 0.4F, 0.5F, 1.5F, 0, -60, 1000}), {-55, 200}, &loss)),
            (std::vector<float>{-55, 200, 0, 0, 2, 0, -55, 200}));
  EXPECT_EQ(loss.to_zero, 2);
  // One number alone is itself, and 0.
  EXPECT_EQ(floats(rounded_to_int8(row_of({0, 0}), {0, 0}, &loss)), (std::vector<float>{0, 0}));
  NumberRange range;
  range.add(row_of({3, NAN, kInf}));
  EXPECT_EQ(range.low, 0);
  EXPECT_EQ(range.high, 3);
}

TEST(Rounding, Int8SymmetricByChannel) {
  RoundingLoss loss;
  const Tensor w = Tensor::of<float>({2, 2}, {127, 0.4F, 1270, 14});
  EXPECT_EQ(floats(rounded_to_int8_symmetric(w, 0, &loss)), (std::vector<float>{127, 0, 1270, 10}));
  EXPECT_EQ(loss.to_zero, 1);
  EXPECT_EQ(floats(rounded_to_int8_symmetric(w, -1, &loss)), (std::vector<float>{130, 0, 1270, 10}));
  const std::vector<float> by_column = floats(rounded_to_int8_symmetric(w, 1, &loss));
  EXPECT_FLOAT_EQ(by_column[1], 4 * 14.0F / 127);
  EXPECT_EQ(by_column[3], 14);
  // Parts of a channel that do not lie together, halves to even, and what is not finite.
  const Tensor v = Tensor::of<float>({2, 2, 2}, {127, 2.5F, 254, 3, -1.5F, kInf, 5, -254});
  EXPECT_EQ(floats(rounded_to_int8_symmetric(v, 1, &loss)), (std::vector<float>{127, 2, 254, 4, -2, kInf, 4, -254}));
  EXPECT_EQ(floats(rounded_to_int8_symmetric(row_of({0, 0}), 1, &loss)), (std::vector<float>{0, 0}));
}

TEST(Rounding, WhichConstantsAnInt8NetworkRounds) {
  using As = Int8Constant::As;
  const auto how = [](const std::string& op, size_t input, int rank, int64_t turned = 0) {
    Node node;
    node.op = op;
    if (turned != 0) node.attributes["transB"] = turned;
    return int8_constant(node, input, rank);
  };
  EXPECT_EQ(how("Conv", 1, 4).axis, 0);
  EXPECT_EQ(how("Conv", 2, 1).as, As::Float32);
  EXPECT_EQ(how("ConvTranspose", 1, 4).axis, 1);
  EXPECT_EQ(how("Gemm", 1, 2).axis, 1);
  EXPECT_EQ(how("Gemm", 1, 2, 1).axis, 0);
  EXPECT_EQ(how("Gemm", 2, 2).as, As::Float32);
  EXPECT_EQ(how("MatMul", 1, 3).axis, 2);
  EXPECT_EQ(how("MatMul", 0, 2).axis, 0);
  EXPECT_EQ(how("Add", 1, 1).as, As::Operand);
  EXPECT_EQ(how("BatchNormalization", 1, 1).as, As::Float32);
}

std::string described(const Graph& graph) {
  std::vector<std::string> layers;
  for (const ComputingLayer& layer : computing_layers(graph)) {
    std::vector<std::string> nodes;
    for (NodeId id : layer.nodes) nodes.push_back(graph.node(id).name);
    layers.push_back(cat(join(nodes, "+"), "(", layer.inputs.size(), ")", layer.outputs.size()));
  }
  return join(layers, " ");
}

TEST(ComputingLayers, AnOperatorWithTheActivationBehindIt) {
  const Graph graph = typed(R"(graph "net" {
  opset 28
  input x: float32[1,2,4,4]
  const w: float32[2,2,1,1] = {1, 2, 3, 4}
  const s: float32[2] = {1, 2}
  const k: float32[] = {3}
  p = MaxPool(x) @pool {kernel_shape = [1, 1]}
  a = Conv(p, w) @conv
  b = BatchNormalization(a, s, s, s, s) @norm
  g = Sigmoid(b) @gate
  c = Mul(b, g) @silu
  d = Conv(c, w) @next
  e = Add(d, c) @join
  f = Relu(e) @relu
  h = Mul(e, k) @other
  i = Concat(f, h) @concat {axis = 1}
  y = GlobalAveragePool(i) @mean
  output y
})");
  // What is read of `join` is more than one value, were the activation and the factor its own.
  EXPECT_EQ(described(graph), "conv+norm+gate+silu(1)1 next(1)1 join(2)1 other(1)1 mean(1)1");
}

// 1 + 2^-9 rounds to 1 in bfloat16, and 3.001 to 3: by layer, in the order of the graph.
TEST(RoundedNetwork, RoundsTheLayersThatAreNotKept) {
  const RoundedNetwork network(typed(R"(graph "net" {
  opset 28
  input x: float32[1,1]
  const w: float32[1,1] = {3.001}
  const one: float32[1,1] = {1}
  a = Gemm(x, one) @first
  y = Gemm(a, w) @second
  output y
})"),
                               DType::BFloat16);
  const std::vector<Tensor> inputs = {row_of({1 + 0x1p-9F})};
  const auto given = [&](bool first, bool second) { return floats(network.run(inputs, {first, second})[0])[0]; };
  EXPECT_EQ(given(true, true), (1 + 0x1p-9F) * 3.001F);
  EXPECT_EQ(given(false, true), 3.001F);
  EXPECT_EQ(given(true, false), 3);
  EXPECT_EQ(given(false, false), 3);
  SpotLosses losses;
  const ValueId x = network.graph().inputs[0];
  EXPECT_EQ(floats(network.run_layer(0, {{x, inputs[0]}}, &losses).at(network.layers()[0].outputs[0]))[0], 1);
  EXPECT_EQ((losses[{PrecisionSpot::Role::Input, x}].n), 1);
  EXPECT_EQ(network.completed_by(network.layers()[1].outputs[0]), 1u);
  EXPECT_EQ(network.completed_by(x), std::nullopt);
}

struct PrecisionCase {
  explicit PrecisionCase(const std::string& text, DType dtype, const std::vector<std::vector<Tensor>>& inputs,
                         int threads = 2, const std::string& device = "reference") {
    std::vector<BisectSample> samples;
    for (const auto& given : inputs) samples.push_back({cat("#", samples.size()), given});
    PrecisionOptions options;
    options.dtype = dtype;
    options.threads = threads;
    options.device = device;
    options.compile.device = device;
    options.compile.build.cache_folder = test_cache();
    report = judge_precision(typed(text), samples, options);
  }
  const PrecisionLayer& layer(const std::string& node) const {
    for (const PrecisionLayer& l : report.layers) {
      if (l.nodes.front() == node) return l;
    }
    throw std::runtime_error("no layer " + node);
  }
  std::string ranking() const {
    std::vector<std::string> names;
    for (const PrecisionLayer& l : report.layers) names.push_back(l.nodes.front());
    return join(names, " ");
  }
  PrecisionReport report;
};

// Two networks side by side, so that each layer moves an output of its own. 1 + 2^-8 is between two bfloat16, and the even one is
// 1; 3 * 2^-26 is three quarters of the least float16.
TEST(Precision, Float16AndBFloat16ByHand) {
  const std::string net = R"(graph "net" {
  opset 28
  input a: float32[1,1]
  input b: float32[1,1]
  const one: float32[1,1] = {1}
  const tiny: float32[1,1] = {4.470348358154297e-08}
  p = Gemm(a, one) @digits
  q = Gemm(b, tiny) @small
  output p
  output q
})";
  const std::vector<std::vector<Tensor>> inputs = {{row_of({1 + 0x1p-8F}), row_of({1})}};
  const PrecisionCase half(net, DType::Float16, inputs), brain(net, DType::BFloat16, inputs);
  EXPECT_EQ(half.ranking(), "small digits");
  EXPECT_DOUBLE_EQ(half.layer("small").effect.error, 1.0 / 3);
  EXPECT_DOUBLE_EQ(half.layer("small").own_error, 1.0 / 3);
  EXPECT_EQ(half.layer("digits").effect.error, 0);
  EXPECT_EQ(half.report.keeps, 1u);
  EXPECT_EQ(half.report.trial(1)->effect.error, 0);
  EXPECT_DOUBLE_EQ(half.report.trial(0)->effect.error, 1.0 / 3);
  EXPECT_EQ(brain.ranking(), "digits small");
  EXPECT_DOUBLE_EQ(brain.layer("digits").effect.error, 0x1p-8 / (1 + 0x1p-8));
  EXPECT_EQ(brain.layer("small").effect.error, 0);
  EXPECT_FALSE(brain.report.labelled);
  EXPECT_EQ(brain.report.tolerance->rtol, kUnlabelled.rtol);
  EXPECT_EQ(brain.report.keeps, 0u);  // 0.4 percent
}

// 3.001 is 1536.5 steps of float16 there: 3.001953125; of bfloat16 3. Products and their roundings are worked out on paper.
TEST(Precision, WeightsInputsAndResultAreRounded) {
  const std::string net = R"(graph "net" {
  opset 28
  input x: float32[1,1]
  const w: float32[1,1] = {3.001}
  y = Gemm(x, w) @dense
  output y
})";
  const std::vector<std::vector<Tensor>> inputs = {{row_of({1 + 0x1p-8F})}};
  EXPECT_NEAR(PrecisionCase(net, DType::Float16, inputs).layer("dense").own_error, 3.1509e-4, 1e-7);
  EXPECT_NEAR(PrecisionCase(net, DType::BFloat16, inputs).layer("dense").own_error, 4.2230e-3, 1e-6);
}

TEST(Precision, WeightsOverSixDecadesAreWorstInInt8) {
  const PrecisionCase judged(R"(graph "net" {
  opset 28
  input x: float32[1,2]
  const even: float32[2,2] = {1, 0.5, -0.25, 1}
  const wide: float32[2,2] = {1000, 1000, 0.001, 0.002}
  a = Gemm(x, even) @before
  r = Relu(a) @relu
  s = Gemm(x, wide) @wide
  t = Gemm(s, even) @behind
  y = Gemm(t, even) @last
  output y
  output r
})",
                             DType::Int8, {{row_of({0, 1})}, {row_of({0, 0.5F})}});
  EXPECT_EQ(judged.report.layers.front().nodes, std::vector<std::string>{"wide"});
  const PrecisionLayer& wide = judged.report.layers.front();
  EXPECT_EQ(wide.own_error, 1);  // 0.001 and 0.002 are 0 beside 1000
  EXPECT_EQ(wide.effect.error, 1);
  EXPECT_EQ(wide.n_parameters, 4);
  ASSERT_EQ(wide.spots.size(), 1u);
  EXPECT_EQ(wide.spots[0].role, PrecisionSpot::Role::Constant);
  EXPECT_EQ(wide.spots[0].value, "wide");
  EXPECT_EQ(wide.spots[0].loss.to_zero, 2);
  for (size_t i = 1; i < judged.report.layers.size(); ++i) EXPECT_LT(judged.report.layers[i].effect.error, 0.02);
  EXPECT_EQ(judged.layer("before").ops, (std::vector<std::string>{"Gemm", "Relu"}));
}

// 70 * 1000 is no float16; the layers behind read it, and the first of them is told apart from the rest.
constexpr const char* kOverflows = R"(graph "net" {
  opset 28
  input x: float32[1,2]
  const even: float32[2,2] = {1, 0, 0, 1}
  const large: float32[2,2] = {1000, 0, 0, 500}
  const little: float32[2,2] = {0.0009765625, 0, 0, 0.0009765625}
  a = Gemm(x, even) @before
  b = Gemm(a, large) @big
  c = Gemm(b, little) @reads
  y = Gemm(c, even) @last
  output y
})";

TEST(Precision, WhatOverflowsIsWorstInFloat16) {
  const std::vector<std::vector<Tensor>> inputs = {{row_of({70, 2})}, {row_of({2, 70})}};
  const PrecisionCase judged(kOverflows, DType::Float16, inputs);
  EXPECT_TRUE(starts_with(judged.ranking(), "big reads ")) << judged.ranking();
  const PrecisionLayer &big = judged.layer("big"), &reads = judged.layer("reads");
  EXPECT_EQ(big.effect.error, kInf);
  EXPECT_EQ(big.own_error, kInf);
  ASSERT_EQ(big.spots.size(), 1u);
  EXPECT_EQ(big.spots[0].role, PrecisionSpot::Role::Output);
  EXPECT_EQ(big.spots[0].value, "b");
  EXPECT_EQ(big.spots[0].loss.n, 4);
  EXPECT_EQ(big.spots[0].loss.to_infinity, 1);
  ASSERT_EQ(reads.spots.size(), 1u);
  EXPECT_EQ(reads.spots[0].role, PrecisionSpot::Role::Input);
  EXPECT_TRUE(judged.layer("before").spots.empty());
  EXPECT_LT(judged.layer("before").effect.error, 1e-3);
  EXPECT_TRUE(judged.report.labelled);
  EXPECT_EQ(big.effect.relabelled, std::vector<size_t>{0});  // infinity by 0 is NaN
  EXPECT_EQ(judged.report.keeps, 2u);
  EXPECT_FALSE(judged.report.trial(0)->holds);
  EXPECT_EQ(judged.report.trial(1)->effect.error, kInf);
  EXPECT_TRUE(judged.report.trial(2)->holds);
  EXPECT_TRUE(big.stays && reads.stays && !judged.layer("last").stays);
  // bfloat16 has float32's range.
  const PrecisionCase brain(kOverflows, DType::BFloat16, inputs);
  EXPECT_EQ(brain.report.keeps, 0u);
  EXPECT_TRUE(brain.layer("big").spots.empty());
}

// Labels stay, and yet an output that was finite may not become infinite.
TEST(Precision, OutputsStayFinite) {
  const PrecisionCase judged(R"(graph "net" {
  opset 28
  input x: float32[1,2]
  const even: float32[2,2] = {1, 0, 0, 1}
  const large: float32[2,2] = {1000, 0, 0, 500}
  y = Gemm(x, even) @labels
  z = Gemm(x, large) @big
  output y
  output z
})",
                             DType::Float16, {{row_of({70, 2})}});
  EXPECT_TRUE(judged.layer("big").effect.relabelled.empty());
  EXPECT_TRUE(judged.report.trial(0)->effect.relabelled.empty());
  EXPECT_EQ(judged.report.keeps, 1u);
  EXPECT_TRUE(judged.layer("big").stays);
}

// A label that changes is worse than any error.
TEST(Precision, LabelsFirst) {
  const std::string net = R"(graph "net" {
  opset 28
  input x: float32[1,2]
  const even: float32[2,2] = {1, 0, 0, 1}
  const third: float32[2,2] = {0.333, 0, 0, 0.333}
  y = Gemm(x, even) @labels
  z = Gemm(x, third) @error
  output y
  output z
})";
  // 1 + 2^-9 is 1 in bfloat16, the same as the other class.
  const PrecisionCase judged(net, DType::BFloat16, {{row_of({1, 1 + 0x1p-9F})}, {row_of({2, 1})}});
  EXPECT_EQ(judged.ranking(), "labels error");
  EXPECT_EQ(judged.layer("labels").effect.relabelled, std::vector<size_t>{0});
  EXPECT_LT(judged.layer("labels").effect.error, judged.layer("error").effect.error);
  EXPECT_EQ(judged.report.keeps, 1u);
  EXPECT_EQ(judged.report.trial(0)->effect.relabelled, std::vector<size_t>{0});
}

// A layer may make several values: all are rounded, and what follows reads both.
TEST(Precision, LayersOfSeveralOutputs) {
  const std::string net = R"(graph "net" {
  opset 28
  input x: float32[2,1,1]
  const w: float32[1,4,1] = {0.3, 0.4, 0.5, 0.6}
  const r: float32[1,4,1] = {0.1, 0.2, 0.3, 0.4}
  const k: float32[] = {1.001}
  y, h = LSTM(x, w, r) @lstm {hidden_size = 1}
  z = Mul(h, k) @scaled
  output y
  output z
})";
  for (const char* device : {"reference", "cpu"}) {
    const PrecisionCase judged(net, DType::BFloat16, {{Tensor::of<float>({2, 1, 1}, {1.001F, 0.7F})}}, 1, device);
    EXPECT_EQ(judged.report.layers.size(), 2u);
    EXPECT_GT(judged.layer("lstm").own_error, 1e-4);
    EXPECT_LT(judged.layer("lstm").own_error, 0x1p-7);
    EXPECT_GT(judged.layer("scaled").effect.error, 0);
    EXPECT_NEAR(judged.layer("lstm").effect.error, judged.layer("lstm").own_error, 5e-3);
  }
}

// Outputs that are integers move, too.
TEST(Precision, IntegerOutputsCount) {
  const PrecisionCase judged(R"(graph "net" {
  opset 28
  input x: float32[1,2]
  const w: float32[2,2] = {1, 0, 0, 1}
  const k: float32[] = {1000}
  d = Gemm(x, w) @dense
  m = Mul(d, k) @scaled
  y = Cast(m) {to = 7}
  output y
})",
                             DType::BFloat16, {{row_of({1.001F, 3})}});
  EXPECT_GT(judged.report.trial(0)->effect.error, 0);
  EXPECT_GT(judged.layer("dense").effect.error, 0);
}

// Outputs that are NaN before anything is rounded tell nothing.
TEST(Precision, NanInFloat32IsRefused) {
  const std::string net = R"(graph "net" {
  opset 28
  input x: float32[1,2]
  const w: float32[2,2] = {1, 0, 0, 1}
  y = Gemm(x, w) @dense
  output y
})";
  try {
    const PrecisionCase judged(net, DType::Float16, {{row_of({1, std::nanf("")})}});
    ADD_FAILURE() << "judged";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Negative);
    EXPECT_NE(std::string(e.what()).find("NaN in float32 already"), std::string::npos) << e.what();
  }
}

// What holds a subgraph is left in float32, and said so.
TEST(Precision, SubgraphsAreLeftAlone) {
  const PrecisionCase judged(R"(graph "net" {
  opset 28
  input x: float32[1,2]
  const w: float32[2,2] = {1, 0.3, 0, 1}
  const c: bool[] = {true}
  a = Gemm(x, w) @dense
  y = If(c) @choice {then_branch = graph {
    capture a: float32[1,2]
    t = Exp(a) @e
    output t
  }, else_branch = graph {
    capture a: float32[1,2]
    f = Neg(a) @n
    output f
  }}
  output y
})",
                             DType::BFloat16, {{row_of({1, 0.7F})}});
  EXPECT_EQ(judged.ranking(), "dense");
  EXPECT_EQ(judged.report.left_alone, std::vector<std::string>{"choice"});
}

TEST(Precision, TheSameOnAnyNumberOfThreadsAndOnTheCpu) {
  PrecisionRequest request;
  request.model = "sample/shapes.onnx";
  request.inputs = {"sample/images/star/00.png", "sample/images/ring/01.png", "sample/images/cross/tie02.png"};
  request.preprocess = "imagenet-torch";
  request.folders.compile.build.cache_folder = test_cache();
  request.search.dtype = DType::Int8;
  const auto at = [&](const std::string& device, int threads) {
    request.network.device = device;
    request.threads = threads;
    JudgedPrecision judged = judge_precision_of(request);
    judged.device = "";
    return precision_json(judged);
  };
  const std::string expected = at("cpu", 1);
  EXPECT_EQ(at("cpu", 3), expected);
  EXPECT_EQ(at("reference", 2), expected);
}

TEST(Precision, WhatCannotBeRounded) {
  const auto judge = [](const std::string& text, const std::vector<std::vector<Tensor>>& inputs) {
    return PrecisionCase(text, DType::Float16, inputs).report;
  };
  try {
    judge(R"(graph "net" {
  opset 28
  input x: float32[1,2]
  y = Relu(x) @relu
  output y
})",
          {{row_of({1, 2})}});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Unsupported);
    EXPECT_STREQ(e.what(), "the model has no layer that computes in float32");
  }
  EXPECT_THROW(judge(kOverflows, {}), Error);
  EXPECT_THROW(precision_dtype("float32"), Error);
}

}  // namespace
}  // namespace dnn
