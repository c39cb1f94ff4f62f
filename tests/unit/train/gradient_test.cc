// Gradients of operators against central differences in float64, on random shapes and values; ties and refusals.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "interp/interpreter.h"
#include "ops/op.h"
#include "train/differentiate.h"

namespace dnn::train {
namespace {

using Ints = std::vector<int64_t>;
constexpr double kStep = 1e-5, kTolerance = 2e-6;

Tensor random_tensor(std::mt19937& random, const Shape& shape, double low, double high) {
  Tensor tensor(DType::Float64, shape);
  std::uniform_real_distribution<double> draw(low, high);
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.mutable_data<double>()[i] = draw(random);
  return tensor;
}

// One operator with float inputs to differentiate by, and constant inputs.
struct Case {
  std::string op;
  std::vector<Shape> inputs;
  Attributes attributes = {};
  std::vector<Tensor> constants = {};  // after the inputs; undefined: left out
  double low = -2, high = 2;
  size_t outputs = 1;
  std::string domain = {};
  bool constants_first = false;
};

// loss = sum of (each output * random weights), so that every output element counts differently.
void check_with_seed(const Case& c, unsigned seed) {
  std::mt19937 random(seed);
  NewGraph net;
  std::vector<ValueId> inputs;
  std::vector<Tensor> values;
  for (const Shape& shape : c.inputs) {
    inputs.push_back(net.input("x", Type(random_tensor(random, shape, c.low, c.high))));
    values.push_back(random_tensor(random, shape, c.low, c.high));
  }
  std::vector<ValueId> wired = inputs, constants;
  for (const Tensor& constant : c.constants)
    constants.push_back(constant.defined() ? net.store("constant", constant) : kNoValue);
  wired.insert(c.constants_first ? wired.begin() : wired.end(), constants.begin(), constants.end());
  Node node;
  node.op = c.op;
  node.domain = c.domain;
  node.inputs = wired;
  node.attributes = c.attributes;
  std::vector<std::string> names;
  for (size_t i = 0; i < c.outputs; ++i) names.push_back(cat("y", i));
  const std::vector<ValueId> outputs = net.add(std::move(node), names);
  ValueId loss = kNoValue;
  for (ValueId y : outputs) {
    const ValueId weights = net.store("weights", random_tensor(random, net.shape(y), 0.5, 1.5));
    const ValueId part = net.emit("ReduceSum", {net.emit("Mul", {y, weights})}, {{"keepdims", int64_t{0}}});
    loss = loss == kNoValue ? part : net.emit("Add", {loss, part});
  }
  const std::vector<ValueId> gradients = add_gradients(net, loss, inputs);
  net.output(loss, "loss");
  for (size_t i = 0; i < gradients.size(); ++i) {
    ASSERT_EQ(net.shape(gradients[i]), c.inputs[i]) << c.op << " input " << i;
    net.output(gradients[i], cat("gradient", i));
  }
  const Graph graph = net.finish();
  const std::vector<Tensor> results = interpret(graph, values);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& got = results[i + 1];
    for (int64_t k = 0; k < got.size(); ++k) {
      const auto loss_at = [&](double by) {
        std::vector<Tensor> moved = values;
        moved[i].mutable_data<double>()[k] += by;
        return interpret(graph, moved)[0].data<double>()[0];
      };
      const double expected = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
      ASSERT_NEAR(got.data<double>()[k], expected, kTolerance * std::max(1.0, std::abs(expected)))
          << c.op << " input " << i << " element " << k << " seed " << seed;
    }
  }
}

// Checks a case, or only notes whose it is.
struct Check {
  std::set<std::string>* names = nullptr;
  void operator()(const Case& c, unsigned seeds = 3) const {
    if (names != nullptr) {
      names->insert(c.domain.empty() ? c.op : c.domain + "." + c.op);
      return;
    }
    for (unsigned seed = 1; seed <= seeds; ++seed) check_with_seed(c, seed);
  }
};

Tensor ints(const Ints& values) { return Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values); }
Tensor number(double value) { return Tensor::scalar(value); }

void element_wise(const Check& check) {
  for (const char* op : {"Relu",        "Elu",       "Selu",      "Celu",    "Gelu",     "Mish",     "Swish",
                         "HardSigmoid", "HardSwish", "LeakyRelu", "Sigmoid", "Softplus", "Softsign", "ThresholdedRelu",
                         "Abs",         "Neg",       "Exp",       "Erf",     "Sin",      "Cos",      "Tanh",
                         "Sinh",        "Cosh",      "Atan",      "Asinh"})
    check({.op = op, .inputs = {{2, 3, 4}}});
  for (const char* op : {"Log", "Sqrt", "Reciprocal"}) check({.op = op, .inputs = {{3, 4}}, .low = 0.5, .high = 3});
  for (const char* op : {"Asin", "Acos", "Atanh", "Tan"}) check({.op = op, .inputs = {{7}}, .low = -0.8, .high = 0.8});
  check({.op = "Acosh", .inputs = {{7}}, .low = 1.5, .high = 3});
  check({.op = "Gelu", .inputs = {{5}}, .attributes = {{"approximate", std::string("tanh")}}});
  check({.op = "Swish", .inputs = {{5}}, .attributes = {{"alpha", 0.5F}}});
  check({.op = "Shrink", .inputs = {{9}}, .attributes = {{"lambd", 0.7F}, {"bias", 0.3F}}});
  for (const char* op : {"Floor", "Ceil", "Round", "Sign"}) check({.op = op, .inputs = {{5}}});
}

void two_operands(const Check& check) {
  for (const char* op : {"Add", "Sub", "Mul"}) {
    check({.op = op, .inputs = {{2, 3, 4}, {3, 1}}});
    check({.op = op, .inputs = {{4}, {2, 3, 4}}});
    check({.op = op, .inputs = {{2, 1, 4}, {1, 3, 1}}});
    check({.op = op, .inputs = {{}, {2, 3}}});
  }
  check({.op = "Div", .inputs = {{2, 3, 4}, {3, 1}}, .low = 0.5, .high = 2});
  check({.op = "Pow", .inputs = {{2, 3}, {3}}, .low = 0.5, .high = 2});
  check({.op = "PRelu", .inputs = {{2, 3, 4}, {3, 1}}});
  for (const char* op : {"Max", "Min", "Sum", "Mean"}) check({.op = op, .inputs = {{2, 3}, {3}, {2, 1}}});
}

void two_branches(const Check& check) {
  Tensor condition(DType::Bool, {2, 3});
  for (int64_t i = 0; i < condition.size(); i += 2) condition.mutable_data<bool>()[i] = true;
  check({.op = "Where", .inputs = {{2, 3}, {3}}, .constants = {condition}, .constants_first = true});
  check({.op = "SwiGLU", .inputs = {{2, 3}, {2, 3}}});
}

void clip(const Check& check) {
  check({.op = "Clip", .inputs = {{4, 5}}, .constants = {number(-0.7), number(0.9)}});
  check({.op = "Clip", .inputs = {{4, 5}}, .constants = {Tensor(), number(0.9)}});
  check({.op = "Clip", .inputs = {{4, 5}}});
}

void convolutions(const Check& check) {
  const auto conv = [&](Shape x, Shape w, Attributes attributes, bool bias = true) {
    const Shape b = {w[0]};
    std::vector<Shape> inputs = {std::move(x), std::move(w)};
    if (bias) inputs.push_back(b);
    check({.op = "Conv", .inputs = std::move(inputs), .attributes = std::move(attributes)}, 1);
  };
  conv({2, 3, 5, 6}, {4, 3, 3, 3}, {});
  conv({2, 3, 5, 6}, {4, 3, 3, 2}, {{"pads", Ints{1, 0, 2, 1}}, {"strides", Ints{2, 1}}});
  conv({1, 4, 7, 6}, {6, 2, 3, 3}, {{"group", int64_t{2}}, {"strides", Ints{3, 2}}, {"pads", Ints{1, 1, 1, 1}}});
  conv({2, 3, 6, 6}, {3, 1, 3, 3}, {{"group", int64_t{3}}, {"pads", Ints{1, 1, 1, 1}}}, false);
  conv({2, 2, 7, 7}, {4, 1, 3, 3}, {{"group", int64_t{2}}, {"strides", Ints{2, 2}}, {"pads", Ints{0, 0, 1, 1}}});
  conv({1, 2, 8, 7}, {3, 2, 2, 3}, {{"dilations", Ints{3, 2}}, {"pads", Ints{2, 1, 0, 1}}});
  conv({2, 3, 5, 5}, {4, 3, 1, 1}, {{"strides", Ints{2, 2}}});
  conv({2, 3, 6, 5}, {4, 3, 1, 1}, {{"strides", Ints{2, 2}}, {"pads", Ints{1, 0, 0, 1}}});
  conv({2, 3, 6, 6}, {2, 3, 3, 3}, {{"auto_pad", std::string("SAME_UPPER")}, {"strides", Ints{2, 2}}});
  conv({2, 3, 9}, {4, 3, 4}, {{"strides", Ints{3}}});
  conv({1, 2, 3, 4, 3}, {2, 2, 2, 2, 2}, {{"pads", Ints{1, 0, 0, 0, 1, 0}}});
}

void transposed_convolutions(const Check& check) {
  check({.op = "ConvTranspose", .inputs = {{2, 3, 4, 5}, {3, 2, 3, 3}, {2}}}, 1);
  check({.op = "ConvTranspose",
         .inputs = {{1, 4, 3, 3}, {4, 1, 3, 2}},
         .attributes = {{"group", int64_t{2}},
                        {"strides", Ints{2, 3}},
                        {"pads", Ints{1, 0, 0, 1}},
                        {"output_padding", Ints{1, 0}}}},
        1);
}

void products(const Check& check) {
  check({.op = "MatMul", .inputs = {{3, 4}, {4, 5}}});
  check({.op = "MatMul", .inputs = {{2, 1, 3, 4}, {5, 4, 2}}});
  check({.op = "MatMul", .inputs = {{4}, {4, 5}}});
  check({.op = "MatMul", .inputs = {{2, 3, 4}, {4}}});
  check({.op = "MatMul", .inputs = {{4}, {4}}});
  for (int64_t a : {0, 1}) {
    for (int64_t b : {0, 1}) {
      check({.op = "Gemm",
             .inputs = {a ? Shape{4, 3} : Shape{3, 4}, b ? Shape{5, 4} : Shape{4, 5}, {5}},
             .attributes = {{"transA", a}, {"transB", b}, {"alpha", 0.5F}, {"beta", 2.0F}}});
    }
  }
}

void pools(const Check& check) {
  check({.op = "AveragePool", .inputs = {{2, 2, 5, 6}}, .attributes = {{"kernel_shape", Ints{2, 3}}}});
  check({.op = "AveragePool",
         .inputs = {{1, 2, 7, 6}},
         .attributes = {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 0, 1}}}});
  check({.op = "AveragePool",
         .inputs = {{1, 2, 7, 6}},
         .attributes = {{"kernel_shape", Ints{3, 3}},
                        {"strides", Ints{2, 2}},
                        {"pads", Ints{1, 1, 1, 1}},
                        {"ceil_mode", int64_t{1}},
                        {"count_include_pad", int64_t{1}}}});
  check({.op = "MaxPool", .inputs = {{2, 2, 5, 6}}, .attributes = {{"kernel_shape", Ints{2, 3}}}});
  check({.op = "MaxPool",
         .inputs = {{1, 2, 7, 6}},
         .attributes = {{"kernel_shape", Ints{3, 3}},
                        {"strides", Ints{2, 2}},
                        {"pads", Ints{1, 1, 1, 1}},
                        {"ceil_mode", int64_t{1}}}});
  check({.op = "MaxPool",
         .inputs = {{1, 1, 7, 7}},
         .attributes = {{"kernel_shape", Ints{2, 2}}, {"dilations", Ints{2, 3}}}});
  check({.op = "GlobalAveragePool", .inputs = {{2, 3, 4, 5}}});
}

void softmax_and_reductions(const Check& check) {
  for (int64_t axis : {-1, 1}) {
    check({.op = "Softmax", .inputs = {{2, 3, 4}}, .attributes = {{"axis", axis}}});
    check({.op = "LogSoftmax", .inputs = {{2, 3, 4}}, .attributes = {{"axis", axis}}});
  }
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceSumSquare", "ReduceL2", "ReduceL1", "ReduceLogSumExp"}) {
    check({.op = op, .inputs = {{2, 3, 4}}, .constants = {ints({0, -1})}});
    check({.op = op, .inputs = {{2, 3, 4}}, .attributes = {{"keepdims", int64_t{0}}}, .constants = {ints({1})}});
    check({.op = op, .inputs = {{2, 3}}});
  }
  check({.op = "ReduceLogSum", .inputs = {{2, 3}}, .constants = {ints({1})}, .low = 0.5, .high = 2});
}

void movement(const Check& check) {
  check({.op = "Reshape", .inputs = {{2, 3, 4}}, .constants = {ints({4, 6})}});
  check({.op = "Flatten", .inputs = {{2, 3, 4}}});
  check({.op = "Squeeze", .inputs = {{2, 1, 4}}, .constants = {ints({1})}});
  check({.op = "Unsqueeze", .inputs = {{2, 4}}, .constants = {ints({0, 2})}});
  check({.op = "Transpose", .inputs = {{2, 3, 4}}, .attributes = {{"perm", Ints{2, 0, 1}}}});
  check({.op = "Transpose", .inputs = {{2, 3, 4}}});
  check({.op = "Concat", .inputs = {{2, 1, 3}, {2, 2, 3}, {2, 4, 3}}, .attributes = {{"axis", int64_t{-2}}}});
  check({.op = "Split",
         .inputs = {{2, 7}},
         .attributes = {{"axis", int64_t{1}}},
         .constants = {ints({2, 4, 1})},
         .outputs = 3});
  check({.op = "Gather", .inputs = {{3, 5, 2}}, .attributes = {{"axis", int64_t{1}}}, .constants = {ints({3, 0, 1})}});
  check({.op = "Gather", .inputs = {{4, 3}}, .constants = {ints({-1, 0, 3, 1, 3, 3})}});  // some thrice, one never
  check({.op = "Gather",
         .inputs = {{3, 4}},
         .attributes = {{"axis", int64_t{-1}}},
         .constants = {Tensor::of<int64_t>({2, 2}, {2, 0, 1, 2})}});
  check({.op = "Slice", .inputs = {{5, 6}}, .constants = {ints({1, 0}), ints({4, 6}), ints({0, 1}), ints({1, 2})}});
  check(
      {.op = "Slice", .inputs = {{5, 8}}, .constants = {ints({-1, 7}), ints({-100, 0}), ints({0, 1}), ints({-1, -3})}});
  check({.op = "Pad", .inputs = {{2, 5}}, .constants = {ints({1, -1, 0, 2})}});
  check({.op = "Pad", .inputs = {{2, 5}}, .constants = {ints({1, 2}), number(3), ints({1})}});
  check({.op = "Expand", .inputs = {{3, 1}}, .constants = {ints({2, 3, 4})}});
  check({.op = "Identity", .inputs = {{3}}});
  check({.op = "Dropout", .inputs = {{3}}});
  check({.op = "Cast", .inputs = {{3}}, .attributes = {{"to", static_cast<int64_t>(DType::Float64)}}});
}

void normalization(const Check& check) {
  std::mt19937 random(7);
  check({.op = "BatchNormalization",
         .inputs = {{3, 2, 4, 2}, {2}, {2}},
         .constants = {random_tensor(random, {2}, -1, 1), random_tensor(random, {2}, 0.5, 2)}});
  check({.op = "BatchNormalization", .inputs = {{3, 2, 4, 2}, {2}, {2}, {2}, {2}}, .low = 0.5, .high = 2});
  check({.op = "LayerNormalization", .inputs = {{2, 3, 5}, {5}, {5}}});
  check({.op = "LayerNormalization", .inputs = {{2, 3, 4}, {3, 1}}, .attributes = {{"axis", int64_t{1}}}});
  check({.op = "RMSNormalization", .inputs = {{2, 3, 5}, {5}}});
  for (const Shape& shape : {Shape{3, 2, 4, 2}, Shape{4, 3}, Shape{2, 3, 5}})
    check({.op = "ChannelMoments", .inputs = {shape}, .outputs = 2, .domain = std::string(kInternalDomain)});
}

constexpr void (*kGroups[])(const Check&) = {
    element_wise, two_operands, two_branches,           clip,     convolutions, transposed_convolutions,
    products,     pools,        softmax_and_reductions, movement, normalization};

TEST(Gradient, ElementWiseOperatorsByTheirOwnFormulas) { element_wise({}); }
TEST(Gradient, TwoOperandsBroadcastBothWays) { two_operands({}); }
TEST(Gradient, TwoBranches) { two_branches({}); }
TEST(Gradient, ClipCountsStrictlyBetweenItsBounds) { clip({}); }
TEST(Gradient, Convolutions) { convolutions({}); }
TEST(Gradient, TransposedConvolutions) { transposed_convolutions({}); }
TEST(Gradient, Products) { products({}); }
TEST(Gradient, Pools) { pools({}); }
TEST(Gradient, SoftmaxAndReductions) { softmax_and_reductions({}); }
TEST(Gradient, MovementOfElements) { movement({}); }
TEST(Gradient, Normalization) { normalization({}); }

// What has a gradient is checked above, whoever adds it.
TEST(Gradient, EveryOperatorThatHasOneIsChecked) {
  std::set<std::string> names;
  for (const auto& group : kGroups) group({&names});
  names.insert("dnn.FakeQuantize");  // no derivative; see RoundingIsPassedStraightThrough
  for (const OpDef& op : all_ops()) {
    if (op.gradient == nullptr) continue;
    EXPECT_EQ(names.count(op.domain.empty() ? op.name : op.domain + "." + op.name), 1U) << op.name;
    EXPECT_FALSE(op.no_gradient) << op.name;
  }
}

// The gradient of the sum of op(x) at given elements.
std::vector<double> slopes(const std::string& op, const std::vector<double>& at, Attributes attributes = {},
                           const std::vector<Tensor>& constants = {}, Shape shape = {},
                           const std::string& domain = {}) {
  NewGraph net;
  if (shape.empty()) shape = {static_cast<int64_t>(at.size())};
  const ValueId x = net.input("x", Type(Tensor(DType::Float64, shape)));
  std::vector<ValueId> inputs = {x};
  for (const Tensor& constant : constants) inputs.push_back(net.store("c", constant));
  Node node;
  node.op = op;
  node.domain = domain;
  node.inputs = inputs;
  node.attributes = std::move(attributes);
  const ValueId y = net.add(std::move(node), {"y"})[0];
  const ValueId dx = add_gradients(net, net.emit("ReduceSum", {y}, {{"keepdims", int64_t{0}}}), {x})[0];
  net.output(dx, "dx");
  return to_doubles(interpret(net.finish(), {Tensor::of(shape, at)})[0]);
}

TEST(Gradient, TiesAreAsDocumented) {
  EXPECT_EQ(slopes("Relu", {-1, 0, 1}), (std::vector<double>{0, 0, 1}));
  EXPECT_EQ(slopes("Clip", {0, 3, 6}, {}, {number(0), number(6)}), (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(slopes("LeakyRelu", {0}, {{"alpha", 0.25F}}), (std::vector<double>{1}));
  EXPECT_EQ(slopes("Abs", {0}), (std::vector<double>{0}));
  EXPECT_EQ(slopes("HardSigmoid", {-3, 0, 3}, {{"alpha", 1.0F / 6}, {"beta", 0.5F}})[0], 0);
  // Of equal elements the first of a window takes all.
  EXPECT_EQ(slopes("MaxPool", {2, 2, 1, 2}, {{"kernel_shape", Ints{2, 2}}}, {}, {1, 1, 2, 2}),
            (std::vector<double>{1, 0, 0, 0}));
}

// By scale 0.5 to integers from -2 to 3: 1 up to where the next integer would begin, 0 beyond.
TEST(Gradient, RoundingIsPassedStraightThrough) {
  EXPECT_EQ(slopes("FakeQuantize", {-1.3, -1.2, 0.1, 1.7, 1.8}, {{"low", int64_t{-2}}, {"high", int64_t{3}}},
                   {number(0.5)}, {}, std::string(kInternalDomain)),
            (std::vector<double>{0, 1, 1, 1, 0}));
}

TEST(Gradient, ExtremeValuesGiveNoNan) {
  EXPECT_EQ(slopes("Sigmoid", {-1000, 1000}), (std::vector<double>{0, 0}));
  EXPECT_EQ(slopes("Swish", {-1000, 1000}), (std::vector<double>{0, 1}));
  EXPECT_EQ(slopes("Softplus", {-1000, 1000}), (std::vector<double>{0, 1}));
  EXPECT_EQ(slopes("Tanh", {-1000, 1000}), (std::vector<double>{0, 0}));
}

TEST(Gradient, WhatIsMissingIsNamedAllAtOnce) {
  NewGraph net;
  const ValueId x = net.input("x", Type(DType::Float64, {4}));
  net.set_name("a");
  const ValueId sum = net.emit("CumSum", {x, net.store("axis", Tensor::scalar<int64_t>(0))});
  net.set_name("b");
  const ValueId padded = net.emit("Det", {net.emit("Reshape", {sum, net.list({2, 2})})});
  try {
    add_gradients(net, padded, {x});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 4);
    EXPECT_STREQ(
        error.what(),
        "cannot train: no gradient of node 'a' (CumSum); node 'b' (Det); freeze the layers up to them with --freeze");
  }
}

TEST(Gradient, PartsThatTheLossDoesNotReachNeedNone) {
  NewGraph net;
  const ValueId x = net.input("x", Type(DType::Float64, {4}));
  net.output(net.emit("CumSum", {x, net.store("axis", Tensor::scalar<int64_t>(0))}), "other");
  const ValueId unused = net.input("u", Type(DType::Float64, {2}));
  const ValueId loss = net.emit("ReduceSum", {net.emit("Mul", {x, x})}, {{"keepdims", int64_t{0}}});
  const std::vector<ValueId> gradients = add_gradients(net, loss, {x, unused});
  net.output(gradients[0], "dx");
  net.output(gradients[1], "du");
  const auto results = interpret(net.finish(), {Tensor::of<double>({4}, {1, 2, 3, 4}), Tensor(DType::Float64, {2})});
  EXPECT_EQ(to_doubles(results[1]), (std::vector<double>{2, 4, 6, 8}));
  EXPECT_EQ(to_doubles(results[2]), (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace dnn::train
