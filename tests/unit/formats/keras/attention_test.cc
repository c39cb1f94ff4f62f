// Attention as Keras layers and back: MultiHeadAttention in .keras, a layer per head in .h5, and the weights of both.
#include <gtest/gtest.h>

#include <cmath>

#include "formats/keras/export.h"
#include "graph/text.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "passes/pass.h"
#include "tensor/compare.h"
#include "unit/formats/keras/model_builder.h"

namespace dnn::keras {
namespace {

Tensor ramp(const Shape& shape, int64_t step) {
  Tensor t(DType::Float32, shape);
  for (int64_t i = 0; i < t.size(); ++i)
    t.mutable_data<float>()[i] = static_cast<float>((i * step + 5) % 31) / 11 - 1.2f;
  return t;
}

// Two heads: keys of 3 places, values of 2; what is asked with is not what is asked.
std::string body_of(const std::string& attributes, const std::string& rest) {
  return R"(graph "g" {
  opset 21
  input x: float32[N,5,6]
  input c: float32[N,4,7]
  const wq: float32[6,6] = random(1)
  const bq: float32[6] = random(2)
  const wk: float32[7,6] = random(3)
  const wv: float32[7,4] = random(4)
  const bv: float32[4] = random(5)
  const wo: float32[4,8] = random(6)
  const bo: float32[8] = random(7)
  q0 = MatMul(x, wq)
  q = Add(q0, bq)
  k = MatMul(c, wk)
  v0 = MatMul(c, wv)
  v = Add(v0, bv)
  a = Attention(q, k, v) @mixer {q_num_heads = 2, kv_num_heads = 2)" +
         attributes + "}\n" + rest + "  output y\n}\n";
}

constexpr const char* kProjected = "  o = MatMul(a, wo)\n  y = Add(o, bo)\n";

Graph typed(const std::string& text) {
  Graph graph = parse_graph(text);
  infer_types(graph);
  return graph;
}

std::string different_classes_of(const Graph& graph, Dialect dialect) {
  std::vector<std::string> names;
  const Plan plan = plan_model(graph, dialect);
  for (const WrittenLayer& layer : plan.layers()) {
    if (names.empty() || names.back() != layer.class_name) names.push_back(layer.class_name);
  }
  return join(names, " ");
}

// Written and read again: the same numbers, but for the last bits.
Graph again(const Graph& graph, Dialect dialect) {
  Graph back =
      read_text((dialect == Dialect::Keras3 ? to_files(graph, {}) : keras_h5::to_files(graph, {}))[0].bytes.text());
  const std::vector<Tensor> inputs = {ramp({2, 5, 6}, 29), ramp({2, 4, 7}, 23)};
  const std::vector<Tensor> before = interpret(graph, inputs), now = interpret(back, inputs);
  EXPECT_EQ(before[0].shape(), now[0].shape());
  EXPECT_LE(compare(before[0], now[0]).relative(), 3e-6) << to_text(back);
  return back;
}

TEST(KerasAttention, IsOneLayerInKeras3) {
  const Graph graph = typed(body_of("", kProjected));
  EXPECT_EQ(different_classes_of(graph, Dialect::Keras3), "InputLayer MultiHeadAttention");
  const Graph back = again(graph, Dialect::Keras3);
  for (const char* name : {"wq", "bq", "wk", "wv", "bv", "wo", "bo"})
    EXPECT_NE(back.find_value(name), kNoValue) << name;
  EXPECT_EQ(to_doubles(*graph.constant(graph.find_value("wk"))), to_doubles(*back.constant(back.find_value("wk"))));
}

TEST(KerasAttention, IsALayerPerHeadInH5) {
  const Graph graph = typed(body_of("", kProjected));
  EXPECT_EQ(different_classes_of(graph, Dialect::Keras2), "InputLayer Dense Attention Concatenate Dense");
  again(graph, Dialect::Keras2);
}

TEST(KerasAttention, AnotherScaleGoesIntoTheQueries) {
  const Graph graph = typed(body_of(", scale = 0.3", kProjected));
  again(graph, Dialect::Keras3);
  again(graph, Dialect::Keras2);
}

TEST(KerasAttention, WithoutADenseLayerBehindIt) {
  const Graph graph = typed(body_of("", "  y = Relu(a)\n"));
  EXPECT_EQ(different_classes_of(graph, Dialect::Keras3), "InputLayer Dense Attention Concatenate ReLU");
  again(graph, Dialect::Keras3);
}

// What is read as products of matrices is one Attention again, of the weights that it came with.
TEST(KerasAttention, ComesBackToTheBit) {
  const Graph graph = typed(body_of("", kProjected));
  Graph back = again(graph, Dialect::Keras3);
  PassOptions options;
  options.changes = "only:recognize-attention";
  run_passes(back, options);
  EXPECT_EQ(different_classes_of(back, Dialect::Keras3), "InputLayer MultiHeadAttention");
  const Graph twice = again(back, Dialect::Keras3);
  for (const char* name : {"wq", "bq", "wk", "wv", "bv", "wo", "bo"}) {
    ASSERT_NE(twice.find_value(name), kNoValue) << name;
    EXPECT_EQ(to_doubles(*graph.constant(graph.find_value(name))), to_doubles(*twice.constant(twice.find_value(name))));
  }
}

TEST(KerasAttention, WhatHasNoDenseLayersIsRefused) {
  const Graph graph = typed(R"(graph "g" {
  opset 21
  input x: float32[N,5,6]
  y = Attention(x, x, x) {q_num_heads = 2, kv_num_heads = 2}
  output y
}
)");
  EXPECT_THROW(to_files(graph, {}), Error);
}

// A class token before the places of a sequence, as many as the batch has samples.
TEST(KerasAttention, TokensForABatchOfAnySize) {
  const Graph graph = typed(R"(graph "g" {
  opset 21
  input x: float32[N,5,6]
  input c: float32[N,4,7]
  const token: float32[1,1,6] = random(1)
  const places: float32[1,6,6] = random(2)
  const rest: int64[2] = {1, 1}
  s = Shape(x) {start = 0, end = 1}
  t = Concat(s, rest) {axis = 0}
  e = Expand(token, t)
  j = Concat(e, x) {axis = 1}
  y = Add(j, places)
  output y
}
)");
  again(graph, Dialect::Keras3);
  again(graph, Dialect::Keras2);
}

}  // namespace
}  // namespace dnn::keras
