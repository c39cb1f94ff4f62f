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

// A layer that reads x [N,3,2], y [N,4,2] and a mask of y, in a file of Keras 3.
std::string masked_file(const std::string& class_name, const std::string& config, const std::string& args,
                        const std::string& kwargs, const std::vector<std::pair<std::string, Tensor>>& weights,
                        size_t outputs = 1) {
  const auto input = [](const char* name, const std::string& shape, const char* dtype) {
    return cat(R"({"module": "keras.layers", "class_name": "InputLayer", "name": ")", name,
               R"(", "config": {"name": ")", name, R"(", "batch_shape": )", shape, R"(, "dtype": ")", dtype,
               R"("}, "inbound_nodes": []}, )");
  };
  std::string results;
  for (size_t i = 0; i < outputs; ++i) results += cat(i == 0 ? "" : ", ", R"(["a", 0, )", i, "]");
  const std::string text = cat(
      R"({"module": "keras.src.models.functional", "class_name": "Functional", "config": {"name": "m", "layers": [)",
      input("x", "[null, 3, 2]", "float32"), input("y", "[null, 4, 2]", "float32"), input("m", "[null, 4]", "bool"),
      R"({"module": "keras.layers", "class_name": ")", class_name,
      R"(", "name": "a", "config": {"name": "a", "trainable": true)", config, R"(}, "inbound_nodes": [{"args": [)",
      args, R"(], "kwargs": {)", kwargs,
      R"(}}]}], "input_layers": [["x", 0, 0], ["y", 0, 0], ["m", 0, 0]], "output_layers": [)", results, "]}}");
  return keras_file(text, weights);
}

std::string tensor_of(const std::string& layer) {
  return cat(R"({"class_name": "__keras_tensor__", "config": {"shape": [], "dtype": "float32", "keras_history": [")",
             layer, R"(", 0, 0]}})");
}

// Weights as the layer has them, each a ramp of a step of its own.
std::vector<std::pair<std::string, Tensor>> ramps(const std::string& group,
                                                  const std::vector<std::pair<std::string, Shape>>& shapes) {
  std::vector<std::pair<std::string, Tensor>> weights;
  for (const auto& [path, shape] : shapes)
    weights.emplace_back(cat("layers/", group, "/", path), ramp(shape, 7 + 3 * std::ssize(weights)));
  return weights;
}

void expect_keras_answer(const std::string& file, const std::vector<std::vector<float>>& expected) {
  Tensor seen(DType::Bool, {1, 4});
  for (int64_t i = 0; i < 4; ++i) seen.mutable_data<bool>()[i] = i != 1;
  const Graph graph = read_text(file);
  const std::vector<Tensor> inputs = {ramp({1, 3, 2}, 29), ramp({1, 4, 2}, 23), seen};
  const std::vector<Tensor> got = interpret(graph, inputs);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t k = 0; k < expected.size(); ++k) {
    ASSERT_EQ(got[k].size(), std::ssize(expected[k]));
    for (size_t i = 0; i < expected[k].size(); ++i) EXPECT_NEAR(to_doubles(got[k])[i], expected[k][i], 2e-6) << i;
  }
}

// Numbers of Keras 3.15.
TEST(KerasAttention, MasksHideKeysAsInKeras) {
  const std::string both = cat("[", tensor_of("x"), ", ", tensor_of("y"), "]"),
                    swapped = cat("[", tensor_of("y"), ", ", tensor_of("x"), "]"),
                    apart = cat(tensor_of("x"), ", ", tensor_of("y"));
  expect_keras_answer(masked_file("Attention", R"(, "use_scale": true, "score_mode": "concat", "dropout": 0.0)", both,
                                  cat(R"("mask": [null, )", tensor_of("m"), R"(], "use_causal_mask": true)"),
                                  ramps("attention", {{"vars/0", {}}, {"vars/1", {}}})),
                      {{-0.7454545F, 1.345455F, -0.7454545F, 1.345455F, -0.7898261F, 1.301083F}});
  expect_keras_answer(masked_file("Attention", "", both, R"("return_attention_scores": true)", {}, 2),
                      {{-0.0003100517F, 0.4495656F, -0.7582152F, 1.266912F, -0.05555081F, 0.5262854F},
                       {0.193F, 0.2690565F, 0.2246978F, 0.3132457F, 0.4976102F, 0.01189279F, 0.4790478F, 0.01144916F,
                        0.2586363F, 0.2981425F, 0.2058862F, 0.2373349F}});
  expect_keras_answer(masked_file("AdditiveAttention", "", swapped, cat(R"("mask": [)", tensor_of("m"), ", null]"),
                                  ramps("additive_attention", {{"vars/0", {2}}})),
                      {{-0.6073331F, 0.4054237F, 0, 0, -0.5958081F, 0.4020264F, -0.5967643F, 0.451777F}});
  expect_keras_answer(masked_file("MultiHeadAttention", R"(, "num_heads": 2, "key_dim": 2)", apart,
                                  cat(R"("value_mask": )", tensor_of("m"), R"(, "use_causal_mask": true)"),
                                  ramps("multi_head_attention", {{"query_dense/vars/0", {2, 2, 2}},
                                                                 {"query_dense/vars/1", {2, 2}},
                                                                 {"key_dense/vars/0", {2, 2, 2}},
                                                                 {"key_dense/vars/1", {2, 2}},
                                                                 {"value_dense/vars/0", {2, 2, 2}},
                                                                 {"value_dense/vars/1", {2, 2}},
                                                                 {"output_dense/vars/0", {2, 2, 2}},
                                                                 {"output_dense/vars/1", {2}}})),
                      {{-2.324225F, -1.035991F, -2.324225F, -1.035991F, -2.412405F, -0.9350851F}});
  expect_keras_answer(
      masked_file("GroupQueryAttention", R"(, "head_dim": 2, "num_query_heads": 2, "num_key_value_heads": 1)", apart,
                  cat(R"("value_mask": )", tensor_of("m")),
                  ramps("grouped_query_attention", {{"_query_dense/vars/0", {2, 2, 2}},
                                                    {"_query_dense/vars/1", {2, 2}},
                                                    {"_key_dense/vars/0", {2, 1, 2}},
                                                    {"_key_dense/vars/1", {1, 2}},
                                                    {"_value_dense/vars/0", {2, 1, 2}},
                                                    {"_value_dense/vars/1", {1, 2}},
                                                    {"_output_dense/vars/0", {2, 2, 2}},
                                                    {"_output_dense/vars/1", {2}}})),
      {{0.9133484F, -2.166777F, -1.034439F, -1.458489F, -2.816413F, 0.08531785F}});
}

}  // namespace
}  // namespace dnn::keras
