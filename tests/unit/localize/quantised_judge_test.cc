// Choices that no quantiser makes: scales of biases that are no products, and zero points that leave an activation out.
#include "localize/quantised_judge.h"

#include <gtest/gtest.h>

#include <map>

#include "convert/surgery.h"
#include "localize/quantised_rows.h"
#include "tensor/compare.h"
#include "unit/localize/quantised_graphs.h"

namespace dnn {
namespace {

const char* const kFloat = R"(graph "source" {
  input x: float32[1,4,5,5]
  const w: float32[6,4,3,3] = random(1)
  const b: float32[6] = {0.5, -0.25, 0.75, 1, -0.5, 0.3}
  const u: float32[8,6,1,1] = random(2)
  const a: float32[8] = {0.1, 0.2, -0.3, 0.4, 0.5, -0.6, 0.7, 0.8}
  c = Conv(x, w, b) @first
  r = Relu(c) @act
  y = Conv(r, u, a) @last
  output y
})";

double largest_of(const Graph& graph, const std::string& name) {
  double largest = 0;
  for (const stream::TensorRecord& r : trace_of(graph, random_tensor(DType::Float32, {1, 4, 5, 5}, 7))) {
    for (double x : r.name == name ? to_doubles(r.tensor) : std::vector<double>()) largest = std::max(largest, x);
  }
  return largest;
}

struct Range {
  float scale;
  uint8_t zero, zero_behind;  // of the quantiser, and of what dequantises
};

// Both layers' weights as integers, and the activation between them, of which the range alone is left.
Graph target_with(const Graph& source, const Range& range) {
  Graph graph = quantised(source);
  for (NodeId id : std::vector<NodeId>(graph.order())) {
    if (graph.node(id).name != "act") continue;
    const ValueId made = graph.node(id).output(0), real = graph.node(id).input(0);
    graph.remove_node(id);
    const auto add = [&](const char* op, ValueId in, uint8_t zero, ValueId out) {
      Node node;
      node.op = op;
      node.name = op;
      node.inputs = {in, graph.add_constant(graph.unused_value_name("s"), Tensor::scalar(range.scale)),
                     graph.add_constant(graph.unused_value_name("z"), Tensor::scalar(zero))};
      node.outputs = {out};
      graph.add_node(std::move(node));
    };
    const ValueId integers = graph.add_value("integers");
    add("QuantizeLinear", real, range.zero, integers);
    add("DequantizeLinear", integers, range.zero_behind, made);
  }
  sort_nodes(graph);
  infer_types(graph);
  return graph;
}

float fitting(const Graph& source) { return static_cast<float>(largest_of(source, "r") * 1.2 / 255); }

// The bias of the layer behind as integers, of the product of its input's scale and its weights', times a factor.
Graph with_bias(const Graph& source, double factor) {
  const float input = fitting(source);
  Graph graph = target_with(source, {input, 0, 0});
  for (NodeId id : std::vector<NodeId>(graph.order())) {
    if (graph.node(id).name != "last") continue;
    const std::vector<double> scales = to_doubles(rounded(*source.constant(source.node(id).input(1))).scales),
                              bias = to_doubles(*source.constant(source.node(id).input(2)));
    std::vector<double> products, integers;
    for (size_t c = 0; c < bias.size(); ++c) {
      products.push_back(scales[c] * static_cast<double>(input));
      integers.push_back(std::nearbyint(bias[c] / products[c]));
      products[c] *= factor;
    }
    graph.node(id).inputs[2] = dequantised(&graph, "bias", convert(Tensor::of<double>({8}, integers), DType::Int32),
                                           convert(Tensor::of<double>({8}, products), DType::Float32));
  }
  sort_nodes(graph);
  infer_types(graph);
  return graph;
}

TEST(QuantisedJudge, ARangeThatStandsForAnActivationIsNoFault) {
  const Graph source = typed(kFloat);
  const QuantisedPair pair = pair_of(source, target_with(source, {fitting(source), 0, 0}));
  EXPECT_TRUE(pair.verdict().faults.empty()) << pair.verdict().faults[0].what;
  EXPECT_EQ(pair.verdict().match.clamps.size(), 1u);
}

// Both have it alike, so that nothing but the activation that is left out tells of it.
TEST(QuantisedJudge, AZeroPointThatLeavesAnActivationOutIsMoved) {
  const Graph source = typed(kFloat);
  for (const uint8_t zero : {64, 96}) {
    const QuantisedPair pair = pair_of(source, target_with(source, {fitting(source), zero, zero}));
    ASSERT_EQ(pair.verdict().faults.size(), 1u) << int{zero};
    const QuantisedFault& fault = pair.verdict().faults[0];
    EXPECT_EQ(pair.written().node(fault.node).op, "QuantizeLinear");
    ASSERT_EQ(fault.edits.size(), 2u);
    for (const Edit& edit : fault.edits) {
      EXPECT_EQ(edit.key, "zero point");
      EXPECT_EQ(edit.numbers, std::vector<double>{0});
    }
  }
}

// As wide as what the first layer makes: no range of the activation, which is missing.
TEST(QuantisedJudge, ARangeOfWhatTheActivationWouldCutOffIsNoMovedZeroPoint) {
  const Graph source = typed(kFloat);
  double low = 0, high = 0;
  for (const stream::TensorRecord& r : trace_of(source, random_tensor(DType::Float32, {1, 4, 5, 5}, 7))) {
    for (double x : r.name == "c" ? to_doubles(r.tensor) : std::vector<double>()) {
      low = std::min(low, x);
      high = std::max(high, x);
    }
  }
  const auto scale = static_cast<float>((high - low) / 255);
  const auto zero = static_cast<uint8_t>(std::nearbyint(-low / static_cast<double>(scale)));
  const QuantisedPair pair = pair_of(source, target_with(source, {scale, zero, zero}));
  EXPECT_TRUE(pair.verdict().faults.empty()) << pair.verdict().faults[0].what;
  EXPECT_TRUE(pair.verdict().match.clamps.empty());
}

TEST(QuantisedJudge, OfTwoZeroPointsTheOneThatStandsForTheActivationIsRight) {
  const Graph source = typed(kFloat);
  for (const bool first : {false, true}) {
    const Range range = {fitting(source), static_cast<uint8_t>(first ? 8 : 0), static_cast<uint8_t>(first ? 0 : 8)};
    const QuantisedPair pair = pair_of(source, target_with(source, range));
    ASSERT_EQ(pair.verdict().faults.size(), 1u);
    const QuantisedFault& fault = pair.verdict().faults[0];
    EXPECT_EQ(pair.written().node(fault.node).op, first ? "QuantizeLinear" : "DequantizeLinear");
    ASSERT_EQ(fault.edits.size(), 1u);
    EXPECT_EQ(fault.edits[0].numbers, std::vector<double>{0});
  }
}

// The target has the Clip of a decomposed HardSwish in a range alone.
TEST(QuantisedJudge, ARangeMayStandForTheBoundsOfAHardSwish) {
  const std::string text = R"(graph "hard" {
  input x: float32[1,4,5,5]
  const w: float32[6,4,3,3] = random(1)
  const u: float32[8,6,1,1] = random(2)
  const three: float32[] = {3}
  const six: float32[] = {6}
  const low: float32[] = {0}
  const s: float32[] = {0.023529412}
  const z: uint8[] = {0}
  c = Conv(x, w) @first
HARD
  y = Conv(h, u) @last
  output y
})";
  const Graph source = typed(with_text(text, "HARD", "  h = HardSwish(c) @hard"));
  const char* const decomposed = R"(  a = Add(c, three) @shift
  q = QuantizeLinear(a, s, z) @quantise
  b = DequantizeLinear(q, s, z) @dequantise
  m = Mul(c, b) @times
  h = Div(m, six) @part)";
  const QuantisedPair pair = pair_of(source, quantised(typed(with_text(text, "HARD", decomposed))));
  EXPECT_TRUE(pair.verdict().faults.empty());
  EXPECT_EQ(pair.verdict().match.clamps.size(), 1u);
  const Tensor x = random_tensor(DType::Float32, {1, 4, 5, 5}, 3);
  EXPECT_LT(part_of_largest(compare(interpret(source, {x})[0], interpret(pair.undone(), {x})[0])), 1e-6);
}

TEST(QuantisedJudge, AScaleOfABiasIsTheProductOfItsInputsAndItsWeights) {
  const Graph source = typed(kFloat);
  EXPECT_TRUE(pair_of(source, with_bias(source, 1)).verdict().faults.empty());
  for (const double factor : {0.5, 0.9, 1.1, 4.0}) {
    const Graph target = with_bias(source, factor);
    const QuantisedPair pair = pair_of(source, target);
    ASSERT_EQ(pair.verdict().faults.size(), 1u) << factor;
    const QuantisedFault& fault = pair.verdict().faults[0];
    EXPECT_EQ(pair.written().node(fault.node).name, "bias");
    ASSERT_EQ(fault.edits.size(), 1u);
    EXPECT_EQ(fault.edits[0].key, "scale");
    Graph mended = target;
    EditSource from(source);
    apply_edits(fault.edits, from, mended);
    infer_types(mended);
    EXPECT_TRUE(pair_of(source, mended).verdict().faults.empty());
  }
}

// ONNX Runtime's quantiser, without its preprocessing: batch norms stay, and their numbers are rounded too.
TEST(QuantisedJudge, ABatchNormThatWasNotFoldedIsNoFault) {
  const Graph source = typed(R"(graph "norms" {
  input x: float32[1,4,5,5]
  const w: float32[6,4,3,3] = random(1)
  const g: float32[6] = {2, 0.5, 1.3, 3, 0.25, 1.5}
  const h: float32[6] = {0.5, -0.25, 0.75, 1, -0.5, 0.3}
  const m: float32[6] = {0.1, 0.2, -0.3, 0.4, -0.5, 0.6}
  const v: float32[6] = {1.5, 0.5, 2, 1, 0.75, 3}
  const u: float32[8,6,1,1] = random(2)
  c = Conv(x, w) @first
  n = BatchNormalization(c, g, h, m, v) @norm
  r = Relu(n) @act
  y = Conv(r, u) @last
  output y
})");
  Graph target = quantised(source);
  for (NodeId id : std::vector<NodeId>(target.order())) {
    if (target.node(id).name != "norm") continue;
    const std::vector<double> gamma = to_doubles(*source.constant(source.find_value("g")));
    const double scale = static_cast<double>(static_cast<float>(3.0 / 127));
    std::vector<double> integers;
    for (double g : gamma) integers.push_back(std::nearbyint(g / scale));
    target.node(id).inputs[1] =
        dequantised(&target, "gamma", convert(Tensor::of<double>({6}, integers), DType::Int8),
                    convert(Tensor::of<double>({6}, std::vector<double>(6, scale)), DType::Float32));
  }
  sort_nodes(target);
  infer_types(target);
  const QuantisedPair pair = pair_of(source, target);
  EXPECT_EQ(pair.fold(), QuantisedSource::Fold::None);
  EXPECT_TRUE(pair.verdict().faults.empty()) << pair.verdict().faults[0].what;
  const Tensor x = random_tensor(DType::Float32, {1, 4, 5, 5}, 3);
  EXPECT_LT(part_of_largest(compare(interpret(source, {x})[0], interpret(pair.undone(), {x})[0])), 1e-6);
}

// Operators on integers, and a scale that is a product: as they are judged.
TEST(QuantisedJudge, OperatorsOnIntegersAreJudgedBetweenQuantisers) {
  const Graph written = typed(R"(graph "operators" {
  input x: uint8[1,2,3,3]
  const s: float32[] = {0.5}
  const z: uint8[] = {3}
  const w: int8[4,2,1,1] = {1, 2, 3, 4, 5, 6, 7, 8}
  const ws: float32[] = {0.25}
  const wz: int8[] = {0}
  const b: int32[4] = {1, -2, 3, -4}
  c = QLinearConv(x, s, z, w, ws, wz, s, z, b) @conv
  product = Mul(s, ws) @times
  d = DequantizeLinear(b, product) @bias
  y = DequantizeLinear(c, s, z) @last
  output y
  output d
})");
  const Graph judged = with_quantisers(written);
  size_t n_convolutions = 0, n_quantisers = 0, n_others = 0;
  for (NodeId id : judged.order()) {
    const Node& node = judged.node(id);
    n_convolutions += node.op == "Conv" ? 1 : 0;
    n_quantisers += node.op == "QuantizeLinear" ? 1 : 0;
    n_others += node.op == "QLinearConv" || node.op == "Mul" ? 1 : 0;
    if (node.name != "bias") continue;
    EXPECT_EQ(to_doubles(*judged.constant(node.input(1))), std::vector<double>{0.125});
  }
  EXPECT_EQ(n_convolutions, 1u);
  EXPECT_EQ(n_quantisers, 1u);
  EXPECT_EQ(n_others, 0u);
}

// The bias holds the source's numbers at its own scale, so that it is the other one that is off.
TEST(QuantisedJudge, ABiasThatIsRightByItsOwnScaleIsNoFault) {
  QuantisedConstant bias;
  bias.n_scales = 2;
  bias.steps = {0.02, 0.04};
  bias.numbers = {1, -2};
  EXPECT_EQ(diagnose_bias_scale({1.001, -2.002}, bias, {0.01, 0.02}).what, "");
  EXPECT_NE(diagnose_bias_scale({0.5, -1}, bias, {0.01, 0.02}).what, "");
}

TEST(QuantisedJudge, AMissingBiasIsWrittenWhole) {
  // The second number alone is further off than its layer's own error explains.
  const BiasDiagnosis found = diagnose_bias({0.01, 5}, {0, 0}, {0.001, 0.001}, {0.1, 0.1});
  EXPECT_EQ(found.rows, (std::vector<size_t>{0, 1}));
}

// Numbers that are small beside what is allowed are some factor times any others.
TEST(QuantisedJudge, AnothersBiasIsNoOtherScale) {
  const std::vector<double> ours = {1.5, -0.5, 0.8, -0.7, 3.7, 2}, steps(6, 1e-4), allowed(6, 0.25);
  EXPECT_EQ(diagnose_bias(ours, {0.3, -0.1, 0.16, -0.14, 0.74, 0.4}, steps, allowed).key, "scale");
  EXPECT_EQ(diagnose_bias(ours, {-0.01, 0.1, 0.2, -0.1, 0.2, -0.2}, steps, allowed).key, "integers");
}

// Factors of channels may leave one of them far larger than the others, and the range has to hold it.
TEST(QuantisedJudge, ARangeThatHoldsTheLargestOfScaledChannelsIsNoFault) {
  const Graph source = typed(kFloat);
  Graph equal = source;
  scale_between(equal, source, values_between(source).at(0), {0.5, 1, 0.2, 0.03, 0.8, 0.35});
  infer_types(equal);
  const QuantisedPair pair = pair_of(source, target_with(equal, {fitting(equal), 0, 0}));
  EXPECT_EQ(pair.report().n_scaled, 1);
  EXPECT_TRUE(pair.verdict().faults.empty()) << pair.verdict().faults[0].what;
  EXPECT_TRUE(pair.verdict().ranges.empty()) << pair.verdict().ranges[0].what;
}

// By row: what rounding a layer's weights takes from its sums in the mean, from the source's means by channel of what it reads.
std::vector<double> lost_in(const Graph& source, const std::string& layer, const std::string& value) {
  std::vector<double> means, lost;
  for (const stream::TensorRecord& r : trace_of(source, random_tensor(DType::Float32, {1, 4, 5, 5}, 7))) {
    if (r.name != value) continue;
    const std::vector<double> numbers = to_doubles(r.tensor);
    const size_t n = numbers.size() / static_cast<size_t>(r.tensor.dim(1));
    means.assign(static_cast<size_t>(r.tensor.dim(1)), 0);
    for (size_t i = 0; i < numbers.size(); ++i) means[i / n] += numbers[i] / static_cast<double>(n);
  }
  for (NodeId id : source.order()) {
    if (source.node(id).name != layer) continue;
    const Tensor& weights = *source.constant(source.node(id).input(1));
    const Rounded made = rounded(weights);
    const std::vector<double> real = to_doubles(weights), integers = to_doubles(made.integers),
                              scales = to_doubles(made.scales);
    const size_t width = real.size() / scales.size(), taps = width / means.size();
    lost.assign(scales.size(), 0);
    for (size_t i = 0; i < real.size(); ++i)
      lost[i / width] += (real[i] - integers[i] * scales[i / width]) * means[i % width / taps];
  }
  return lost;
}

// The first layer's bias makes up for rounding, or does not; so has the second's, which is missing.
TEST(QuantisedJudge, ABiasThatIsMadeAnewMakesUpForWhatTheOthersDo) {
  const Graph source = typed(kFloat);
  for (const bool corrected : {true, false}) {
    Graph target = quantised(source);
    for (NodeId id : std::vector<NodeId>(target.order())) {
      if (target.node(id).name == "first" && corrected) {
        std::vector<double> bias = to_doubles(*source.constant(source.find_value("b")));
        const std::vector<double> lost = lost_in(source, "first", "x");
        for (size_t c = 0; c < bias.size(); ++c) bias[c] += lost[c];
        set_constant(target, id, 2, convert(Tensor::of<double>({6}, bias), DType::Float32), "corrected");
      }
      if (target.node(id).name == "last")
        target.node(id).inputs[2] =
            dequantised(&target, "bias", convert(Tensor::of<double>({8}, std::vector<double>(8, 0)), DType::Int32),
                        convert(Tensor::of<double>({8}, std::vector<double>(8, 1e-4)), DType::Float32));
    }
    sort_nodes(target);
    infer_types(target);
    const QuantisedPair pair = pair_of(source, target);
    ASSERT_EQ(pair.verdict().faults.size(), 1u);
    ASSERT_EQ(pair.verdict().faults[0].edits.size(), 1u);
    const Edit& edit = pair.verdict().faults[0].edits[0];
    EXPECT_EQ(edit.key, "integers");
    ASSERT_EQ(edit.numbers.size(), corrected ? 8u : 0u);
    const std::vector<double> lost = lost_in(source, "last", "r");
    Graph mended = target;
    EditSource from(source);
    apply_edits({edit}, from, mended);
    for (NodeId id : mended.order()) {
      if (mended.node(id).name != "bias_dequantize" && mended.node(id).name != "bias") continue;
      const std::vector<double> integers = to_doubles(*mended.constant(mended.node(id).input(0))),
                                bias = to_doubles(*source.constant(source.find_value("a")));
      for (size_t c = 0; c < bias.size(); ++c)
        EXPECT_NEAR(integers[c] * 1e-4, bias[c] + (corrected ? lost[c] : 0), 0.51e-4) << c;
    }
  }
}

// Four layers whose activations are quantised, and biases of the last three integers with their products for scales.
Graph chain_with(const Graph& source, const std::string& doubled) {
  Graph graph = quantised(source);
  std::map<ValueId, double> scale_of_value;
  for (NodeId id : std::vector<NodeId>(graph.order())) {
    const Node node = graph.node(id);
    if (node.op == "Relu") {
      const double right =
          static_cast<double>(static_cast<float>(largest_of(source, source.value(node.output(0)).name) / 255));
      scale_of_value[node.output(0)] = right;
      const auto written = static_cast<float>(node.name == doubled ? 2 * right : right);
      graph.remove_node(id);
      const ValueId integers = graph.add_value(graph.unused_value_name("integers"));
      for (const bool quantises : {true, false}) {
        Node made;
        made.op = quantises ? "QuantizeLinear" : "DequantizeLinear";
        made.name = node.name + (quantises ? "_quantize" : "_dequantize");
        made.inputs = {quantises ? node.input(0) : integers,
                       graph.add_constant(graph.unused_value_name("s"), Tensor::scalar(written)),
                       graph.add_constant(graph.unused_value_name("z"), Tensor::scalar(uint8_t{0}))};
        made.outputs = {quantises ? integers : node.output(0)};
        graph.add_node(std::move(made));
      }
    } else if (node.op == "Conv" && scale_of_value.count(node.input(0)) != 0) {
      const std::vector<double> scales = to_doubles(rounded(*source.constant(source.node(id).input(1))).scales),
                                bias = to_doubles(*source.constant(source.node(id).input(2)));
      const auto n = static_cast<int64_t>(bias.size());
      std::vector<double> products, integers;
      for (size_t c = 0; c < bias.size(); ++c) {
        products.push_back(scales[c] * scale_of_value[node.input(0)]);
        integers.push_back(std::nearbyint(bias[c] / products[c]));
      }
      graph.node(id).inputs[2] =
          dequantised(&graph, node.name + "_bias", convert(Tensor::of<double>({n}, integers), DType::Int32),
                      convert(Tensor::of<double>({n}, products), DType::Float32));
    }
  }
  sort_nodes(graph);
  infer_types(graph);
  return graph;
}

// The third layer's bias is next to nothing, so that its numbers tell no scale; the others' scales are products, so that one has to be.
TEST(QuantisedJudge, ASmallBiasTellsItsInputsScaleWhereTheOthersAreProducts) {
  const Graph source = typed(R"(graph "source" {
  input x: float32[1,4,5,5]
  const w: float32[6,4,1,1] = random(1)
  const b: float32[6] = {0.5, 0.25, 0.75, 1, 0.5, 0.3}
  const u: float32[6,6,1,1] = random(2)
  const a: float32[6] = {0.5, 0.25, 0.75, 1, 0.5, 0.3}
  const v: float32[6,6,1,1] = random(3)
  const d: float32[6] = {0.0001, 0, 0, 0.0001, 0, 0}
  const t: float32[6,6,1,1] = random(4)
  const e: float32[6] = {0.5, 0.25, 0.75, 1, 0.5, 0.3}
  c1 = Conv(x, w, b) @one
  r1 = Relu(c1) @act1
  c2 = Conv(r1, u, a) @two
  r2 = Relu(c2) @act2
  c3 = Conv(r2, v, d) @three
  r3 = Relu(c3) @act3
  y = Conv(r3, t, e) @four
  output y
})");
  const QuantisedPair healthy = pair_of(source, chain_with(source, ""));
  EXPECT_TRUE(healthy.verdict().faults.empty()) << healthy.verdict().faults[0].what;
  const QuantisedPair pair = pair_of(source, chain_with(source, "act2"));
  ASSERT_EQ(pair.verdict().faults.size(), 1u);
  EXPECT_EQ(pair.written().node(pair.verdict().faults[0].node).name, "act2_quantize");
  ASSERT_EQ(pair.verdict().faults[0].edits.size(), 2u);
  EXPECT_NEAR(pair.verdict().faults[0].edits[0].numbers[0], largest_of(source, "r2") / 255, 1e-6);
  // Where the quantiser alone is wrong, by less than a range tells of, the bias behind says that it is.
  Graph apart = chain_with(source, "");
  for (NodeId id : std::vector<NodeId>(apart.order())) {
    if (apart.node(id).name != "act2_quantize") continue;
    const double right = to_doubles(*apart.constant(apart.node(id).input(1)))[0];
    set_constant(apart, id, 1, Tensor::scalar(static_cast<float>(0.9 * right)), "changed");
  }
  infer_types(apart);
  const QuantisedPair between = pair_of(source, apart);
  ASSERT_EQ(between.verdict().faults.size(), 1u);
  EXPECT_EQ(between.written().node(between.verdict().faults[0].node).name, "act2_quantize");
  ASSERT_EQ(between.verdict().faults[0].edits.size(), 1u);
  EXPECT_NEAR(between.verdict().faults[0].edits[0].numbers[0], largest_of(source, "r2") / 255, 1e-6);
}

// No quantiser makes up for anything by a bias that is 0 in all channels, however much it may be off.
TEST(QuantisedJudge, ABiasThatIsZeroEverywhereIsLost) {
  const std::vector<double> ours = {0.1, -0.2, 0.3, 0.01}, steps(4, 1e-4), allowed(4, 1);
  const BiasDiagnosis lost = diagnose_bias(ours, {0, 0, 0, 0}, steps, allowed);
  EXPECT_EQ(lost.what, "bias: all numbers are 0, and the source's are not");
  EXPECT_EQ(lost.rows, (std::vector<size_t>{0, 1, 2, 3}));
  EXPECT_EQ(diagnose_bias(ours, {0, 0, 0, 1e-4}, steps, allowed).what, "");
  // Steps that are as large as the numbers leave nothing of them.
  EXPECT_EQ(diagnose_bias(ours, {0, 0, 0, 0}, std::vector<double>(4, 0.4), allowed).what, "");
}

// The bias was made for the product of its input's scale and its weights': that gives their scale to the last digit.
TEST(QuantisedJudge, TheBiasGivesTheScaleOfItsWeightsBack) {
  const Graph source = typed(kFloat);
  Graph equal = source;
  scale_between(equal, source, values_between(source).at(0), {0.5, 1, 0.2, 0.03, 0.8, 0.35});
  infer_types(equal);
  Graph target = with_bias(equal, 1);
  std::vector<double> right;
  for (NodeId id : std::vector<NodeId>(target.order())) {
    if (target.node(id).name != "last_dequantize") continue;
    const Tensor before = *target.constant(target.node(id).input(1));
    right = to_doubles(before);
    std::vector<double> scales = right;
    for (double& s : scales) s *= 2;
    set_constant(target, id, 1, convert(Tensor::of<double>(before.shape(), scales), DType::Float32), "doubled");
  }
  infer_types(target);
  const QuantisedPair pair = pair_of(source, target);
  ASSERT_EQ(pair.verdict().faults.size(), 1u);
  const QuantisedFault& fault = pair.verdict().faults[0];
  EXPECT_EQ(fault.what, "weights: scales of 8 of 8 channels 2 times what the source's weights want");
  ASSERT_EQ(fault.edits.size(), 1u);
  ASSERT_EQ(fault.edits[0].numbers.size(), right.size());
  for (size_t c = 0; c < right.size(); ++c) EXPECT_NEAR(fault.edits[0].numbers[c] / right[c], 1, 1e-6) << c;
}

}  // namespace
}  // namespace dnn
