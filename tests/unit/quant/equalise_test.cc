// Equalising: the network computes what it did, and its channels have ranges alike.
#include "quant/equalise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cases.h"
#include "interp/interpreter.h"

namespace dnn::quant {
namespace {

// Channel 0 of the value between the layers is 200 times the others.
constexpr const char* kUneven = R"(
  input x: float32[1,3,6,6]
  const w: float32[4,3,1,1] = {200, -100, 50, 1, 0.5, -1, 0.5, 1, 1, -1, 1, 0.5}
  const b: float32[4] = {20, 0.1, -0.2, 0.3}
  const v: float32[4,1,3,3] = random(3)
  const u: float32[5,4,1,1] = {0.005, 1, 1, 1, 0.002, -1, 1, 0.5, 0.004, 1, -1, 1, 0.001, 0.5, 1, 1, 0.003, 1, 1, -1}
  const low: float32[] = {0}
  const high: float32[] = {6}
  c = Conv(x, w, b) @first
  r = ACTIVATION
  d = Conv(r, v) @depthwise {group = 4}
  s = Relu(d) @relu
  y = Conv(s, u) @last
  output y
)";

Graph uneven(const std::string& activation) {
  std::string text = kUneven;
  text.replace(text.find("ACTIVATION"), 10, activation);
  return prepare(parsed(text));
}

Calibration measured(const Graph& bound, const std::vector<Tensor>& samples) {
  Calibration calibration;
  calibration.figures = equalised_values(bound);
  Given given(samples);
  calibrate(bound, given, options().calibrate, &calibration);
  return calibration;
}

double largest_difference(const Graph& a, const Graph& b, const Tensor& sample) {
  const std::vector<double> x = to_doubles(interpret(a, {sample})[0]), y = to_doubles(interpret(b, {sample})[0]);
  double most = 0, largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    most = std::max(most, std::abs(x[i] - y[i]));
    largest = std::max(largest, std::abs(x[i]));
  }
  return most / largest;
}

double spread(const std::vector<float>& peaks) {
  return static_cast<double>(*std::max_element(peaks.begin(), peaks.end()) /
                             *std::min_element(peaks.begin(), peaks.end()));
}

TEST(Equalise, ComputesTheSameWithChannelsAlike) {
  const std::vector<Tensor> samples = random_samples({1, 3, 6, 6}, 20);
  const Graph graph = uneven("Relu(c) @act"), bound = bound_graph(graph);
  const Calibration before = measured(bound, samples);
  Graph equal = graph;
  EXPECT_EQ(equalise(equal, bound, before.figures), 2);
  for (const Tensor& sample : samples) EXPECT_LT(largest_difference(graph, equal, sample), 1e-5);
  const Calibration after = measured(bound_graph(equal), samples);
  const ValueId r = bound.find_value("r");
  EXPECT_GT(spread(before.figures.at(r).peaks), 50);
  EXPECT_LT(spread(after.figures.at(r).peaks), 1.001);  // a depthwise layer reads it
}

TEST(Equalise, Int8LosesLess) {
  const std::vector<Tensor> samples = random_samples({1, 3, 6, 6}, 20);
  const Graph graph = uneven("Relu(c) @act"), bound = bound_graph(graph);
  Graph equal = graph;
  equalise(equal, bound, measured(bound, samples).figures);
  QuantizeOptions o = options();
  o.method = method_named("minmax");
  double lost[2] = {0, 0};
  for (const Graph* source : {&graph, static_cast<const Graph*>(&equal)}) {
    Given given(samples);
    QuantizeReport report;
    const Graph rounded = quantize(*source, given, o, &report);
    for (const Tensor& sample : samples) lost[source == &equal] += largest_difference(graph, rounded, sample);
  }
  EXPECT_LT(lost[1], lost[0] / 2);
}

// Behind a Clip a channel that reaches the bound must stay, and no other may reach it afterwards.
TEST(Equalise, KeepsWithinAClip) {
  const std::vector<Tensor> samples = random_samples({1, 3, 6, 6}, 20);
  const Graph graph = uneven("Clip(c, low, high) @act");
  const Graph bound = bound_graph(graph);
  Graph equal = graph;
  const Calibration before = measured(bound, samples);
  equalise(equal, bound, before.figures);
  for (const Tensor& sample : samples) EXPECT_LT(largest_difference(graph, equal, sample), 1e-5);
  const Calibration after = measured(bound_graph(equal), samples);
  const ValueId r = bound.find_value("r");
  EXPECT_EQ(after.figures.at(r).peaks[0], 6.0F);
  for (size_t c = 1; c < 4; ++c) {
    EXPECT_GT(after.figures.at(r).peaks[c], before.figures.at(r).peaks[c]) << c;
    EXPECT_LT(after.figures.at(r).peaks[c], 6.0F) << c;
  }
}

TEST(Equalise, LeavesValuesThatOthersRead) {
  const Graph graph = prepare(parsed(R"(
  input x: float32[1,3,6,6]
  const w: float32[4,3,1,1] = random(1)
  const u: float32[4,4,1,1] = random(2)
  c = Conv(x, w) @first
  d = Conv(c, u) @second
  y = Add(c, d) @add
  output y
)"));
  EXPECT_TRUE(equalised_values(bound_graph(graph)).empty());
}

// Two kernels for each channel: the value in front of them stays as it is.
TEST(Equalise, ComputesTheSameWithSeveralKernelsForAChannel) {
  const std::vector<Tensor> samples = random_samples({1, 3, 6, 6}, 20);
  const Graph graph = prepare(parsed(R"(
  input x: float32[1,3,6,6]
  const w: float32[2,3,1,1] = {200, -100, 50, 1, 0.5, -1}
  const v: float32[4,1,3,3] = random(3)
  const u: float32[5,4,1,1] = random(4)
  c = Conv(x, w) @first
  r = Relu(c) @act
  d = Conv(r, v) @two_for_each {group = 2}
  s = Relu(d) @relu
  y = Conv(s, u) @last
  output y
)"));
  const Graph bound = bound_graph(graph);
  Graph equal = graph;
  EXPECT_EQ(equalise(equal, bound, measured(bound, samples).figures), 1);
  for (const Tensor& sample : samples) EXPECT_LT(largest_difference(graph, equal, sample), 1e-5);
}

TEST(Equalise, ScalesALayerNormForTheLayersBehindIt) {
  const std::vector<Tensor> samples = random_samples({1, 5, 4}, 20);
  const Graph graph = prepare(parsed(R"(
  input x: float32[1,5,4]
  const s: float32[4] = {50, 1, 1, 1}
  const b: float32[4] = {0, 0.1, 0.2, -0.1}
  const u: float32[4,3] = {0.1, 0.2, 0.1, 1, 1, -1, 1, -1, 1, -1, 1, 1}
  const v: float32[4,2] = {0.1, 0.1, 1, 1, -1, 1, 1, 0.5}
  n = LayerNormalization(x, s, b) @norm {axis = -1}
  p = MatMul(n, u) @query
  q = MatMul(n, v) @key
  output p
  output q
)"));
  const Graph bound = bound_graph(graph);
  Graph equal = graph;
  const Calibration before = measured(bound, samples);
  EXPECT_EQ(equalise(equal, bound, before.figures), 1);
  for (const Tensor& sample : samples) EXPECT_LT(largest_difference(graph, equal, sample), 1e-5);
  EXPECT_LT(spread(measured(bound_graph(equal), samples).figures.at(bound.find_value("n")).peaks),
            spread(before.figures.at(bound.find_value("n")).peaks) / 2);
}

}  // namespace
}  // namespace dnn::quant
