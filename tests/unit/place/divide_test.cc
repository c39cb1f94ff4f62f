// Layers divided over devices by their channels: which nodes go together, shares, the bits of the whole network, and rules.
#include "place/divide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "graph/text.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "place/joint.h"
#include "place/measure.h"
#include "place/open.h"
#include "place/rules.h"
#include "refused.h"
#include "tensor/compare.h"
#include "unit/place/options.h"

namespace dnn::place {
namespace {

Graph typed(const std::string& text) {
  Graph graph = parse_graph("graph \"net\" {\n  opset 21\n" + text + "}\n");
  infer_types(graph);
  return graph;
}

// Pointwise and depthwise layers, norms, activations of several nodes, slopes of each channel, poolings and a classifier.
Graph mobile() {
  return typed(R"(
  input x: float32[1,16,12,12]
  const w1: float32[64,16,1,1] = random(1)
  const scale: float32[64] = random(2)
  const shift: float32[64] = random(3)
  const mean: float32[64] = random(4)
  const var: float32[64] = {0.5, 2, 0.25, ...}
  const low: float32[] = {0}
  const high: float32[] = {6}
  const wd: float32[64,1,3,3] = random(5)
  const w2: float32[48,64,3,3] = random(6)
  const b2: float32[48] = random(7)
  const slope: float32[48,1,1] = random(8)
  const more: float32[1,48,1,1] = random(9)
  const w3: float32[40,48] = random(10)
  const b3: float32[40] = random(11)
  a = Conv(x, w1) @conv1
  b = BatchNormalization(a, scale, shift, mean, var) @norm1
  c = Clip(b, low, high) @clip1
  d = Conv(c, wd) @depthwise {group = 64, pads = [1, 1, 1, 1]}
  e = Sigmoid(d) @gate
  f = Mul(d, e) @swish
  g = Conv(f, w2, b2) @conv2 {pads = [1, 1, 1, 1]}
  h = PRelu(g, slope) @slope
  i = Add(h, more) @more
  j = MaxPool(i) @pool {kernel_shape = [2, 2], strides = [2, 2]}
  k = GlobalAveragePool(j) @mean
  l = Flatten(k) @flat
  m = Gemm(l, w3, b3) @dense {transB = 1}
  n = Softmax(m) @softmax {axis = 1}
  output n
)");
}

// A sum past two layers, a gate of each channel, and a value that is an output.
Graph residual() {
  return typed(R"(
  input x: float32[1,32,8,8]
  const w: float32[32,32,3,3] = random(1)
  const u: float32[32,32,1,1] = random(2)
  a = Conv(x, w) @conv1 {pads = [1, 1, 1, 1]}
  b = Relu(a) @relu1
  c = Conv(b, w) @conv2 {pads = [1, 1, 1, 1]}
  d = Add(c, x) @sum
  e = Relu(d) @relu2
  f = Conv(e, u) @conv3
  g = Relu(f) @relu3
  h = GlobalAveragePool(g) @squeeze
  i = Conv(h, u) @excite
  j = Sigmoid(i) @gate
  k = Mul(g, j) @scaled
  l = Abs(k) @out
  output l
  output f
)");
}

// A transposed convolution, and products of rows.
Graph others() {
  return typed(R"(
  input x: float32[1,8,5,5]
  const w: float32[8,36,2,2] = random(1)
  const b: float32[36] = random(2)
  const v: float32[100,40] = random(3)
  const s: float32[40] = random(4)
  const t: float32[40,33] = random(5)
  a = ConvTranspose(x, w, b) @up {strides = [2, 2]}
  r = Relu(a) @relu
  const to: int64[3] = {1, 36, 100}
  f = Reshape(r, to) @rows
  m = MatMul(f, v) @product
  n = Add(m, s) @bias
  p = Tanh(n) @act
  q = MatMul(p, t) @last
  output q
)");
}

// Layers of 8 bits between conversions, with a scale for each channel, and one in the operator of its own.
Graph quantised() {
  return typed(R"(
  input x: float32[1,8,6,6]
  const xs: float32[] = {0.0625}
  const z: uint8[] = {128}
  const zero: int8[] = {0}
  const w: int8[32,8,3,3] = random(1)
  const ws: float32[32] = {0.01, 0.02, 0.03, 0.015, 0.025, ...}
  const wz: int8[32] = {0, ...}
  const b: int32[32] = {100, -50, 25, 7, -300, ...}
  const bs: float32[32] = {0.000625, 0.00125, 0.001875, 0.0009375, 0.0015625, ...}
  const ys: float32[] = {0.05}
  const v: int8[48,32,1,1] = random(3)
  const vs: float32[48] = {0.02, 0.04, ...}
  const vz: int8[48] = {0, ...}
  const us: float32[] = {0.1}
  q = QuantizeLinear(x, xs, z) @in
  d = DequantizeLinear(q, xs, z) @in_real
  wr = DequantizeLinear(w, ws, wz) @weights {axis = 0}
  br = DequantizeLinear(b, bs) @biases {axis = 0}
  c = Conv(d, wr, br) @conv1 {pads = [1, 1, 1, 1]}
  r = Relu(c) @relu1
  o = QuantizeLinear(r, ys, z) @out1
  p = QLinearConv(o, ys, z, v, vs, vz, us, z) @conv2
  y = DequantizeLinear(p, us, z) @out2
  output y
)");
}

std::vector<Graph> networks() { return {mobile(), residual(), others(), quantised()}; }

std::string chains_text(const Graph& graph) {
  std::vector<std::string> lines;
  const ChannelChains chains(graph);
  for (const Chain& chain : chains.all()) {
    std::vector<std::string> names;
    for (const ChainNode& node : chain.nodes) names.push_back(graph.node(node.id).name);
    lines.push_back(cat(join(names, "+"), " ", chain.axis, " ", chain.channels));
  }
  return join(lines, "\n");
}

TEST(Chains, TakeInWhatComputesEachChannelAlone) {
  EXPECT_EQ(chains_text(mobile()),
            "conv1+norm1+clip1+depthwise+gate+swish 1 64\n"
            "conv2+slope+more+pool+mean 1 48\n"
            "dense 1 40");
  EXPECT_EQ(chains_text(others()), "up+relu 1 36\nproduct+bias+act 2 40\nlast 2 33");
  EXPECT_EQ(chains_text(quantised()), "conv1+relu1+out1 1 32\nconv2 1 48");
}

// A value that is an output or that others read leaves the chain. The other operand of a sum or product is no obstacle.
TEST(Chains, EndWhereOthersRead) {
  EXPECT_EQ(chains_text(residual()), "conv1+relu1 1 32\nconv2+sum+relu2 1 32\nconv3 1 32\nexcite+gate+scaled+out 1 32");
}

std::string obstacle(const std::string& nodes) {
  const Graph graph = typed("  input x: float32[1,4,3,3]\n  input w: float32[4,4,1,1]\n" + nodes);
  return ChannelChains(graph).obstacle(graph.order().back());
}

TEST(Chains, SayWhatIsInTheWay) {
  EXPECT_EQ(obstacle("  y = Conv(x, w)\n  output y\n"), "its weights are computed");
  EXPECT_EQ(obstacle("  const v: float32[4,2,1,1] = random(1)\n  y = Conv(x, v) {group = 2}\n  output y\n"),
            "it has groups of channels");
  EXPECT_EQ(obstacle("  const v: float32[1,4,1,1] = random(1)\n  y = Conv(x, v)\n  output y\n"), "it has one channel");
  EXPECT_EQ(obstacle("  const v: float32[4,4,1,1] = random(1)\n  const a: float32[4] = random(1)\n  b = Neg(a)\n"
                     "  y = Conv(x, v, b)\n  output y\n"),
            "its bias is computed");
  EXPECT_EQ(obstacle("  y = Softmax(x)\n  output y\n"),
            "Softmax is no layer that makes channels of its own (Conv, ConvTranspose, Gemm, MatMul, QLinearConv)");
  EXPECT_EQ(obstacle("  const v: float32[4,1,1,1] = random(1)\n  y = Conv(x, v) {group = 4}\n  output y\n"), "");
}

std::string shares(int64_t channels, const std::vector<int64_t>& weights) {
  const std::vector<int64_t> result = shares_of(channels, weights);
  EXPECT_EQ(shares_of(channels, result), result) << channels;
  return join(result, "+");
}

TEST(Shares, AreWholeBlocksWhereThereAreEnough) {
  EXPECT_EQ(shares(64, {1, 1}), "32+32");
  EXPECT_EQ(shares(64, {3, 1}), "48+16");
  EXPECT_EQ(shares(48, {1, 1}), "32+16");
  EXPECT_EQ(shares(1000, {1, 1}), "496+504");
  EXPECT_EQ(shares(40, {1, 100}), "16+24");
  EXPECT_EQ(shares(40, {100, 1}), "16+24");
  EXPECT_EQ(shares(64, {1000, 1, 1}), "32+16+16");
  EXPECT_EQ(shares(31, {1, 1}), "16+15");
  EXPECT_EQ(shares(7, {100, 1, 100}), "3+1+3");
  EXPECT_EQ(shares(3, {9, 9, 9}), "1+1+1");
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<int64_t> weights;
    for (size_t k = 0; k < 2 + random() % 3; ++k) weights.push_back(1 + random() % 1000);
    const int64_t channels = static_cast<int64_t>(weights.size() + random() % 300);
    const std::vector<int64_t> result = shares_of(channels, weights);
    int64_t all = 0;
    for (int64_t share : result) all += share;
    EXPECT_EQ(all, channels);
    EXPECT_GT(*std::min_element(result.begin(), result.end()), 0);
    EXPECT_EQ(shares_of(channels, result), result);
  }
}

// Each chain over some of the parts, in random shares.
Placement random_placement(const Graph& graph, size_t parts, std::mt19937& random) {
  Placement placement{std::vector<size_t>(graph.node_slots(), 0), {}};
  for (NodeId id : graph.order()) placement.places[id] = random() % parts;
  const ChannelChains chains(graph);
  for (const Chain& chain : chains.all()) {
    std::vector<size_t> order(parts);
    for (size_t p = 0; p < parts; ++p) order[p] = p;
    std::shuffle(order.begin(), order.end(), random);
    std::vector<int64_t> weights;
    for (size_t p = 0; p < parts; ++p) weights.push_back(1 + random() % 4);
    const std::vector<int64_t> channels = shares_of(chain.channels, weights);
    Division division{chain, {}};
    for (size_t p = 0; p < parts; ++p) division.slices.push_back({order[p], channels[p]});
    if (random() % 4 > 0) placement.divisions.push_back(std::move(division));
  }
  return placement;
}

void expect_same_bits(const std::vector<Tensor>& found, const std::vector<Tensor>& wanted, const std::string& where) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_TRUE(found[i].identical(wanted[i])) << where << ", output " << i;
}

TEST(Divide, TheReferenceGivesTheBitsOfTheWhole) {
  std::mt19937 random(3);
  for (const Graph& graph : networks()) {
    const std::vector<Tensor> inputs = inputs_for(graph), wanted = interpret(graph, inputs);
    for (int round = 0; round < 10; ++round) {
      const Divided divided = divide(graph, random_placement(graph, 2 + round % 2, random));
      verify(divided.graph);
      expect_same_bits(interpret(divided.graph, inputs), wanted, cat(graph.order().size(), " nodes, round ", round));
    }
  }
}

std::vector<Tensor> whole_on(const Part& part, const Graph& graph, int opt, const std::vector<Tensor>& inputs) {
  return open_alone(std::make_shared<Package>(compile(graph, options_for(part, options(opt)))), part)->run(inputs);
}

// Above level 2 the order of sums is chosen by the number of channels, among others.
TEST(Divide, ProcessorsGiveTheBitsOfTheWholeUpToLevel2) {
  const std::vector<Part> parts = parse_parts("C=cpu,D=cpu");
  std::mt19937 random(4);
  size_t divisions = 0;
  for (const Graph& graph : networks()) {
    const std::vector<Tensor> inputs = inputs_for(graph);
    for (int opt = 0; opt <= 4; ++opt) {
      const std::vector<Tensor> wanted = whole_on(parts[0], graph, opt, inputs);
      const Placement placement = random_placement(graph, 2, random);
      divisions += placement.divisions.size();
      const Divided divided = divide(graph, placement);
      const auto session = open_parallel(divided.graph, parts, divided.places, options(opt));
      for (int run = 0; run < 3; ++run) {
        const std::vector<Tensor> found = session->run(inputs);
        if (opt <= 2) {
          expect_same_bits(found, wanted, cat(graph.order().back(), " nodes, -O", opt));
          continue;
        }
        for (size_t i = 0; i < wanted.size(); ++i)
          EXPECT_LT(compare(wanted[i], found[i]).relative(), 1e-5) << graph.order().back() << " nodes, -O" << opt;
      }
    }
  }
  EXPECT_GT(divisions, 25u);
}

std::string nodes_text(const Graph& graph, const std::string& rules) {
  const std::vector<Part> parts = parse_parts("C=reference,D=reference");
  const Divided divided = divide(graph, place_by_rules(graph, parts, rules, "rules"));
  std::vector<std::string> lines;
  for (NodeId id : divided.graph.order()) {
    const Node& node = divided.graph.node(id);
    lines.push_back(cat(parts[divided.places[id]].letter, " ", node.name, " ",
                        divided.graph.value(node.outputs[0]).name, " ",
                        divided.graph.value(node.outputs[0]).type.text()));
  }
  return join(lines, "\n");
}

TEST(Divide, NamesSlicesAfterTheirChannels) {
  const Graph graph = typed(R"(
  input x: float32[1,4,2,2]
  const w: float32[32,4,1,1] = random(1)
  const d: float32[32,1,1,1] = random(2)
  a = Conv(x, w) @conv
  b = Relu(a)
  c = Softmax(b) @soft
  e = Conv(c, d) @depth {group = 32}
  output e
)");
  EXPECT_EQ(nodes_text(graph, "C *\nD+C conv\nC:1+D:3 depth"),
            "D conv[0:16] a[0:16] float32[1,16,2,2]\n"
            "C conv[16:32] a[16:32] float32[1,16,2,2]\n"
            "D b[0:16] b[0:16] float32[1,16,2,2]\n"
            "C b[16:32] b[16:32] float32[1,16,2,2]\n"
            "D b.join b float32[1,32,2,2]\n"
            "C soft c float32[1,32,2,2]\n"
            "C c.split[0:16] c[0:16] float32[1,16,2,2]\n"
            "C depth[0:16] e[0:16] float32[1,16,2,2]\n"
            "D c.split[16:32] c[0:16]_1 float32[1,16,2,2]\n"
            "D depth[16:32] e[16:32] float32[1,16,2,2]\n"
            "C depth.join e float32[1,32,2,2]");
}

// No value is joined twice.
TEST(Divide, AConcatOfChannelsTakesTheSlices) {
  const Graph graph = typed(R"(
  input x: float32[1,4,2,2]
  const w: float32[32,4,1,1] = random(1)
  a = Conv(x, w) @left
  b = Conv(x, w) @right
  c = Concat(a, b) @both {axis = -3}
  output c
)");
  const Placement placement = place_by_rules(graph, parse_parts("C=reference,D=reference"), "C+D left\nD+C right", "r");
  const Divided divided = divide(graph, placement);
  ASSERT_EQ(divided.graph.order().size(), 5u);
  const Node& both = divided.graph.node(divided.graph.order().back());
  std::vector<std::string> names;
  for (ValueId v : both.inputs) names.push_back(divided.graph.value(v).name);
  EXPECT_EQ(join(names, " "), "a[0:16] a[16:32] b[0:16] b[16:32]");
}

// Integers go to the part of each slice, which makes them real itself, so that layers compute on integers as before.
TEST(Divide, WhatIsDequantizedGoesToEachSlice) {
  const Graph graph = quantised();
  const std::string text = nodes_text(graph, "C *\nC+D conv1");
  for (const char* line : {"C in_real[0:16] d[0:16] float32[1,8,6,6]", "D in_real[16:32] d[16:32] float32[1,8,6,6]",
                           "D weights[16:32] wr[16:32] float32[16,8,3,3]", "D biases[16:32] br[16:32] float32[16]",
                           "D out1[16:32] o[16:32] uint8[1,16,6,6]", "C out1.join o uint8[1,32,6,6]"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  EXPECT_EQ(text.find("in_real d "), std::string::npos) << text;
}

// Slices of whole blocks lie in the joined value from the beginning, and so do those of the other operand of a sum: also with the borders that
// padded convolutions read.
TEST(Divide, ProcessorsJoinSlicesWithoutACopy) {
  const Graph graph = typed(R"(
  input x: float32[1,32,12,12]
  const w: float32[64,32,3,3] = random(1)
  const v: float32[64,64,3,3] = random(2)
  const u: float32[32,64,1,1] = random(3)
  a = Conv(x, w) @one {pads = [1, 1, 1, 1]}
  b = Relu(a) @relu1
  c = Conv(b, v) @two {pads = [1, 1, 1, 1]}
  d = Add(c, b) @sum
  e = Relu(d) @relu2
  f = Conv(e, u) @three
  g = GlobalAveragePool(f) @pool
  output g
)");
  const std::vector<Part> parts = parse_parts("C=cpu,D=cpu");
  const Divided divided = divide(graph, place_by_rules(graph, parts, "C *\nC:3+D:1 one\nC+D two\nC+D three", "rules"));
  const Plan plan = cut_into_segments(divided.graph, divided.places);
  const std::optional<Joint> joint = compile_joint(divided.graph, plan, parts, options(3));
  ASSERT_TRUE(joint);
  std::string free;
  for (size_t s = 0; s < plan.segments.size(); ++s) {
    if (joint->steps[s].empty()) free += plan.segments[s].name + "\n";
    // Convolution and sum are one kernel.
    if (starts_with(plan.segments[s].name, "two[")) {
      EXPECT_EQ(joint->steps[s].size(), 1u);
    }
  }
  EXPECT_EQ(free, "relu1.join\nrelu2.join\n");
  const std::vector<Tensor> inputs = inputs_for(graph);
  // Each processor gives what one alone gives for this package.
  expect_same_bits(open_joint(divided.graph, plan, parts, *joint)->run(inputs),
                   open_alone(joint->package, parts[0])->run(inputs), "joined");
}

std::string divisions_text(const Graph& graph, const std::string& rules) {
  const std::vector<Part> parts = parse_parts("C=reference,D=reference,X=reference");
  const Placement placement = place_by_rules(graph, parts, rules, "rules.txt");
  std::vector<std::string> lines;
  for (const Division& division : placement.divisions) {
    std::string line;
    for (const Slice& slice : division.slices) line += cat(parts[slice.part].letter, slice.channels);
    for (const ChainNode& node : division.chain.nodes) line += " " + graph.node(node.id).name;
    lines.push_back(line);
  }
  return join(lines, "\n");
}

TEST(DivideRules, SayLettersAndShares) {
  const Graph graph = mobile();
  EXPECT_EQ(divisions_text(graph, "C *"), "");
  EXPECT_EQ(divisions_text(graph, "C *\nC+D conv1"), "C32D32 conv1 norm1 clip1 depthwise gate swish");
  EXPECT_EQ(divisions_text(graph, "C *\nD:3+C:1+X:4 op:Conv"),
            "D32C16X16 conv1 norm1 clip1 depthwise gate swish\nD16C16X16 conv2 slope more pool mean");
  EXPECT_EQ(divisions_text(graph, "C+D conv1 .. flat"),
            "C32D32 conv1 norm1 clip1 depthwise gate swish\nC32D16 conv2 slope more pool mean");
  // Nodes of a later line are no part of the chain; a later line takes the whole back.
  EXPECT_EQ(divisions_text(graph, "C+D conv1\nD depthwise"), "C32D32 conv1 norm1 clip1");
  EXPECT_EQ(divisions_text(graph, "C+D conv?\nX:3+C:1 depthwise\nD conv2"),
            "C32D32 conv1 norm1 clip1\nX48C16 depthwise gate swish");
  // Nodes that cannot be divided are the first letter's.
  EXPECT_EQ(place_by_rules(graph, parse_parts("C=reference,D=reference"), "D+C *", "r").places,
            std::vector<size_t>(graph.node_slots(), 1));
}

TEST(DivideRules, AreRefusedWithTheirLine) {
  const auto refused_rules = [](const std::string& rules) { return refused([&] { divisions_text(mobile(), rules); }); };
  EXPECT_EQ(refused_rules("C *\nC+D softmax"),
            "2 rules.txt:2: \"softmax\" cannot be divided: Softmax is no layer that makes channels of its own (Conv, "
            "ConvTranspose, Gemm, MatMul, QLinearConv); name another node, or give it one letter");
  EXPECT_EQ(refused_rules("C+D op:Softmax"),
            "2 rules.txt:1: no node of \"op:Softmax\" can be divided by its channels; give them one letter");
  EXPECT_EQ(refused_rules("C+Q conv1"), "2 rules.txt:1: no device has the letter Q; --devices has C, D, X");
  EXPECT_EQ(refused_rules("C+C conv1"), "2 rules.txt:1: the letter C comes twice");
  for (const char* letters : {"C+", "+D", "C:0+D", "C:x+D", "C:+D", "C+D:2000000", "CD+X", "C+D:1:2"})
    EXPECT_EQ(refused_rules(cat(letters, " conv1")),
              cat("2 rules.txt:1: \"", letters,
                  "\" is no list of letters; write C+D, or C:3+D:1 with shares from 1 to 1000000"));
  EXPECT_EQ(refused_rules("C:3 conv1").substr(0, 37), "2 rules.txt:1: \"C:3 conv1\" is not \"LE");
  EXPECT_EQ(refused([] {
              const Graph graph = typed(
                  "  input x: float32[1,4,3,3]\n  const v: float32[2,4,1,1] = random(1)\n  y = Conv(x, v) @two\n  "
                  "output y\n");
              divisions_text(graph, "C+D+X two");
            }),
            "2 rules.txt:1: \"two\" cannot be divided: it has 2 channels for 3 devices; name another node, or give it "
            "one letter");
}

TEST(DivideRules, AreWrittenAsTheyAreRead) {
  std::mt19937 random(9);
  const std::vector<Part> parts = parse_parts("C=reference,D=reference,X=reference");
  for (const Graph& graph : networks()) {
    for (int round = 0; round < 20; ++round) {
      Placement placement = random_placement(graph, 2 + round % 2, random);
      // As the search has it: a chain is on the device that joins its slices.
      for (const Division& division : placement.divisions) {
        for (const ChainNode& node : division.chain.nodes) placement.places[node.id] = division.slices.front().part;
      }
      EXPECT_EQ(place_by_rules(graph, parts, rules_text(graph, parts, placement), "r"), placement) << round;
    }
  }
}

}  // namespace
}  // namespace dnn::place
