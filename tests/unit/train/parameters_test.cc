// Parameters: what is trained, what a frozen layer keeps, what stays; and heads behind features that lie along the last axis.
#include "train/parameters.h"

#include <gtest/gtest.h>

#include "graph/text.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "train/head.h"

namespace dnn::train {
namespace {

Graph parsed(const std::string& text) {
  Graph graph = parse_graph(text);
  infer_types(graph);
  return graph;
}

std::vector<std::string> names_of(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<std::string> names;
  for (ValueId v : values) names.push_back(graph.value(v).name);
  return names;
}

std::vector<std::string> trained_names(const Graph& graph, const Frozen& frozen) {
  std::vector<ValueId> values;
  for (const Parameter& parameter : find_parameters(graph, frozen).parameters) values.push_back(parameter.value);
  return names_of(graph, values);
}

// Two layers that share their weights, and constants that belong to none.
Graph shared_network() {
  return parsed(R"(graph "g" {
  input x: float32[2,4]
  const w: float32[4,4] = random(1)
  const b: float32[4] = random(2)
  const factor: float32[4] = random(3)
  const one: float32[] = {1}
  a = Gemm(x, w, b) @first
  m = Mul(a, factor)
  n = Add(m, one)
  y = Gemm(n, w) @second
  output y
})");
}

TEST(Parameters, AFrozenLayersAreNotTrainedByAnother) {
  const Graph graph = shared_network();
  EXPECT_EQ(trained_names(graph, {}), (std::vector<std::string>{"w", "b"}));
  EXPECT_EQ(trained_names(graph, frozen_layers(graph, {"second"})), (std::vector<std::string>{"b"}));
  EXPECT_EQ(trained_names(graph, frozen_layers(graph, {"first"})), (std::vector<std::string>{}));
}

TEST(Parameters, WhatStaysIsKnown) {
  const Graph graph = shared_network();
  EXPECT_EQ(names_of(graph, untrained_numbers(graph, find_parameters(graph, {}), {})),
            (std::vector<std::string>{"factor"}));
  const Frozen all = frozen_layers(graph, {"*"});
  EXPECT_TRUE(untrained_numbers(graph, find_parameters(graph, all), all).empty());
}

TEST(Parameters, OfDifferentRolesAreConstantsOfTheirOwn) {
  Graph graph = parsed(R"(graph "g" {
  input x: float32[2,4,3,3]
  const w: float32[4,4,1,1] = random(1)
  const v: float32[4,4,1,1] = random(2)
  const zero: float32[4] = {0, 0, 0, 0}
  const one: float32[4] = {1, 1, 1, 1}
  const some: float32[4] = random(3)
  a = Conv(x, w, zero)
  b = BatchNormalization(a, one, zero, zero, one)
  c = Conv(b, v, zero)
  d = Conv(c, w, zero)
  e = BatchNormalization(d, some, some, zero, one)
  y = BatchNormalization(e, some, zero, zero, one)
  output y
})");
  std::vector<Tensor> x = {Tensor(DType::Float32, {2, 4, 3, 3})};
  for (int64_t i = 0; i < x[0].size(); ++i) x[0].mutable_data<float>()[i] = 0.1F * static_cast<float>(i);
  const Tensor before = interpret(graph, x)[0];
  separate_constants(graph);
  infer_types(graph);
  std::vector<std::string> read;
  for (NodeId id : graph.order()) {
    std::vector<std::string> names = names_of(graph, graph.node(id).inputs);
    names.erase(names.begin());
    read.push_back(dnn::join(names, " "));
  }
  EXPECT_EQ(dnn::join(read, "\n"),
            "w zero\n"
            "one zero/b zero/b_1 one/b\n"
            "v zero/c\n"
            "w zero\n"
            "some some/e zero/e one/e\n"
            "some zero/y zero/y_1 one/y");
  EXPECT_EQ(to_doubles(interpret(graph, x)[0]), to_doubles(before));
}

TEST(Parameters, ADropoutWithoutARatioDropsHalf) {
  const Graph graph = parsed(R"(graph "g" {
  input x: float32[2,4]
  const tenth: float32[] = {0.1}
  a = Dropout(x) @half
  y = Dropout(a, tenth) @tenth
  output y
})");
  EXPECT_EQ(dropout_ratio(graph, graph.node(graph.order()[0])), 0.5);
  EXPECT_NEAR(dropout_ratio(graph, graph.node(graph.order()[1])), 0.1, 1e-7);
  EXPECT_EQ(find_parameters(graph, {}).dropouts.size(), 2U);
}

// [N, 1, 1, C] and [N, T, C] in front of a dense layer: C features, each the mean over the positions.
TEST(Head, FeaturesOfAProductLieAlongTheLastAxis) {
  for (const char* shape : {"2,1,1,3", "2,5,3"}) {
    const Graph graph = parsed(cat(
        "graph \"g\" {\n  input x: float32[", shape,
        "]\n  const w: float32[3,4] = random(1)\n  p = Relu(x)\n  m = MatMul(p, w)\n  y = Softmax(m)\n  output y\n}"));
    const Graph features = take_head_off(graph);
    const Type& type = features.value(features.outputs[0]).type;
    EXPECT_EQ(type.text(), "float32[2,3]") << shape;
    Tensor x(DType::Float32, graph.value(graph.inputs[0]).type.fixed_shape());
    for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = static_cast<float>(i);
    const std::vector<double> got = to_doubles(interpret(features, {x})[0]);
    const int64_t positions = x.size() / 6;
    for (size_t c = 0; c < 3; ++c)
      EXPECT_EQ(got[c], static_cast<double>(c) + 3 * static_cast<double>(positions - 1) / 2) << shape;
  }
  const Graph convolution = take_head_off(parsed(R"(graph "g" {
  input x: float32[2,3,4,4]
  const w: float32[5,3,1,1] = random(1)
  c = Conv(x, w)
  y = GlobalAveragePool(c)
  output y
})"));
  EXPECT_EQ(convolution.value(convolution.outputs[0]).type.text(), "float32[2,3]");
}

TEST(Init, NormsAndSlopesBeginAnew) {
  for (const char* type : {"float32", "float64"}) {
    Graph graph = parsed(cat(R"(graph "g" {
  input x: )",
                             type, R"([2,4]
  const scale: )",
                             type, R"([4] = random(1)
  const bias: )",
                             type, R"([4] = random(2)
  const slope: )",
                             type, R"([4] = random(3)
  const w: )",
                             type, R"([4,3] = random(4)
  a = LayerNormalization(x, scale, bias)
  b = PRelu(a, slope)
  y = MatMul(b, w)
  output y
})"));
    const Tensor before = *graph.constant(graph.find_value("w"));
    draw_weights(graph, Init::Torch, 1);
    for (const auto& [name, value] : {std::pair("scale", 1.0), std::pair("bias", 0.0), std::pair("slope", 0.25)}) {
      for (double x : to_doubles(*graph.constant(graph.find_value(name)))) EXPECT_EQ(x, value) << name;
    }
    EXPECT_FALSE(graph.constant(graph.find_value("w"))->identical(before)) << type;
  }
}

}  // namespace
}  // namespace dnn::train
