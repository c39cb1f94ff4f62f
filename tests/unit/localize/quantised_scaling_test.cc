// Channels that a quantiser scaled between layers, and scales that it folded into weights: neither is a fault.
#include "localize/quantised_scaling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "convert/surgery.h"
#include "graph/tensor_text.h"
#include "isolated.h"
#include "localize/quantised_pair.h"
#include "tensor/compare.h"

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

// Rows of weights rounded to nearest, each by a scale of its own.
struct Rounded {
  Tensor integers, scales;
};
Rounded rounded(const Tensor& weights) {
  const std::vector<double> w = to_doubles(weights);
  const auto rows = static_cast<size_t>(weights.dim(0));
  const size_t width = w.size() / rows;
  std::vector<double> scales(rows, 0), integers(w.size(), 0);
  for (size_t i = 0; i < w.size(); ++i) scales[i / width] = std::max(scales[i / width], std::abs(w[i]) / 127);
  for (size_t i = 0; i < w.size(); ++i) integers[i] = std::nearbyint(w[i] / scales[i / width]);
  return {convert(Tensor::of<double>(weights.shape(), integers), DType::Int8),
          convert(Tensor::of<double>({static_cast<int64_t>(rows)}, scales), DType::Float32)};
}

// The target: both layers' weights as integers.
Graph quantised(const Graph& float_graph) {
  Graph graph = float_graph;
  for (NodeId id : float_graph.order()) {
    if (float_graph.node(id).op != "Conv") continue;
    const Rounded made = rounded(*float_graph.constant(float_graph.node(id).input(1)));
    Node dequantize;
    dequantize.op = "DequantizeLinear";
    dequantize.name = float_graph.node(id).name + "_dequantize";
    dequantize.attributes["axis"] = int64_t{0};
    dequantize.inputs = {graph.add_constant(graph.unused_value_name("q"), made.integers),
                         graph.add_constant(graph.unused_value_name("s"), made.scales)};
    dequantize.outputs = {graph.add_value(graph.unused_value_name("d"))};
    const ValueId numbers = dequantize.outputs[0];
    graph.add_node(std::move(dequantize));
    graph.node(id).inputs[1] = numbers;
  }
  sort_nodes(graph);
  infer_types(graph);
  return graph;
}

const std::vector<double> kFactors = {0.5, 1, 0.2, 0.03, 0.8, 0.35};

Graph scaled(const Graph& graph) {
  Graph equal = graph;
  scale_between(equal, graph, values_between(graph).at(0), kFactors);
  infer_types(equal);
  return equal;
}

QuantisedPair pair_of(const Graph& source, const Graph& target) {
  return QuantisedPair(source, target, [&](const Graph* instead) {
    SourceRanges ranges;
    const Graph& graph = instead == nullptr ? source : *instead;
    for (const stream::TensorRecord& r : trace_of(graph, random_tensor(DType::Float32, {1, 4, 5, 5}, 7)))
      ranges[r.name].add(r.tensor);
    return ranges;
  });
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
  EXPECT_TRUE(pair.all_folded());
  EXPECT_TRUE(pair.verdict().faults.empty()) << pair.verdict().faults[0].what;
}

}  // namespace
}  // namespace dnn
