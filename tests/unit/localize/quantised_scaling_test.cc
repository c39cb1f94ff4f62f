// Channels that a quantiser scaled between layers, and scales that it folded into weights: neither is a fault.
#include "localize/quantised_scaling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "convert/surgery.h"
#include "tensor/compare.h"
#include "unit/localize/quantised_graphs.h"

namespace dnn {
namespace {

// Two layers of random weights with a Relu between, and a Mul by channel behind the first where `scale` says so.
Graph source_with(const std::string& behind_first) {
  return typed(R"(graph "source" {
  input x: float32[1,4,5,5]
  const w: float32[6,4,3,3] = random(1)
  const b: float32[6] = {0.5, -0.25, 0.75, 1, -0.5, 0.3}
  const m: float32[1,6,1,1] = {2, 0.5, 1, 3, 0.25, 1.5}
  const u: float32[8,6,1,1] = random(2)
  const a: float32[8] = {0.1, 0.2, -0.3, 0.4, 0.5, -0.6, 0.7, 0.8}
  c = Conv(x, w, b) @first
)" + behind_first +
               R"(
  y = Conv(r, u, a) @last
  output y
})");
}

const std::vector<double> kFactors = {0.5, 1, 0.2, 0.03, 0.8, 0.35};

Graph scaled(const Graph& graph) {
  Graph equal = graph;
  scale_between(equal, graph, values_between(graph).at(0), kFactors);
  infer_types(equal);
  return equal;
}

void set_integer(Graph& graph, const char* layer, size_t at, double integer) {
  for (NodeId id : graph.order()) {
    if (graph.node(id).name != std::string(layer) + "_dequantize") continue;
    const Tensor before = *graph.constant(graph.node(id).input(0));
    std::vector<double> numbers = to_doubles(before);
    numbers[at] = integer;
    set_constant(graph, id, 0, convert(Tensor::of<double>(before.shape(), numbers), DType::Int8), "changed");
  }
  infer_types(graph);
}

TEST(QuantisedScaling, TellsTheFactorsThatChannelsWereScaledBy) {
  const Graph source = source_with("  r = Relu(c) @act");
  const QuantisedSource found = quantised_source(source, quantised(scaled(source)));
  ASSERT_EQ(found.scaled.values.size(), 1u);
  for (size_t c = 0; c < kFactors.size(); ++c)
    EXPECT_NEAR(found.scaled.values[0].factors[c] / kFactors[c], 1, 4e-3) << c;
}

TEST(QuantisedScaling, ScaledChannelsAreNoFault) {
  const Graph source = source_with("  r = Relu(c) @act"), target = quantised(scaled(source));
  const QuantisedPair pair = pair_of(source, target);
  EXPECT_TRUE(pair.verdict().faults.empty()) << pair.verdict().faults[0].what;
  EXPECT_EQ(pair.report().n_scaled, 1);
  // The float network left is the source, weight by weight.
  const Tensor x = random_tensor(DType::Float32, {1, 4, 5, 5}, 3);
  EXPECT_LT(part_of_largest(compare(interpret(source, {x})[0], interpret(pair.undone(), {x})[0])), 1e-6);
}

// A kernel for each channel between two layers, as in MobileNets, and both values scaled: its rows tell of one factor over another.
TEST(QuantisedScaling, ChannelsScaledInFrontOfAndBehindAKernelForEachAreNoFault) {
  for (int seed = 1; seed <= 12; ++seed) {
    const Graph source = typed(cat(R"(graph "depthwise" {
  input x: float32[1,4,5,5]
  const w: float32[16,4,1,1] = random()",
                                   10 * seed, R"()
  const b: float32[16] = random()",
                                   10 * seed + 1, R"()
  const d: float32[16,1,3,3] = random()",
                                   10 * seed + 2, R"()
  const e: float32[16] = random()",
                                   10 * seed + 3, R"()
  const u: float32[8,16,1,1] = random()",
                                   10 * seed + 4, R"()
  const a: float32[8] = random()",
                                   10 * seed + 5, R"()
  c = Conv(x, w, b) @first
  r = Relu(c) @act
  m = Conv(r, d, e) @middle {group = 16, pads = [1, 1, 1, 1]}
  s = Relu(m) @act2
  y = Conv(s, u, a) @last
  output y
})"));
    Graph equal = source;
    const std::vector<ValueBetween> between = values_between(source);
    ASSERT_EQ(between.size(), 2u);
    for (size_t v = 0; v < 2; ++v) {
      std::vector<double> factors;
      for (double x : to_doubles(random_tensor(DType::Float32, {16}, 1000 * static_cast<uint64_t>(seed) + v)))
        factors.push_back(std::exp(-3 * std::abs(x)));
      scale_between(equal, source, between[v], factors);
    }
    infer_types(equal);
    const QuantisedPair pair = pair_of(source, quantised(equal));
    EXPECT_EQ(pair.report().n_scaled, 2) << seed;
    EXPECT_TRUE(pair.verdict().faults.empty()) << seed << ": " << pair.verdict().faults[0].what;
  }
}

TEST(QuantisedScaling, ANumberThatIsWrongAmongScaledChannelsIsNamed) {
  const Graph source = source_with("  r = Relu(c) @act");
  Graph target = quantised(scaled(source));
  set_integer(target, "first", 2 * 36 + 5, 111);
  const QuantisedPair pair = pair_of(source, target);
  ASSERT_EQ(pair.verdict().faults.size(), 1u);
  const QuantisedFault& fault = pair.verdict().faults[0];
  EXPECT_EQ(pair.written().node(fault.layer).name, "first");
  ASSERT_EQ(fault.edits.size(), 1u);
  EXPECT_EQ(fault.edits[0].rows, std::vector<size_t>{2});
  // The edit gives the integer back that the quantiser had chosen.
  Graph mended = target;
  EditSource from(source);
  apply_edits(fault.edits, from, mended);
  infer_types(mended);
  EXPECT_TRUE(pair_of(source, mended).verdict().faults.empty());
}

// Each of its integers is a step nearer to 0, so that the row by itself tells of a factor near the right one.
TEST(QuantisedScaling, ARowThatIsWrongByAStepIsNamedAndNotTheColumnBehindIt) {
  for (int seed = 1; seed <= 8; ++seed) {
    const Graph source = typed(cat(R"(graph "chain" {
  input x: float32[1,4,5,5]
  const w: float32[16,4,3,3] = random()",
                                   10 * seed, R"()
  const b: float32[16] = random()",
                                   10 * seed + 1, R"()
  const u: float32[12,16,3,3] = random()",
                                   10 * seed + 2, R"()
  const a: float32[12] = random()",
                                   10 * seed + 3, R"()
  c = Conv(x, w, b) @first
  r = Relu(c) @act
  y = Conv(r, u, a) @last
  output y
})"));
    Graph equal = source;
    std::vector<double> factors;
    for (double x : to_doubles(random_tensor(DType::Float32, {16}, static_cast<uint64_t>(seed))))
      factors.push_back(std::exp(-2 * std::abs(x)));
    scale_between(equal, source, values_between(source).at(0), factors);
    infer_types(equal);
    Graph target = quantised(equal);
    for (NodeId id : target.order()) {
      if (target.node(id).name != "first_dequantize") continue;
      const Tensor before = *target.constant(target.node(id).input(0));
      std::vector<double> numbers = to_doubles(before);
      for (size_t i = 2 * 36; i < 3 * 36; ++i) numbers[i] -= numbers[i] > 0 ? 1 : numbers[i] < 0 ? -1 : 0;
      set_constant(target, id, 0, convert(Tensor::of<double>(before.shape(), numbers), DType::Int8), "changed");
    }
    infer_types(target);
    const QuantisedPair pair = pair_of(source, target);
    for (const QuantisedFault& fault : pair.verdict().faults)
      EXPECT_EQ(pair.written().node(fault.layer).name, "first") << seed << ": " << fault.what;
    ASSERT_EQ(pair.verdict().faults.size(), 1u) << seed;
    ASSERT_EQ(pair.verdict().faults[0].edits.size(), 1u) << seed;
    EXPECT_EQ(pair.verdict().faults[0].edits[0].rows, std::vector<size_t>{2}) << seed;
  }
}

// One layer's rows are scaled, and nothing multiplies them back.
TEST(QuantisedScaling, ScalesOfOneLayerAloneAreAFault) {
  const Graph source = source_with("  r = Relu(c) @act"), both = scaled(source);
  Graph one = source;
  for (NodeId id : source.order()) {
    if (source.node(id).name == "first") set_constant(one, id, 1, *both.constant(both.node(id).input(1)), "w");
  }
  infer_types(one);
  const QuantisedPair pair = pair_of(source, quantised(one));
  EXPECT_EQ(pair.report().n_scaled, 0);
  ASSERT_EQ(pair.verdict().faults.size(), 1u);
  EXPECT_EQ(pair.written().node(pair.verdict().faults[0].layer).name, "first");
}

TEST(QuantisedScaling, AScaleBehindALayerMayBeInItsWeights) {
  const Graph source = source_with("  t = Mul(c, m) @times\n  r = Relu(t) @act");
  Graph folded = source;
  fold_into_layers(folded);
  const Graph target = quantised(folded);
  const QuantisedPair pair = pair_of(source, target);
  EXPECT_EQ(pair.fold(), QuantisedSource::Fold::All);
  EXPECT_TRUE(pair.verdict().faults.empty()) << pair.verdict().faults[0].what;
}

}  // namespace
}  // namespace dnn
