// Pruning: zeros where they harm least, channels that are really gone, clusters.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "../quant/cases.h"
#include "convert/surgery.h"
#include "interp/interpreter.h"
#include "prune/scan.h"
#include "prune/weights.h"

namespace dnn::prune {
namespace {

using quant::bound_graph;
using quant::Calibration;
using quant::ChannelFigures;
using quant::Given;
using quant::parsed;
using quant::random_samples;

std::map<ValueId, ChannelFigures> measured(const Graph& bound, std::map<ValueId, ChannelFigures> watched,
                                           const std::vector<Tensor>& samples) {
  Calibration calibration;
  calibration.figures = std::move(watched);
  Given given(samples);
  quant::calibrate(bound, given, quant::options().calibrate, &calibration);
  return calibration.figures;
}

std::vector<double> output(const Graph& graph, const Tensor& sample) {
  return to_doubles(interpret(graph, {sample})[0]);
}

double error(const Graph& before, const Graph& after, const std::vector<Tensor>& samples) {
  double sum = 0, all = 0;
  for (const Tensor& sample : samples) {
    const std::vector<double> a = output(before, sample), b = output(after, sample);
    for (size_t i = 0; i < a.size(); ++i) {
      sum += (a[i] - b[i]) * (a[i] - b[i]);
      all += a[i] * a[i];
    }
  }
  return std::sqrt(sum / all);
}

TEST(Weights, TheSmallestOfEachRowBecomeZero) {
  const Tensor w = Tensor::of<float>({2, 4}, {1, -2, 3, -4, 10, 20, -30, 40});
  const Tensor half = with_zeros(w, 0, 1, 0.5, {});
  EXPECT_EQ(to_doubles(half), (std::vector<double>{0, 0, 3, -4, 0, 0, -30, 40}));
  EXPECT_EQ(zeros_in(half), 4);
  // The number that a weight multiplies counts, too.
  EXPECT_EQ(to_doubles(with_zeros(w, 0, 1, 0.5, {100, 1, 1, 0.01})), (std::vector<double>{1, 0, 3, 0, 10, 0, -30, 0}));
  EXPECT_EQ(to_doubles(with_zeros(w, 1, 0, 0.5, {})), (std::vector<double>{0, 0, 0, 0, 10, 20, -30, 40}));
}

TEST(Weights, ClustersAreTheNearestMeans) {
  const Tensor w = Tensor::of<float>({8}, {0.9F, 1.1F, 5, 5, -3, -3.2F, 0, 0});
  const Tensor four = clustered(w, 4, false, 1);
  const std::vector<double> got = to_doubles(four);
  EXPECT_EQ(got[2], 5);
  EXPECT_NEAR(got[0], 1, 1e-6);
  EXPECT_EQ(got[0], got[1]);
  EXPECT_NEAR(got[4], -3.1, 1e-6);
  EXPECT_EQ(got[4], got[5]);
  EXPECT_EQ(got[6], 0);
  // A random tensor never has more numbers than asked for, and no number is nearer to another centre than to its own.
  const Tensor random = random_samples({1, 4000}, 1)[0];
  for (const int64_t k : {2, 16, 63}) {
    for (const bool zeros : {false, true}) {
      const Tensor few = clustered(zeros ? with_zeros(random, 0, 1, 0.3, {}) : random, k, zeros, 7);
      const std::span<const float> x = few.values<float>();
      const std::set<float> centres(x.begin(), x.end());
      EXPECT_LE(static_cast<int64_t>(centres.size()), k);
      EXPECT_GT(static_cast<int64_t>(centres.size()), k / 2);
      EXPECT_EQ(zeros_in(few), zeros ? 1200 : 0);
      for (size_t i = 0; !zeros && i < x.size(); ++i) {
        const float real = random.values<float>()[i];
        for (const float c : centres) EXPECT_LE(std::abs(real - x[i]), std::abs(real - c) + 1e-6F);
      }
    }
  }
}

// Blocks with a residual connection, a depthwise layer, a gate per channel, a join, and a head over pixels.
constexpr const char* kNetwork = R"(
  input x: float32[1,3,8,8]
  const w0: float32[8,3,3,3] = random(1)
  const b0: float32[8] = random(2)
  const w1: float32[16,8,1,1] = random(3)
  const w2: float32[16,1,3,3] = random(4)
  const w3: float32[8,16,1,1] = random(5)
  const b3: float32[8] = random(6)
  const w4: float32[6,8,1,1] = random(7)
  const w5: float32[8,6,1,1] = random(8)
  const w6: float32[4,16,1,1] = random(9)
  const g1: float32[10,64] = random(10)
  const h1: float32[10] = random(11)
  const g2: float32[5,10] = random(12)
  c0 = Conv(x, w0, b0) @stem {pads = [1, 1, 1, 1]}
  r0 = Relu(c0) @relu0
  c1 = Conv(r0, w1) @expand
  r1 = Relu(c1) @relu1
  c2 = Conv(r1, w2) @depthwise {group = 16, pads = [1, 1, 1, 1]}
  r2 = Relu(c2) @relu2
  c3 = Conv(r2, w3, b3) @project
  a = Add(c3, r0) @add
  p = GlobalAveragePool(a) @squeeze
  c4 = Conv(p, w4) @reduce
  r4 = Relu(c4) @relu4
  c5 = Conv(r4, w5) @excite
  s = Sigmoid(c5) @gate
  m = Mul(a, s) @scale
  k = Concat(m, r0) @join {axis = 1}
  c6 = Conv(k, w6) @last
  q = MaxPool(c6) @pool {kernel_shape = [2, 2], strides = [2, 2]}
  f = Flatten(q) @flatten
  d1 = Gemm(f, g1, h1) @dense {transB = 1}
  e1 = Relu(d1) @relu5
  y = Gemm(e1, g2) @head {transB = 1}
  output y
)";

TEST(Channels, WhatIsAddedOrMultipliedGoesTogether) {
  const Graph graph = bound_graph(quant::prepare(parsed(kNetwork)));
  const ChannelGroups groups(graph);
  std::map<std::string, std::pair<int64_t, size_t>> free;
  for (const ChannelGroup& group : groups.groups()) {
    if (group.free) free[group.name] = {group.channels, group.makers.size()};
  }
  EXPECT_EQ(free,
            (std::map<std::string, std::pair<int64_t, size_t>>{
                {"stem", {8, 3}}, {"expand", {16, 1}}, {"reduce", {6, 1}}, {"last", {4, 1}}, {"dense", {10, 1}}}));
}

// Channels of no weight: without them the network computes the same, to rounding.
TEST(Channels, ThoseThatNothingReadsGoFirstAndLeaveTheOutputsAlone) {
  Graph source = parsed(kNetwork);
  const auto zero = [&](const char* name, const std::vector<size_t>& places) {
    Tensor w = *source.constant(source.find_value(name));
    Tensor copy(DType::Float32, w.shape());
    std::copy(w.values<float>().begin(), w.values<float>().end(), copy.mutable_data<float>());
    for (size_t p : places) copy.mutable_data<float>()[p] = 0;
    source.value(source.find_value(name)).constant = copy;
  };
  // Half of what "project" reads, a channel of "reduce", and the pixels of a channel of "last".
  std::vector<size_t> columns, pixels;
  for (size_t o = 0; o < 8; ++o) {
    for (size_t c = 0; c < 16; c += 2) columns.push_back(o * 16 + c);
  }
  for (size_t o = 0; o < 10; ++o) {
    for (size_t p = 16; p < 32; ++p) pixels.push_back(o * 64 + p);
  }
  zero("w3", columns);
  zero("w5", {3, 9, 15, 21, 27, 33, 39, 45});
  zero("g1", pixels);
  const Graph graph = bound_graph(quant::prepare(source));
  const std::vector<Tensor> samples = random_samples({1, 3, 8, 8}, 10);
  ChannelGroups groups(graph);
  const auto figures = measured(graph, groups.watched(), samples);
  groups.weigh(figures);
  std::vector<double> shares;
  for (const ChannelGroup& group : groups.groups())
    shares.push_back(group.name == "expand" ? 0.5 : group.name == "reduce" ? 0.2 : group.name == "last" ? 0.25 : 0);
  Graph small = groups.without(groups.kept(shares), figures);
  infer_types(small);
  EXPECT_LT(error(graph, small, samples), 1e-5);
  std::map<std::string, Shape> shapes;
  for (NodeId id : small.order()) {
    const Tensor* w = small.constant(small.node(id).input(1));
    if (w != nullptr) shapes[small.node(id).name] = w->shape();
  }
  EXPECT_EQ(shapes["expand"], (Shape{8, 8, 1, 1}));
  EXPECT_EQ(shapes["depthwise"], (Shape{8, 1, 3, 3}));
  EXPECT_EQ(shapes["project"], (Shape{8, 8, 1, 1}));
  EXPECT_EQ(shapes["reduce"], (Shape{5, 8, 1, 1}));
  EXPECT_EQ(shapes["excite"], (Shape{8, 5, 1, 1}));
  EXPECT_EQ(shapes["last"], (Shape{3, 16, 1, 1}));
  EXPECT_EQ(shapes["dense"], (Shape{10, 48}));
}

TEST(Channels, AResidualStreamShrinksEverywhere) {
  const Graph graph = bound_graph(quant::prepare(parsed(kNetwork)));
  const std::vector<Tensor> samples = random_samples({1, 3, 8, 8}, 10);
  ChannelGroups groups(graph);
  const auto figures = measured(graph, groups.watched(), samples);
  groups.weigh(figures);
  const std::vector<double> half(groups.groups().size(), 0.5);
  Graph small = groups.without(groups.kept(half), figures);
  infer_types(small);
  EXPECT_EQ(small.value(small.outputs[0]).type.fixed_shape(), (Shape{1, 5}));
  for (const auto& [name, channels] :
       std::map<std::string, int64_t>{{"a", 4}, {"m", 4}, {"k", 8}, {"c6", 2}, {"d1", 5}})
    EXPECT_EQ(small.value(small.find_value(name)).type.fixed_shape()[1], channels) << name;
  EXPECT_EQ(output(small, samples[0]).size(), 5U);
  // Biases make up for what the channels gave on average.
  ChannelGroups plain(graph);
  plain.weigh({});
  Graph blind = plain.without(plain.kept(half), {});
  infer_types(blind);
  EXPECT_LT(error(graph, small, samples), error(graph, blind, samples));
}

// Norms behind layers with and without a bias, a depthwise one, and one whose input has two readers.
constexpr const char* kNormed = R"(
  input x: float32[1,3,8,8]
  const w0: float32[8,3,3,3] = random(1)
  const w1: float32[16,8,1,1] = random(3)
  const b1: float32[16] = random(2)
  const w2: float32[16,1,3,3] = random(4)
  const w3: float32[8,16,1,1] = random(5)
  const w4: float32[4,8,1,1] = random(6)
  const s8: float32[8] = random(10)
  const t8: float32[8] = random(11)
  const m8: float32[8] = random(12)
  const v8: float32[8] = random(13)
  const s16: float32[16] = random(14)
  const t16: float32[16] = random(15)
  const m16: float32[16] = random(16)
  const v16: float32[16] = random(17)
  const g: float32[5,4] = random(18)
  c0 = Conv(x, w0) @stem {pads = [1, 1, 1, 1]}
  n0 = BatchNormalization(c0, s8, t8, m8, v8) @norm0
  r0 = Relu(n0) @relu0
  c1 = Conv(r0, w1, b1) @expand
  n1 = BatchNormalization(c1, s16, t16, m16, v16) @norm1
  r1 = Relu(n1) @relu1
  c2 = Conv(r1, w2) @depthwise {group = 16, pads = [1, 1, 1, 1]}
  n2 = BatchNormalization(c2, s16, t16, m16, v16) @norm2 {epsilon = 0.01}
  r2 = Relu(n2) @relu2
  c3 = Conv(r2, w3) @project
  n3 = BatchNormalization(c3, s8, t8, m8, v8) @norm3
  a = Add(n3, c3) @add
  c4 = Conv(a, w4) @last
  p = GlobalAveragePool(c4) @pool
  f = Flatten(p) @flatten
  y = Gemm(f, g) @head {transB = 1}
  output y
)";

// The channels that go are those that go from the network with its norms folded, and the rest computes the same.
TEST(Channels, NormsStayAndMakeUpAsBiasesDo) {
  Graph source = parsed(kNormed);
  for (const char* name : {"v8", "v16"}) {
    const Tensor& old = *source.constant(source.find_value(name));
    std::vector<double> variances = to_doubles(old);
    for (double& v : variances) v = v * v + 0.1;
    source.value(source.find_value(name)).constant =
        convert(Tensor::of<double>(old.shape(), variances), DType::Float32);
  }
  const std::vector<Tensor> samples = random_samples({1, 3, 8, 8}, 10);
  const auto half = [&](const Graph& graph) {
    ChannelGroups groups(graph);
    const auto figures = measured(graph, groups.watched(), samples);
    groups.weigh(figures);
    Graph small = groups.without(groups.kept(std::vector<double>(groups.groups().size(), 0.5)), figures);
    infer_types(small);
    return small;
  };
  const auto norms = [](const Graph& graph) {
    int count = 0;
    for (NodeId id : graph.order()) count += graph.node(id).op == "BatchNormalization" ? 1 : 0;
    return count;
  };
  const Graph with = half(bound_graph(source)), folded = half(bound_graph(quant::prepare(source)));
  EXPECT_EQ(norms(with), 4);
  EXPECT_EQ(norms(folded), 0);
  EXPECT_LT(error(folded, with, samples), 1e-5);
  EXPECT_EQ(with.node(with.order()[0]).inputs.size(), 2U);  // no bias in front of a norm
}

TEST(Scan, SharesGoWhereTheyHarmLeast) {
  const Graph graph = bound_graph(quant::prepare(parsed(kNetwork)));
  quant::PlanOptions only_weights;
  only_weights.activations = false;
  const quant::Plan plan = quant::make_plan(graph, only_weights);
  const std::vector<Tensor> samples = random_samples({1, 3, 8, 8}, 10);
  std::map<ValueId, ChannelFigures> watched;
  for (size_t i : prunable(graph, plan)) watched[graph.node(plan.weights[i].node).inputs[0]].axis = 1;
  const auto figures = measured(graph, watched, samples);
  std::vector<std::vector<Tensor>> inputs;
  for (const Tensor& sample : samples) inputs.push_back({sample});
  const Scan scan = scan_weights(graph, plan, figures, inputs, quant::options().calibrate);
  ASSERT_EQ(scan.rows.size(), 8U);  // depthwise layers stay
  const std::vector<double> shares = shares_by(scan, 0.5);
  double taken = 0, all = 0, by_scan = 0, even = 0;
  for (size_t r = 0; r < scan.rows.size(); ++r) {
    EXPECT_EQ(scan.rows[r].effects.size(), kLevels);
    taken += shares[r] * static_cast<double>(scan.rows[r].size);
    all += static_cast<double>(scan.rows[r].size);
    const auto level = static_cast<size_t>(std::lround(std::ceil(10 * shares[r] - 1e-6)));
    by_scan += level == 0 ? 0 : scan.rows[r].effects[level - 1].divergence;
    even += scan.rows[r].effects[4].divergence;
  }
  EXPECT_NEAR(taken, 0.5 * all, 1e-6 * all);
  EXPECT_LT(by_scan, even);
  EXPECT_NE(scan_text(scan, What::Weights).find("expand"), std::string::npos);
}

}  // namespace
}  // namespace dnn::prune
