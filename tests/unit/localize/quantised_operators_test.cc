// Networks of operators on integers are mended as such, and written with these operators.
#include <gtest/gtest.h>

#include "base/file.h"
#include "cache.h"
#include "convert/surgery.h"
#include "formats/format.h"
#include "interp/interpreter.h"
#include "localize/repair_model.h"
#include "tensor/npy.h"
#include "unit/localize/quantised_graphs.h"

namespace dnn {
namespace {

constexpr float kInput = 0.02F, kBetween = 0.05F, kOutput = 0.1F;

// Two convolutions, and what they are on integers.
struct Operators {
  Graph source, target;
};

const char* const kFloatOperators = R"(graph "source" {
  input x: float32[1,4,5,5]
  const w: float32[6,4,3,3] = random(1)
  const b: float32[6] = {0.5, -0.25, 0.75, 1, -0.5, 0.3}
  const u: float32[8,6,1,1] = random(2)
  const a: float32[8] = {0.1, 0.2, -0.3, 0.4, 0.5, -0.6, 0.7, 0.8}
  r = Conv(x, w, b) @first {pads = [2, 2, 0, 0]}
  y = Conv(r, u, a) @last
  output y
})";

const char* const kIntegerOperators = R"(graph "target" {
  input x: float32[1,4,5,5]
  const xs: float32[] = random(1)
  const rs: float32[] = random(1)
  const ys: float32[] = random(1)
  const z: int8[] = {0}
  const w: int8[6,4,3,3] = random(1)
  const ws: float32[6] = random(1)
  const wz: int8[6] = random(1)
  const b: int32[6] = random(1)
  const u: int8[8,6,1,1] = random(1)
  const us: float32[8] = random(1)
  const uz: int8[8] = random(1)
  const a: int32[8] = random(1)
  xq = QuantizeLinear(x, xs, z) @start
  rq = QLinearConv(xq, xs, z, w, ws, wz, rs, z, b) @first {pads = [2, 2, 0, 0]}
  yq = QLinearConv(rq, rs, z, u, us, uz, ys, z, a) @last
  y = DequantizeLinear(yq, ys, z) @end
  output y
})";

void set(Graph* graph, const std::string& name, const Tensor& tensor) {
  const ValueId v = graph->find_value(name);
  graph->value(v).type = Type(tensor);
  graph->value(v).constant = tensor;
}

void set_layer(const Graph& source, Graph* target, const std::string& weights, const std::string& bias, float input) {
  const Rounded made = rounded(*source.constant(source.find_value(weights)));
  const std::vector<double> scales = to_doubles(made.scales),
                            numbers = to_doubles(*source.constant(source.find_value(bias)));
  std::vector<double> integers;
  for (size_t c = 0; c < numbers.size(); ++c)
    integers.push_back(std::nearbyint(numbers[c] / (static_cast<double>(input) * scales[c])));
  const auto n = static_cast<int64_t>(numbers.size());
  set(target, weights, made.integers);
  set(target, weights + "s", made.scales);
  set(target, weights + "z", Tensor::of<double>({n}, std::vector<double>(numbers.size(), 0)));
  set(target, weights + "z", convert(*target->constant(target->find_value(weights + "z")), DType::Int8));
  set(target, bias, convert(Tensor::of<double>({n}, integers), DType::Int32));
}

Operators operators(float input = kInput, float between = kBetween, float output = kOutput) {
  Operators made = {typed(kFloatOperators), parse_graph(kIntegerOperators)};
  set(&made.target, "xs", Tensor::scalar(input));
  set(&made.target, "rs", Tensor::scalar(between));
  set(&made.target, "ys", Tensor::scalar(output));
  set_layer(made.source, &made.target, "w", "b", input);
  set_layer(made.source, &made.target, "u", "a", between);
  infer_types(made.target);
  return made;
}

struct MendedOperators {
  RepairReport report;
  Graph graph;
};

MendedOperators mended_operators(const Graph& source, const Graph& target) {
  const std::string folder = ::testing::TempDir() + "/";
  write_model(source, folder + "operators_source.onnx");
  write_model(target, folder + "operators_target.onnx");
  write_file(folder + "operators.npy", format_npy(random_tensor(DType::Float32, {12, 4, 5, 5}, 5)));
  RepairRequest request;
  request.source = folder + "operators_source.onnx";
  request.target = folder + "operators_target.onnx";
  request.inputs = {folder + "operators.npy"};
  request.network.device = "reference";
  request.output = folder + "operators_repaired.onnx";
  request.folders.compile.build.cache_folder = test_cache();
  MendedOperators result = {repair_model(request), {}};
  if (!result.report.output.empty()) result.graph = read_model(open_model(request.output));
  return result;
}

// The constant at an input of a node of that name.
Tensor held_by(const Graph& graph, const std::string& node, size_t input) {
  for (NodeId id : graph.order()) {
    if (graph.node(id).name != node) continue;
    EXPECT_EQ(graph.node(id).op, "QLinearConv");
    return *graph.constant(graph.node(id).input(input));
  }
  ADD_FAILURE() << node << " is not there";
  return {};
}

void expect_same_operators(const Graph& graph, const Graph& healthy) {
  for (const char* node : {"first", "last"}) {
    for (const size_t input : {1, 3, 4, 6, 8})
      EXPECT_TRUE(held_by(graph, node, input).identical(held_by(healthy, node, input))) << node << ", input " << input;
  }
}

TEST(QuantisedOperators, HealthyOnesAreLeftAlone) {
  const Operators made = operators();
  EXPECT_EQ(mended_operators(made.source, made.target).report.verdict, RepairReport::Verdict::Healthy);
}

TEST(QuantisedOperators, AnAttributeIsMendedAndTheyStayWhatTheyAre) {
  const Operators made = operators();
  Graph target = made.target;
  for (NodeId id : std::vector<NodeId>(target.order())) {
    if (target.node(id).name == "first") target.node(id).attributes["pads"] = std::vector<int64_t>{0, 0, 2, 2};
  }
  infer_types(target);
  const MendedOperators result = mended_operators(made.source, target);
  EXPECT_EQ(result.report.verdict, RepairReport::Verdict::Repaired) << repair_text(result.report);
  EXPECT_EQ(result.report.edits.size(), 1u);
  EXPECT_TRUE(result.report.between_quantisers.empty());
  expect_same_operators(result.graph, made.target);
  for (NodeId id : result.graph.order()) {
    if (result.graph.node(id).name != "first") continue;
    EXPECT_EQ(result.graph.node(id).attribute_ints("pads"), (std::vector<int64_t>{2, 2, 0, 0}));
  }
}

// A bias follows from these scales, so that its own integers tell which of them is wrong, and stay.
TEST(QuantisedOperators, ScalesArePutBackAndTheBiasStaysWhatItIs) {
  const Operators made = operators();
  const Tensor scales = *made.target.constant(made.target.find_value("ws"));
  std::vector<double> one = to_doubles(scales), all = one;
  one[2] *= 2;
  for (double& s : all) s *= 1.5;
  for (const std::vector<double>& wrong : {one, all}) {
    Graph target = made.target;
    set(&target, "ws", convert(Tensor::of<double>(scales.shape(), wrong), DType::Float32));
    infer_types(target);
    const MendedOperators result = mended_operators(made.source, target);
    EXPECT_EQ(result.report.verdict, RepairReport::Verdict::Repaired) << repair_text(result.report);
    expect_same_operators(result.graph, made.target);
  }
  Graph target = made.target;
  for (NodeId id : std::vector<NodeId>(target.order())) {
    if (target.node(id).name == "last")
      target.node(id).inputs[1] = target.add_constant("wrong", Tensor::scalar(1.3F * kBetween));
  }
  infer_types(target);
  const MendedOperators result = mended_operators(made.source, target);
  EXPECT_EQ(result.report.verdict, RepairReport::Verdict::Repaired) << repair_text(result.report);
  expect_same_operators(result.graph, made.target);
}

TEST(QuantisedOperators, ABiasInAnotherOrderIsPutBack) {
  const Operators made = operators();
  for (const size_t by : {1, 3}) {
    Graph target = made.target;
    const Tensor before = *target.constant(target.find_value("a"));
    std::vector<double> integers = to_doubles(before);
    std::rotate(integers.begin(), integers.begin() + static_cast<std::ptrdiff_t>(by), integers.end());
    set(&target, "a", convert(Tensor::of<double>(before.shape(), integers), DType::Int32));
    infer_types(target);
    const MendedOperators result = mended_operators(made.source, target);
    EXPECT_EQ(result.report.verdict, RepairReport::Verdict::Repaired) << repair_text(result.report);
    ASSERT_EQ(result.report.edits.size(), 1u);
    EXPECT_EQ(result.report.edits[0].key, "order");
    expect_same_operators(result.graph, made.target);
  }
}

// Integers that were made of other scales leave the bias right as it is.
TEST(QuantisedOperators, IntegersThatAreHalfAsLargeAreMadeAnew) {
  const Operators made = operators();
  Graph target = made.target;
  const Tensor before = *target.constant(target.find_value("w"));
  std::vector<double> integers = to_doubles(before);
  for (double& q : integers) q = std::nearbyint(q / 2);
  set(&target, "w", convert(Tensor::of<double>(before.shape(), integers), DType::Int8));
  infer_types(target);
  const MendedOperators result = mended_operators(made.source, target);
  EXPECT_EQ(result.report.verdict, RepairReport::Verdict::Repaired) << repair_text(result.report);
  expect_same_operators(result.graph, made.target);
}

// The largest magnitude of a value of the source on the inputs that are repaired with.
double largest_given(const Graph& source, const std::string& name) {
  const Tensor inputs = random_tensor(DType::Float32, {12, 4, 5, 5}, 5);
  double largest = 0;
  for (int64_t place = 0; place < inputs.dim(0); ++place) {
    Tensor one(DType::Float32, {1, 4, 5, 5});
    std::copy_n(inputs.data<float>() + place * one.size(), one.size(), one.mutable_data<float>());
    interpret(source, {one}, [&](const Graph& graph, ValueId v, const Tensor& value) {
      for (const double x : graph.value(v).name == name ? to_doubles(value) : std::vector<double>())
        largest = std::max(largest, std::abs(x));
    });
  }
  return largest;
}

// A range that is two thirds of what the source has may have been chosen, so that no layer is wrong by it; no bias tells either. The
// wrong scales of weights beside it are mended, and the outputs as they are made then are not the source's.
TEST(QuantisedOperators, WhatIsMendedBesideAFaultThatNoLayerShowsIsNotRepaired) {
  const Graph source = operators().source;
  const auto scale_of_all = [&](const char* value) { return static_cast<float>(largest_given(source, value) / 127); };
  for (const float part : {1.0F, 0.667F}) {
    const Operators made = operators(scale_of_all("x"), scale_of_all("r"), part * scale_of_all("y"));
    Graph target = made.target;
    EXPECT_EQ(mended_operators(made.source, target).report.verdict, RepairReport::Verdict::Healthy);
    std::vector<double> scales = to_doubles(*target.constant(target.find_value("ws")));
    for (double& s : scales) s *= 1.5;
    set(&target, "ws", convert(Tensor::of<double>({6}, scales), DType::Float32));
    infer_types(target);
    const MendedOperators result = mended_operators(made.source, target);
    const RepairReport& report = result.report;
    EXPECT_EQ(report.findings.size(), 1u);
    EXPECT_TRUE(report.left.empty());
    ASSERT_TRUE(report.noise);
    EXPECT_EQ(report.noise->n_samples, 12);
    if (part == 1) {
      EXPECT_EQ(report.verdict, RepairReport::Verdict::Repaired) << repair_text(report);
      EXPECT_NEAR(report.noise->apart / report.noise->explained, 1, 0.1);
      continue;
    }
    EXPECT_EQ(report.verdict, RepairReport::Verdict::NotRepaired) << repair_text(report);
    EXPECT_GT(report.noise->apart, 2 * report.noise->explained);
    EXPECT_NE(repair_text(report).find("its outputs are further from the source's than its quantisers explain"),
              std::string::npos)
        << repair_text(report);
  }
}

}  // namespace
}  // namespace dnn
