// What is quantised, and that the integer network computes what the float32 one does, up to its own rounding.
#include "quant/quantize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "cases.h"
#include "graph/text.h"
#include "interp/interpreter.h"
#include "metrics/scores.h"
#include "quant/bias.h"
#include "quant/plan.h"
#include "quant/validate.h"
#include "tensor/compare.h"

namespace dnn::quant {
namespace {

std::vector<std::string> quantized_values(const Graph& graph, const Plan& plan) {
  std::vector<std::string> names;
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    if (plan.group[static_cast<size_t>(v)] >= 0) names.push_back(graph.value(v).name);
  }
  return names;
}

// By weights and of two activations.
TEST(Plan, EinsumIsALayer) {
  const Graph graph = prepare(parsed(R"(
  input x: float32[batch,5,8]
  const w: float32[8,2,4] = random(1)
  q = Einsum(x, w) @heads {equation = "btd,dhe->bhte"}
  y = Einsum(q, q) @scores {equation = "bhte,bhse->bhts"}
  output y
)"));
  const Plan plan = make_plan(graph, {.fuses = fuses_in_onnx});
  EXPECT_EQ(plan.weights.size(), 1U);
  EXPECT_TRUE(plan.left_float.empty());
  int products = 0;
  for (const NodeId id : graph.order()) {
    EXPECT_TRUE(plan.quantized[id]) << graph.node(id).label();
    products += graph.node(id).op == "MatMul" ? 1 : 0;
  }
  EXPECT_EQ(products, 2);
}

TEST(Plan, ActivationsHaveOneQuantiserBehindThem) {
  const Graph graph = parsed(kResidual);
  const Plan plan = make_plan(graph, {.fuses = fuses_in_onnx});
  EXPECT_EQ(quantized_values(graph, plan), (std::vector<std::string>{"x", "r", "d", "s", "p", "f", "y"}));
  EXPECT_EQ(plan.group[static_cast<size_t>(graph.find_value("p"))],
            plan.group[static_cast<size_t>(graph.find_value("f"))]);
  EXPECT_EQ(plan.weights.size(), 3U);
  // TFLite has no operator that adds and computes Swish.
  const Plan tflite = make_plan(graph, {.fuses = fuses_in_tflite});
  EXPECT_EQ(quantized_values(graph, tflite), (std::vector<std::string>{"x", "r", "d", "a", "s", "p", "f", "y"}));
}

// A block of a transformer: integers are what products read. Its residual sums, norms and scores are real numbers.
TEST(Plan, WhatNothingOnIntegersReadsIsNotRounded) {
  const Graph graph = bound_graph(prepare(parsed(R"(
  input x: float32[1,4,8]
  const axes: int64[1] = {-1}
  const two: float32[] = {2}
  const tiny: float32[] = {0.00001}
  const scale: float32[8] = random(1)
  const shift: float32[8] = random(2)
  const w: float32[8,16] = random(3)
  const b: float32[16] = random(4)
  const v: float32[16,8] = random(5)
  const c: float32[8] = random(6)
  const u: float32[8,4] = random(7)
  mean = ReduceMean(x, axes) @mean
  off = Sub(x, mean) @off
  square = Pow(off, two) @square
  variance = ReduceMean(square, axes) @variance
  more = Add(variance, tiny) @more
  deviation = Sqrt(more) @deviation
  unit = Div(off, deviation) @unit
  scaled = Mul(unit, scale) @scaled
  n = Add(scaled, shift) @norm
  m = MatMul(n, w) @up
  a = Add(b, m) @up_bias
  r = Relu(a) @relu
  d = MatMul(r, v) @down
  e = Add(d, c) @down_bias
  s = Add(x, e) @residual
  l = LayerNormalization(s, scale, shift) @last
  y = MatMul(l, u) @head
  output y
)")));
  PlanOptions o{.fuses = fuses_in_onnx, .real_results = true};
  const Plan plan = make_plan(graph, o);
  EXPECT_EQ(quantized_values(graph, plan), (std::vector<std::string>{"n", "r", "l"}));
  const std::vector<Layer> layers = layers_of(graph, plan);
  ASSERT_EQ(layers.size(), 3U);
  EXPECT_EQ(layers[0].nodes.size(), 3U);  // product, bias, Relu
  EXPECT_EQ(graph.value(layers[0].output).name, "r");
  ASSERT_EQ(plan.left_float.size(), 1U);
  EXPECT_EQ(graph.node(plan.left_float[0]).name, "residual");
  o.integer_outputs = true;
  EXPECT_EQ(quantized_values(graph, make_plan(graph, o)), (std::vector<std::string>{"n", "r", "l", "y"}));
  // Asked to stay, a product takes its bias along.
  o.keep_float = {"down"};
  EXPECT_FALSE(make_plan(graph, o).quantized[static_cast<size_t>(layers[1].nodes[0])]);

  const std::vector<Tensor> samples = random_samples({1, 4, 8}, 20);
  Given given(samples);
  QuantizeReport report;
  const Graph integers = quantize(graph, given, options(), &report);
  const auto bias = std::find_if(integers.order().begin(), integers.order().end(),
                                 [&](NodeId id) { return integers.node(id).name == "up_bias"; });
  ASSERT_NE(bias, integers.order().end());
  ASSERT_NE(integers.constant(integers.node(*bias).inputs[0]), nullptr);
  EXPECT_EQ(integers.constant(integers.node(*bias).inputs[0])->dtype(), DType::Float32);
  for (const Tensor& sample : samples)
    EXPECT_LT(compare(interpret(graph, {sample})[0], interpret(integers, {sample})[0]).relative(), 0.05);
}

// A user knows the names of the model's file: those of a norm that a convolution takes in, of the nodes that one activation or layer norm
// was recognised in, and of what they make.
TEST(Plan, NamesInsideOfOneOperatorLeaveItInFloat) {
  const Graph model = parsed(R"(
  input x: float32[1,4,6,6]
  const w: float32[4,4,3,3] = random(1)
  const g: float32[4] = {1,2,3,4}
  const h: float32[4] = {0.5,0.25,0.125,1}
  const three: float32[] = {3}
  const six: float32[] = {6}
  const zero: float32[] = {0}
  const two: float32[] = {2}
  const tiny: float32[] = {0.00001}
  const axes: int64[1] = {-1}
  const scale: float32[6] = random(2)
  const shift: float32[6] = random(3)
  const v: float32[6,6] = random(4)
  c = Conv(x, w) @conv {pads = [1, 1, 1, 1]}
  n = BatchNormalization(c, g, h, h, g) @bn
  up = Add(n, three) @lift
  in = Clip(up, zero, six) @clip
  by = Mul(n, in) @gate
  a = Div(by, six) @swish
  mean = ReduceMean(a, axes) @mean
  off = Sub(a, mean) @off
  square = Pow(off, two) @square
  variance = ReduceMean(square, axes) @variance
  more = Add(variance, tiny) @more
  deviation = Sqrt(more) @deviation
  unit = Div(off, deviation) @unit
  scaled = Mul(unit, scale) @scaled
  l = Add(scaled, shift) @norm
  y = MatMul(l, v) @head
  output y
)");
  const Graph prepared = prepare(model), graph = bound_graph(prepared);
  const auto left_with = [&](const std::string& name) {
    PlanOptions o{.keep_float = names_after(model, prepared, {name}), .fuses = fuses_in_tflite};
    const Plan plan = make_plan(graph, o);
    std::vector<std::string> ops;
    for (NodeId id : plan.left_float) ops.push_back(graph.node(id).op);
    return join(ops, " ");
  };
  for (const char* name : {"conv", "c", "bn", "n"}) EXPECT_EQ(left_with(name), "Conv") << name;
  for (const char* name : {"lift", "up", "clip", "in", "gate", "by", "swish", "a"})
    EXPECT_EQ(left_with(name), "HardSwish") << name;
  // Layer norms are in float32 anyhow.
  for (const char* name : {"mean", "off", "square", "variance", "more", "deviation", "unit", "scaled", "norm", "l"})
    EXPECT_EQ(left_with(name), "") << name;
  EXPECT_THROW(left_with("nothing"), Error);
}

// What has as many numbers as there are channels is a bias by channel only along the last axis, and in the product's own shape.
TEST(Plan, ASumAlongRowsIsNoBias) {
  for (const char* shape : {"[4,1]", "[1,1,1,4]"}) {
    const Graph graph = parsed(cat("  input x: float32[1,4,8]\n  const w: float32[8,4] = random(1)\n  const b: float32",
                                   shape, " = random(2)\n  const v: float32[4,4] = random(3)\n",
                                   "  m = MatMul(x, w) @m\n  a = Add(m, b) @a\n  y = MatMul(a, v) @y\n  output y\n"));
    EXPECT_TRUE(make_plan(graph, {.fuses = fuses_in_onnx, .real_results = true}).ends.empty()) << shape;
  }
}

// A product that stays in float32 does not bring what is behind it back to integers.
TEST(Plan, WhatStandsBehindAKeptProductStaysReal) {
  const Graph graph = parsed(R"(
  input x: float32[1,4]
  const w: float32[4,4] = random(1)
  const k: float32[] = {2}
  a = MatMul(x, w) @fc
  r = Relu(a) @r
  y = Mul(r, k) @y
  output y
)");
  const Plan plan = make_plan(graph, {.keep_float = {"fc"}, .fuses = fuses_in_onnx, .real_results = true});
  EXPECT_TRUE(quantized_values(graph, plan).empty());
}

// Runtimes have no convolution of integers with a real result, so that what ends one stays on integers.
TEST(Plan, AConvolutionKeepsItsQuantiser) {
  const Graph graph = parsed(R"(
  input x: float32[1,2,4,4]
  const w: float32[2,2,1,1] = random(1)
  a = Conv(x, w) @a
  r = Relu(a) @r
  s = Softmax(r) @s
  t = Add(s, s) @t
  output t
)");
  const Plan plan = make_plan(graph, {.fuses = fuses_in_onnx, .real_results = true});
  EXPECT_EQ(quantized_values(graph, plan), (std::vector<std::string>{"x", "r"}));
}

TEST(Plan, WhatIsJoinedSharesAScale) {
  const Graph graph = parsed(R"(
  input x: float32[1,2,4,4]
  const w: float32[2,2,1,1] = random(1)
  a = Conv(x, w) @a
  b = Sigmoid(a) @b
  m = MaxPool(b) @m {kernel_shape = [2, 2], strides = [2, 2]}
  n = MaxPool(a) @n {kernel_shape = [2, 2], strides = [2, 2]}
  y = Concat(m, n) @y {axis = 1}
  e = Exp(y) @e
  output e
)");
  const Plan plan = make_plan(graph, {.fuses = fuses_in_onnx});
  const auto group = [&](const char* name) { return plan.group[static_cast<size_t>(graph.find_value(name))]; };
  EXPECT_EQ(group("m"), group("y"));
  EXPECT_EQ(group("n"), group("y"));
  EXPECT_EQ(group("b"), group("y"));
  EXPECT_EQ(group("a"), group("n"));
  EXPECT_FALSE(plan.fixed[static_cast<size_t>(group("y"))]);  // chosen for both
  EXPECT_EQ(group("e"), -1);
}

TEST(Plan, SigmoidHasItsOwnScale) {
  const Graph graph = parsed(R"(
  input x: float32[1,2,4,4]
  const w: float32[2,2,1,1] = random(1)
  a = Conv(x, w) @a
  b = Sigmoid(a) @b
  y = Mul(a, b) @y
  output y
)");
  const Plan plan = make_plan(graph, {.fuses = fuses_in_onnx});
  EXPECT_EQ(plan.fixed[static_cast<size_t>(plan.group[static_cast<size_t>(graph.find_value("b"))])], Role::UnitRange);
}

// TFLite's default kernel takes the zero point of a product's second factor for 0.
TEST(Plan, FactorsAreAroundZeroWhereTheFormatTakesThemSo) {
  const Graph graph = parsed(R"(
  input x: float32[1,4,8]
  const w: float32[8,8] = random(1)
  const v: float32[8,8] = random(2)
  q = MatMul(x, w) @q
  k = MatMul(x, v) @k
  t = Transpose(k) @t {perm = [0, 2, 1]}
  y = MatMul(q, t) @y
  output y
)");
  const auto around = [&](const Plan& plan, const char* name) {
    return static_cast<bool>(
        plan.around_zero[static_cast<size_t>(plan.group[static_cast<size_t>(graph.find_value(name))])]);
  };
  const Plan tflite = make_plan(graph, {.fuses = fuses_in_tflite, .factors_around_zero = true});
  EXPECT_TRUE(around(tflite, "t"));
  EXPECT_TRUE(around(tflite, "k"));
  EXPECT_FALSE(around(tflite, "q"));
  EXPECT_FALSE(around(tflite, "x"));
  EXPECT_FALSE(around(make_plan(graph, {.fuses = fuses_in_onnx}), "t"));
  for (const char* scheme : {"int8", "uint8"}) {
    QuantizeOptions o = options();
    o.scheme = scheme_named(scheme);
    o.factors_around_zero = true;
    Given samples(random_samples({1, 4, 8}, 4, 0.25));
    QuantizeReport report;
    quantize(prepare(graph), samples, o, &report);
    for (const QuantizerReport& said : report.quantizers) {
      const bool factor = std::count(said.values.begin(), said.values.end(), "t") != 0;
      const int64_t middle = o.scheme.activations == DType::UInt8 ? 128 : 0;
      EXPECT_EQ(factor, said.affine.zero_point == middle) << said.values.front();
      EXPECT_LE(said.affine.lowest(), 0);
      EXPECT_TRUE(!factor || said.affine.lowest() < 0);
    }
  }
}

// An activation at the end of an operator that stays in float32 stays there too: nothing is rounded between the two.
TEST(Plan, TheEndOfAFloatOperatorIsFloat) {
  const Graph graph = parsed(kResidual);
  const Plan plan = make_plan(graph, {.keep_float = {"conv"}, .fuses = fuses_in_onnx});
  EXPECT_EQ(quantized_values(graph, plan), (std::vector<std::string>{"r", "d", "s", "p", "f", "y"}));
  const Plan searched = make_plan(graph, {.left_float = {graph.order()[0], graph.order()[1]}, .fuses = fuses_in_onnx});
  EXPECT_EQ(quantized_values(graph, searched), quantized_values(graph, plan));
}

TEST(Plan, LayersAreOperatorsWithTheirActivations) {
  const Graph graph = [] {
    Graph open = parsed(kResidual);
    return bound_graph(open);
  }();
  const std::vector<Layer> layers = layers_of(graph, make_plan(graph, {.fuses = fuses_in_onnx}));
  std::vector<std::string> made;
  std::vector<double> work;  // products with padding are none
  for (const Layer& layer : layers) {
    made.push_back(graph.value(layer.output).name);
    work.push_back(layer.multiply_adds);
  }
  EXPECT_EQ(made, (std::vector<std::string>{"r", "d", "s", "p", "y"}));
  EXPECT_EQ(work, (std::vector<double>{8 * 3 * 22 * 22, 8 * 64 * 8, 0, 0, 4 * 8}));
}

TEST(Plan, NodesStayInFloat32) {
  const Graph graph = parsed(kResidual);
  const Plan plan = make_plan(graph, {.keep_float = {"pointwise", "y"}, .fuses = fuses_in_onnx});
  EXPECT_EQ(plan.weights.size(), 1U);
  EXPECT_EQ(plan.left_float.size(), 2U);
  EXPECT_EQ(quantized_values(graph, plan), (std::vector<std::string>{"x", "r", "d", "s", "p", "f"}));
  EXPECT_THROW(make_plan(graph, {.keep_float = {"nothing"}, .fuses = fuses_in_onnx}), Error);
}

// The largest distance of the quantised network's outputs from the float32 one's, over the largest output.
double distance(const Graph& before, const Graph& after, const std::vector<Tensor>& samples) {
  double most = 0, largest = 0;
  for (const Tensor& sample : samples) {
    const std::vector<double> a = to_doubles(interpret(before, {sample})[0]),
                              b = to_doubles(interpret(after, {sample})[0]);
    for (size_t i = 0; i < a.size(); ++i) {
      most = std::max(most, std::abs(a[i] - b[i]));
      largest = std::max(largest, std::abs(a[i]));
    }
  }
  return most / largest;
}

TEST(Quantize, ComputesTheSameUpToRounding) {
  const Graph graph = prepare(parsed(kResidual));
  const std::vector<Tensor> samples = random_samples({1, 3, 8, 8}, 40);
  const auto quantized_as = [&](const char* scheme, const char* method, int threads) {
    QuantizeOptions o = options(threads);
    o.scheme = scheme_named(scheme);
    o.method = method_named(method);
    Given given(samples);
    QuantizeReport report;
    return quantize(graph, given, o, &report);
  };
  for (const Method& method : methods()) {
    // Means of extremes clip much of an output of four numbers.
    const double most = method.name == std::string("mean-minmax") ? 0.2 : 0.05;
    EXPECT_LT(distance(graph, quantized_as("int8", method.name, 1), samples), most) << method.name;
  }
  EXPECT_LT(distance(graph, quantized_as("uint8", "minmax", 1), samples), 0.03);
  EXPECT_LT(distance(graph, quantized_as("int16x8", "minmax", 1), samples), 0.01);
  EXPECT_LT(distance(graph, quantized_as("weights-int8", "minmax", 1), samples), 0.01);
  // int8 is coarse: what is above is no accident of equal graphs.
  EXPECT_GT(distance(graph, quantized_as("int8", "minmax", 1), samples), 1e-4);
  // Any number of threads makes the same file.
  const TextOptions all = {.inline_all = true};
  EXPECT_EQ(to_text(quantized_as("int8", "mse", 1), all), to_text(quantized_as("int8", "mse", 3), all));
}

// As tf2onnx writes a depthwise convolution's batch norm: channels that differ by a factor of 200 would share one scale.
TEST(Quantize, ScalesPerChannelAreFolded) {
  const Graph graph = prepare(parsed(R"(
  input x: float32[1,2,4,4]
  const w: float32[2,1,3,3] = random(1)
  const scale: float32[1,2,1,1] = {200, 0.5}
  const shift: float32[1,2,1,1] = {1, -1}
  c = Conv(x, w) @conv {group = 2, pads = [1, 1, 1, 1]}
  m = Mul(c, scale) @scale
  y = Add(m, shift) @shift
  output y
)"));
  ASSERT_EQ(graph.order().size(), 1U);
  EXPECT_EQ(graph.node(graph.order()[0]).op, "Conv");
  EXPECT_NE(graph.node(graph.order()[0]).input(2), kNoValue);
}

TEST(Quantize, OutputsAndValuesKeepTheirNames) {
  const Graph graph = prepare(parsed(kResidual));
  Given given(random_samples({1, 3, 8, 8}, 4));
  QuantizeReport report;
  const Graph after = quantize(graph, given, options(), &report);
  EXPECT_EQ(after.value(after.outputs[0]).name, "y");
  EXPECT_EQ(after.value(after.inputs[0]).type.text(), "float32[batch,3,8,8]");
  for (const char* name : {"r", "d", "s", "f"}) EXPECT_NE(after.find_value(name), kNoValue) << name;
  EXPECT_EQ(report.samples, 4);
  EXPECT_EQ(report.weights.size(), 3U);
  EXPECT_GT(report.weights[0].sqnr_db, 30);
  EXPECT_TRUE(report.left_float.empty());
  EXPECT_THROW(prepare(after), Error);  // it is quantised already
}

TEST(Quantize, BiasesFitInt32) {
  // A channel of tiny weights with a large bias: at the scale of its weights the bias would need more than 32 bits.
  const Graph graph = prepare(parsed(R"(
  input x: float32[1,2,4,4]
  const w: float32[2,2,1,1] = {1e-9, -1e-9, 1, -1}
  const b: float32[2] = {1000, 0.5}
  y = Conv(x, w, b) @conv
  output y
)"));
  const std::vector<Tensor> samples = random_samples({1, 2, 4, 4}, 4);
  Given given(samples);
  QuantizeReport report;
  const Graph after = quantize(graph, given, options(), &report);
  EXPECT_TRUE(report.weights[0].widened);
  EXPECT_LT(distance(graph, after, samples), 0.01);
}

TEST(Bias, TakesTheMeanOfTheRoundingOff) {
  // Two weights whose rounding errors add up, on inputs whose mean is not 0.
  const Graph graph = parsed(R"(
  input x: float32[1,2,4,4]
  const w: float32[1,2,1,1] = {127, 0.4}
  y = Conv(x, w) @conv
  output y
)");
  const Weights weights = {graph.order()[0], 0};
  const QuantizedWeights rounded = quantize_weights(*graph.constant(graph.node(weights.node).inputs[1]), 0);
  ChannelMeans means;
  means.sums = {ExactSum({10}), ExactSum({30})};
  means.count = 10;
  const std::optional<Tensor> bias = corrected_bias(graph, weights, rounded, means);
  ASSERT_TRUE(bias);
  EXPECT_NEAR(to_doubles(*bias)[0], 0.4 * 3, 1e-6);
}

TEST(Quantize, CorrectedBiasesAreNearerInTheMean) {
  const Graph graph = prepare(parsed(R"(
  input x: float32[1,4,6,6]
  const w: float32[8,4,3,3] = random(5)
  y = Conv(x, w) @conv
  output y
)"));
  const std::vector<Tensor> samples = random_samples({1, 4, 6, 6}, 16, 3);
  const auto mean_error = [&](bool corrected) {
    QuantizeOptions o = options();
    o.correct_biases = corrected;
    Given given(samples);
    QuantizeReport report;
    const Graph after = quantize(graph, given, o, &report);
    std::vector<double> sums(8, 0);
    for (const Tensor& sample : samples) {
      const std::vector<double> a = to_doubles(interpret(graph, {sample})[0]),
                                b = to_doubles(interpret(after, {sample})[0]);
      for (size_t i = 0; i < a.size(); ++i) sums[i / 16] += b[i] - a[i];
    }
    double most = 0;
    for (double sum : sums) most = std::max(most, std::abs(sum));
    return most;
  };
  EXPECT_LT(mean_error(true), mean_error(false) / 3);
}

TEST(Validate, CountsLabels) {
  const Graph graph = parsed(R"(
  input x: float32[1,4]
  y = Identity(x) @y
  output y
)");
  const Graph other = parsed(R"(
  input x: float32[1,4]
  const t: float32[4] = {-1, 1, 1, 1}
  y = Mul(x, t) @y
  output y
)");
  Given given({Tensor::of<float>({1, 4}, {3, 1, 0, 0}), Tensor::of<float>({1, 4}, {0, 1, 5, 0})});
  const Validation v = validate(graph, other, given, 0, options().calibrate);
  EXPECT_EQ(v.samples, 2);
  EXPECT_EQ(v.same_label, 1);
  EXPECT_EQ(v.with_truth, 0);
  EXPECT_EQ(v.drop(), 50);
  EXPECT_EQ(v.worst_drop(), 50);
  Validation truth = v;
  truth.with_truth = 100;
  truth.right = {.both = 80, .only_a = 6, .only_b = 2, .none = 12};
  EXPECT_EQ(truth.drop(), 4);
  EXPECT_LT(truth.interval().low, 4);
  EXPECT_GT(truth.interval().high, 4);
}

Tensor row(const std::vector<float>& scores) {
  return Tensor::of<float>({1, static_cast<int64_t>(scores.size())}, scores);
}

TEST(Validate, NoiseCostsByTheProbabilitiesBefore) {
  const Ranking near(row({0.45F, 0.40F, 0.15F})), clear(row({0.90F, 0.05F, 0.05F}));
  EXPECT_EQ(near.label(), 0);
  EXPECT_EQ(near.expected_loss(row({0.45F, 0.40F, 0.15F})), 0);
  // Whether noise happens to change the label is nothing to it.
  const double changed = near.expected_loss(row({0.40F, 0.45F, 0.15F})),
               kept = near.expected_loss(row({0.50F, 0.35F, 0.15F}));
  EXPECT_NEAR(changed, kept, 0.005);
  EXPECT_GT(changed, 0.005);
  EXPECT_LT(changed, 0.05);
  EXPECT_LT(clear.expected_loss(row({0.88F, 0.06F, 0.06F})), 1e-6);
  // Logits of the same probabilities, of any shape, and moved together.
  const auto logits = [](double a, double b, double c, float by) {
    return Tensor::of<float>({1, 3, 1, 1}, {static_cast<float>(std::log(a)) + by, static_cast<float>(std::log(b)) + by,
                                            static_cast<float>(std::log(c)) + by});
  };
  EXPECT_NEAR(Ranking(logits(0.45, 0.40, 0.15, 0)).expected_loss(logits(0.40, 0.45, 0.15, 7)), changed, 1e-5);
  EXPECT_EQ(near.expected_loss(row({std::nanf(""), std::nanf(""), std::nanf("")})), static_cast<double>(0.45F));
  EXPECT_EQ(Ranking(Tensor::of<float>({2, 2}, {1, 2, 3, 4})).label(), -1);
  EXPECT_EQ(Ranking(row({1, std::nanf(""), 2})).label(), 2);
}

// Normal noise on logits of a hundred classes: the loss that is estimated is the one that many draws have.
TEST(Validate, ExpectedLossIsThatOfManyDraws) {
  std::mt19937 engine(1);
  std::normal_distribution<float> normal;
  double estimated = 0, lost = 0;
  constexpr int kDraws = 4000;
  for (int n = 0; n < kDraws; ++n) {
    std::vector<float> before(100), after(100);
    for (size_t i = 0; i < before.size(); ++i) {
      before[i] = 2 * normal(engine);
      after[i] = before[i] + 0.2F * normal(engine);
    }
    estimated += Ranking(row(before)).expected_loss(row(after));
    const std::vector<double> p = to_doubles(metrics::softmax(row(before)));
    lost += p[static_cast<size_t>(top_label(row(before)))] - p[static_cast<size_t>(top_label(row(after)))];
  }
  EXPECT_GT(lost, 0);
  EXPECT_NEAR(estimated / lost, 1, 0.3);
}

TEST(Validate, LuckIsNoGain) {
  Validation v;
  v.add(Ranking(row({0.5F, 0.4F, 0.1F})), row({0.5F, 0.4F, 0.1F}), 0, 0);
  v.add(Ranking(row({0.5F, 0.4F, 0.1F})), row({0.4F, 0.5F, 0.1F}), 1, 0);
  EXPECT_EQ(v.drop(), -50);
  EXPECT_GT(v.expected_drop(), 0);
  EXPECT_NEAR(v.expected_error(), v.expected_drop(), 1e-9);  // of x and 0
  EXPECT_EQ(v.worst_drop(), v.expected_drop());
}

TEST(Quantize, NoSampleIsAnAnswer) {
  const Graph graph = prepare(parsed(kResidual));
  Given none({});
  QuantizeReport report;
  EXPECT_THROW(quantize(graph, none, options(), &report), Error);
}

}  // namespace
}  // namespace dnn::quant
