// Element-wise operators: lowerings against the reference, and the values that are easy to get wrong.
#include <limits>
#include <numbers>

#include "base/threads.h"
#include "ops/elementwise.h"
#include "unit/ops/lowering_check.h"
#include "unit/ops/reference_check.h"

namespace dnn {
namespace {

constexpr float kFloatInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

Tensor float_row(const std::vector<float>& values) {
  return Tensor::of<float>({static_cast<int64_t>(values.size())}, values);
}

TEST(Elementwise, UnaryLoopsGiveTheReferencesBits) {
  const Tensor edges =
      float_row({0.0f, -0.0f, 1, -1, 0.5f, -0.5f, 2.5f, -3.5f, 88, -88, 1e30f, -1e30f, 1e-30f, kFloatInf, kNan});
  const Tensor wide = convert(edges, DType::Float64);
  for (const char* op :
       {"Abs",   "Atan",        "Ceil",           "Celu",   "Elu",     "Erf",       "Exp",      "Floor",
        "Gelu",  "HardSigmoid", "HardSwish",      "IsInf",  "IsNaN",   "LeakyRelu", "Neg",      "Reciprocal",
        "Relu",  "Round",       "Selu",           "Shrink", "Sigmoid", "Sign",      "Softplus", "Softsign",
        "Swish", "Tanh",        "ThresholdedRelu"}) {
    for (const Tensor* x : {&edges, &wide}) check_lowering(test_node(op, {x}), {x});
  }
  // The sign of Mish's NaN is open: the compiler orders the operands of its product.
  const Tensor finite = float_row({0.0f, 1, -1, 20, -20, 88, -88, 1e30f, -1e30f, 1e-30f});
  check_lowering(test_node("Mish", {&finite}), {&finite});
  const Tensor unit = random_tensor(DType::Float32, {64});
  for (const char* op : {"Acos", "Asin", "Asinh", "Atanh", "Cos", "Cosh", "Sin", "Sinh", "Tan"})
    check_lowering(test_node(op, {&unit}), {&unit});
}

// The stated forms, whose bits are those of their loops, are as near to the functions as their file says.
TEST(Elementwise, StatedFunctionsAreNearTheExactOnes) {
  std::vector<float> numbers;
  for (int i = -30000; i <= 30000; ++i) numbers.push_back(static_cast<float>(i) * 1e-3f);
  const Tensor x = float_row(numbers), edges = float_row({0.0f, -0.0f, 20, -20, 88, -88, 1e30f, -1e30f, kNan});
  const struct {
    const char* op;
    double (*exact)(double);
    double within;
  } cases[] = {{"StatedSigmoid", [](double v) { return 1 / (1 + std::exp(-v)); }, 1e-6},
               {"StatedTanh", [](double v) { return std::tanh(v); }, 2e-6},
               {"StatedSwish", [](double v) { return v / (1 + std::exp(-v)); }, 2e-6},
               {"StatedErf", [](double v) { return std::erf(v); }, 1.6e-5},
               {"StatedGelu", [](double v) { return v * std::erfc(-v / std::numbers::sqrt2) / 2; }, 4e-6}};
  for (const auto& c : cases) {
    Node node = test_node(c.op, {&x});
    node.domain = kInternalDomain;
    check_lowering(node, {&edges});
    const Tensor y = check_lowering(node, {&x})[0];
    double furthest = 0;
    for (size_t i = 0; i < numbers.size(); ++i)
      furthest = std::max(furthest, std::abs(static_cast<double>(y.data<float>()[i]) - c.exact(numbers[i])));
    EXPECT_LT(furthest, c.within) << c.op;
    EXPECT_GT(furthest, c.within / 20) << c.op;  // the bound says something
  }
}

// One that is right relative to itself: also where it is nearly 0, down to exp(-80).
TEST(Elementwise, AStatedSigmoidMayBeRightRelativeToItself) {
  std::vector<float> numbers;
  for (int i = -80000; i <= 80000; ++i) numbers.push_back(static_cast<float>(i) * 1e-3f);
  const Tensor x = float_row(numbers), edges = float_row({0.0f, -0.0f, 80, -80, 89, -89, 1e30f, -1e30f, kNan});
  Node node = test_node("StatedSigmoid", {&x});
  node.domain = kInternalDomain;
  node.attributes["relative"] = int64_t{1};
  const Tensor at_edges = check_lowering(node, {&edges})[0], y = check_lowering(node, {&x})[0];
  EXPECT_EQ(at_edges.data<float>()[6], 1);
  EXPECT_EQ(at_edges.data<float>()[7], at_edges.data<float>()[3]);
  EXPECT_TRUE(std::isnan(at_edges.data<float>()[8]));
  double furthest = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double exact = 1 / (1 + std::exp(-static_cast<double>(numbers[i])));
    furthest = std::max(furthest, std::abs(static_cast<double>(y.data<float>()[i]) / exact - 1));
  }
  EXPECT_LT(furthest, 2.5e-7);
}

TEST(Elementwise, ActivationsStayFiniteAndKeepNan) {
  const Tensor x = float_row({-1000, 1000, kNan});
  for (const char* op :
       {"Sigmoid", "Softplus", "Mish", "Swish", "Celu", "Elu", "Selu", "HardSigmoid", "HardSwish", "Gelu"}) {
    const Tensor y = run(op, {&x});
    EXPECT_TRUE(std::isfinite(y.data<float>()[0])) << op;
    EXPECT_TRUE(std::isfinite(y.data<float>()[1])) << op;
    EXPECT_TRUE(std::isnan(y.data<float>()[2])) << op;
  }
}

TEST(Elementwise, SoftplusKeepsSmallValues) {
  const Tensor x = float_row({-20});
  EXPECT_FLOAT_EQ(run("Softplus", {&x}).data<float>()[0], 2.0611537e-09f);
}

TEST(Elementwise, MaxAndMinPropagateNan) {
  const Tensor a = float_row({kNan, 1, 2}), b = float_row({1, kNan, 3});
  for (const char* op : {"Max", "Min"}) {
    const std::vector<Tensor> y = check_lowering(test_node(op, {&a, &b}), {&a, &b});
    EXPECT_TRUE(std::isnan(y[0].data<float>()[0])) << op;
    EXPECT_TRUE(std::isnan(y[0].data<float>()[1])) << op;
  }
}

TEST(Elementwise, ClipTakesTheUpperBoundLast) {
  const Tensor x = float_row({-5, 0, 5, kNan}), low = Tensor::scalar<float>(3), high = Tensor::scalar<float>(1);
  const Tensor y = check_lowering(test_node("Clip", {&x, &low, &high}), {&x, &low, &high})[0];
  EXPECT_EQ(y.data<float>()[0], 1);
  EXPECT_EQ(y.data<float>()[2], 1);
  EXPECT_TRUE(std::isnan(y.data<float>()[3]));
  check_lowering(test_node("Clip", {&x, nullptr, &high}), {&x, nullptr, &high});
}

TEST(Elementwise, IntegersWrapAndNeverTrap) {
  constexpr int32_t kLow = std::numeric_limits<int32_t>::min(), kHigh = std::numeric_limits<int32_t>::max();
  const Tensor a = Tensor::of<int32_t>({3}, {kLow, kHigh, kLow}), b = Tensor::of<int32_t>({3}, {-1, 1, kLow});
  EXPECT_EQ(to_int64s(run("Add", {&a, &b})), (std::vector<int64_t>{kHigh, kLow, 0}));
  EXPECT_EQ(to_int64s(run("Mul", {&a, &b})), (std::vector<int64_t>{kLow, kHigh, 0}));
  EXPECT_EQ(to_int64s(run("Div", {&a, &b})), (std::vector<int64_t>{kLow, kHigh, 1}));
  EXPECT_EQ(to_int64s(run("Mod", {&a, &b})), (std::vector<int64_t>{0, 0, 0}));
  EXPECT_EQ(to_int64s(run("Neg", {&a})), (std::vector<int64_t>{kLow, -int64_t{kHigh}, kLow}));
  EXPECT_EQ(to_int64s(run("Abs", {&a})), (std::vector<int64_t>{kLow, kHigh, kLow}));
  const Tensor zero = Tensor::scalar<int32_t>(0);
  EXPECT_EQ(kind_of("Div", {&a, &zero}), ErrorKind::Malformed);
  EXPECT_EQ(kind_of("Mod", {&a, &zero}), ErrorKind::Malformed);
  const Tensor big = Tensor::of<uint16_t>({1}, {65535});
  EXPECT_EQ(to_int64s(run("Mul", {&big, &big})), (std::vector<int64_t>{1}));
}

TEST(Elementwise, ModFollowsTheDivisorOrTheDividend) {
  const Tensor a = float_row({-7, 7, -7, 5}), b = float_row({3, -3, -3, kFloatInf});
  EXPECT_EQ(to_doubles(run("Mod", {&a, &b})), (std::vector<double>{2, -2, -1, 5}));
  EXPECT_EQ(to_doubles(run("Mod", {&a, &b}, {{"fmod", int64_t{1}}})), (std::vector<double>{-1, 1, -1, 5}));
}

TEST(Elementwise, PowOfIntegers) {
  const Tensor base = Tensor::of<int32_t>({5}, {2, -1, 1, 3, 3}),
               exponent = Tensor::of<int64_t>({5}, {10, -3, -5, -1, 40});
  const auto wrapped = static_cast<int32_t>(static_cast<uint32_t>(12157665459056928801u));  // 3^40 modulo 2^32
  EXPECT_EQ(to_int64s(run("Pow", {&base, &exponent})), (std::vector<int64_t>{1024, -1, 1, 0, wrapped}));
  const Tensor zero = Tensor::scalar<int32_t>(0), minus = Tensor::scalar<int32_t>(-1);
  EXPECT_EQ(kind_of("Pow", {&zero, &minus}), ErrorKind::Malformed);
}

// The numbers are ONNX Runtime 1.31.1's.
TEST(Elementwise, PowOfAnExponentOfAnotherType) {
  const std::vector<double> reals = {1.5, -2.25, 0.75, 3.1}, integers = {2, 3, -4, 7};
  const Tensor float64 = Tensor::of<double>({4}, reals), float32 = convert(float64, DType::Float32),
               int64 = convert(Tensor::of<double>({4}, integers), DType::Int64), int32 = convert(int64, DType::Int32);
  const Tensor whole = Tensor::of<int64_t>({4}, {2, 3, 2, 1}), part = Tensor::of<double>({4}, {2.5, 3, 2, 0.5});
  const Tensor whole32 = convert(whole, DType::Int32), part32 = convert(part, DType::Float32);
  const auto power = [](const Tensor& base, const Tensor& exponent) {
    return to_doubles(run("Pow", {&base, &exponent}));
  };
  EXPECT_EQ(power(float32, whole), (std::vector<double>{2.25, -11.390625, 0.5625, 3.0999999046325684}));
  EXPECT_EQ(power(float32, part), (std::vector<double>{2.755676031112671, -11.390625, 0.5625, 1.7606816291809082}));
  EXPECT_EQ(power(float64, whole32), (std::vector<double>{2.25, -11.390625, 0.5625, 3.1}));
  EXPECT_EQ(power(int64, part32), (std::vector<double>{5, 27, 16, 2}));
  EXPECT_EQ(power(int32, part), (std::vector<double>{5, 27, 16, 2}));
  EXPECT_EQ(power(int32, whole), (std::vector<double>{4, 27, 16, 7}));
  const Tensor truth = Tensor::scalar(true);
  EXPECT_EQ(kind_of("Pow", {&int32, &truth}), ErrorKind::Unsupported);
}

TEST(Elementwise, ShiftsBeyondTheWidth) {
  const Tensor x = Tensor::of<int8_t>({4}, {-128, 64, -1, 1}), by = Tensor::of<int8_t>({4}, {7, 8, -1, 7});
  EXPECT_EQ(to_int64s(run("BitShift", {&x, &by}, {{"direction", std::string("RIGHT")}})),
            (std::vector<int64_t>{-1, 0, -1, 0}));
  EXPECT_EQ(to_int64s(run("BitShift", {&x, &by}, {{"direction", std::string("LEFT")}})),
            (std::vector<int64_t>{0, 0, 0, -128}));
  EXPECT_EQ(kind_of("BitShift", {&x, &by}), ErrorKind::Malformed);
}

TEST(Elementwise, WhereMovesAnyType) {
  const Tensor condition = Tensor::of<bool>({2, 1}, {true, false});
  Tensor x(DType::String, {3}), y(DType::String, {});
  x.mutable_strings() = {"a", "b", "c"};
  y.mutable_strings() = {"-"};
  EXPECT_EQ(run("Where", {&condition, &x, &y}).strings(), (std::vector<std::string>{"a", "b", "c", "-", "-", "-"}));
  const Tensor a = random_tensor(DType::Int64, {2, 3}), b = random_tensor(DType::Int64, {3}, 2);
  check_lowering(test_node("Where", {&condition, &a, &b}), {&condition, &a, &b});
}

// Bounds are outside, or with `closed` inside; either may be absent.
TEST(Elementwise, GateLetsThroughWhatLiesBetween) {
  const Tensor dy = Tensor::of<float>({5}, {1, 2, 3, 4, 5}), y = Tensor::of<float>({5}, {-1, 0, 1, 6, 7});
  const Tensor low = Tensor::scalar<float>(0), high = Tensor::scalar<float>(6);
  const auto gated = [&](const std::vector<const Tensor*>& inputs, int64_t closed) {
    Node node = test_node("Gate", inputs, {{"closed", closed}});
    node.domain = kInternalDomain;
    return to_doubles(check_lowering(node, inputs)[0]);
  };
  EXPECT_EQ(gated({&dy, &y, &low, &high}, 0), (std::vector<double>{0, 0, 3, 0, 0}));
  EXPECT_EQ(gated({&dy, &y, &low, &high}, 1), (std::vector<double>{0, 2, 3, 4, 0}));
  EXPECT_EQ(gated({&dy, &y, &low}, 0), (std::vector<double>{0, 0, 3, 4, 5}));
  EXPECT_EQ(gated({&dy, &y, nullptr, &high}, 0), (std::vector<double>{1, 2, 3, 0, 0}));
}

TEST(Elementwise, BroadcastsBinaryAndComparisons) {
  const Tensor a = random_tensor(DType::Float32, {2, 1, 4}), b = random_tensor(DType::Float32, {3, 1}, 2);
  for (const char* op :
       {"Sub", "Div", "Pow", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal", "Sum", "Mean"})
    EXPECT_EQ(check_lowering(test_node(op, {&a, &b}), {&a, &b})[0].shape(), (Shape{2, 3, 4})) << op;
  const Tensor x = random_tensor(DType::Bool, {5}), y = random_tensor(DType::Bool, {5}, 2);
  for (const char* op : {"And", "Or", "Xor"}) check_lowering(test_node(op, {&x, &y}), {&x, &y});
  const Tensor odd = random_tensor(DType::Float32, {5});
  EXPECT_EQ(kind_of("Add", {&a, &odd}), ErrorKind::Malformed);
  EXPECT_EQ(kind_of("PRelu", {&odd, &a}), ErrorKind::Malformed);  // the slope may not widen the result
}

TEST(Elementwise, RunsAreWhereBroadcastOffsetsAre) {
  const Shape output = {2, 3, 1, 4, 5};
  const std::vector<std::pair<std::vector<Shape>, int64_t>> cases = {
      {{output, output}, 120},      {{output, {5}}, 5},    {{output, {}}, 120},
      {{output, {4, 5}}, 20},       {{output, {4, 1}}, 5}, {{{2, 3, 1, 1, 1}, {}}, 20},
      {{output, {3, 1, 1, 1}}, 20}, {{{5}, {4, 1}}, 5},    {{{1, 1, 1, 4, 5}, output}, 20}};
  for (const auto& [inputs, length] : cases) {
    const BroadcastRuns runs = broadcast_runs(output, inputs);
    EXPECT_EQ(runs.length, length) << shape_text(inputs[0]) << " " << shape_text(inputs[1]);
    const auto offsets = broadcast_offsets(output, inputs);
    for (size_t i = 0; i < inputs.size(); ++i) {
      for (int64_t at = 0; at < element_count(output); ++at) {
        const auto run = static_cast<size_t>(at / runs.length);
        ASSERT_EQ(runs.offsets[i][run] + at % runs.length * runs.step[i], offsets[i][static_cast<size_t>(at)])
            << shape_text(inputs[i]) << " at " << at;
      }
    }
  }
}

TEST(Elementwise, RunsOfNothingTakeNoMemory) {
  const BroadcastRuns runs = broadcast_runs({int64_t{1} << 40, 0}, {{int64_t{1} << 40, 0}, {0}});
  ASSERT_EQ(runs.offsets.size(), 2u);
  EXPECT_TRUE(runs.offsets[0].empty() && runs.offsets[1].empty());
}

// Large enough to be shared out.
TEST(Elementwise, TheSameOnAnyNumberOfThreads) {
  const Tensor x = random_tensor(DType::Float32, {2, 6, 80, 90}), c = random_tensor(DType::Float32, {6, 1, 1}, 2),
               positive = random_tensor(DType::Float32, {6}, 3),
               small = random_tensor(DType::Float32, {12, 1, 3, 3}, 4),
               filters = random_tensor(DType::Float32, {40, 6, 3, 3}, 5),
               few = random_tensor(DType::Float32, {4, 3, 3, 3}, 6);
  Tensor variance = positive;
  for (int64_t i = 0; i < 6; ++i) variance.mutable_data<float>()[i] += 1.5f;
  const Attributes kernel = {{"kernel_shape", std::vector<int64_t>{3, 3}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}};
  const auto with = [&](const char* name, int64_t value) {
    Attributes attributes = kernel;
    attributes[name] = value;
    return attributes;
  };
  const std::vector<std::pair<Node, std::vector<const Tensor*>>> cases = {
      {test_node("Relu", {&x}), {&x}},
      {test_node("Mul", {&x, &c}), {&x, &c}},
      {test_node("Pow", {&c, &x}), {&c, &x}},
      {test_node("BatchNormalization", {&x, &positive, &positive, &positive, &variance}),
       {&x, &positive, &positive, &positive, &variance}},
      {test_node("MaxPool", {&x}, kernel, 2), {&x}},
      {test_node("AveragePool", {&x}, kernel), {&x}},
      {test_node("Conv", {&x, &filters}, kernel), {&x, &filters}},
      {test_node("Conv", {&x, &small}, with("group", 6)), {&x, &small}},
      {test_node("Conv", {&x, &few}, with("group", 2)), {&x, &few}}};
  for (const auto& [node, inputs] : cases) {
    const std::vector<Tensor> alone = run_reference(node, inputs);
    for (int threads : {1, 2, 7}) {
      ThreadPool pool(threads);
      const std::vector<Tensor> together = run_reference(node, inputs, &pool);
      for (size_t i = 0; i < alone.size(); ++i)
        EXPECT_TRUE(same_bits(alone[i], together[i])) << node.op << " output " << i << ", " << threads << " threads";
    }
  }
}

TEST(Elementwise, SixteenBitFloatsAreLeftToTheReference) {
  const Tensor x = random_tensor(DType::Float16, {4});
  const std::vector<Tensor> y = run_reference(test_node("Exp", {&x}), {&x});
  EXPECT_TRUE(run_lowered(test_node("Exp", {&x}), {&x}, y).context.stages.empty());
}

}  // namespace
}  // namespace dnn
