// Passes on small graphs in text: what each does, that it leaves the outputs alone, and that the table is consistent.
#include "passes/pass.h"

#include <gtest/gtest.h>

#include <set>

#include "graph_case.h"

namespace dnn {
namespace {

Graph parsed(const char* text) {
  Graph graph = parse_graph(text);
  infer_types(graph);
  return graph;
}

// Runs the passes and checks that the outputs stay within rounding of float32.
Graph optimised(const Graph& graph, const std::string& changes) {
  Graph after = graph;
  PassOptions options;
  options.target = any_target(4);
  options.changes = changes;
  run_passes(after, options);
  expect_same(graph, after, 3e-6);
  return after;
}

constexpr const char* kBlock = R"(graph "block" {
  opset 13
  input x: float32[1,4,6,6]
  const w: float32[4,4,3,3] = random(1)
  const s: float32[4] = {1.5, 0.5, 2, 1}
  const b: float32[4] = {0.1, -0.2, 0.3, 0}
  const m: float32[4] = {0.2, 0.1, -0.1, 0}
  const v: float32[4] = {1, 2, 0.5, 1}
  c = Conv(x, w) @conv {pads = [1, 1, 1, 1]}
  n = BatchNormalization(c, s, b, m, v) @bn
  i = Identity(n) @identity
  sig = Sigmoid(i) @sigmoid
  p = Mul(i, sig) @swish
  y = Add(p, x) @residual
  output y
})";

TEST(Passes, SimplifyInference) {
  EXPECT_EQ(ops_of(optimised(parsed(kBlock), "only:simplify-inference")), "Conv Mul Add Sigmoid Mul Add");
}

TEST(Passes, FoldScaleAxis) {
  EXPECT_EQ(ops_of(optimised(parsed(kBlock), "only:SimplifyInference,FoldScaleAxis")), "Conv Sigmoid Mul Add");
}

TEST(Passes, FuseOpsTakesTheWholeGroup) {
  const Graph after = optimised(parsed(kBlock), "only:simplify-inference,fold-scale-axis,fuse-ops");
  EXPECT_EQ(ops_of(after), "{Conv Sigmoid Mul Add}");
  EXPECT_EQ(after.node(after.order()[0]).sources,
            (std::vector<std::string>{"conv", "bn", "sigmoid", "swish", "residual"}));
}

TEST(Passes, FuseOpsStopsAtAValueReadElsewhere) {
  const Graph graph = parsed(R"(graph "g" {
    opset 13
    input x: float32[2,3]
    a = Exp(x) @a
    b = Neg(a) @b
    c = Abs(b) @c
    output b
    output c
  })");
  EXPECT_EQ(ops_of(optimised(graph, "only:fuse-ops")), "{Exp Neg} Abs");
}

TEST(Passes, FoldConstantAndShapes) {
  const Graph graph = parsed(R"(graph "g" {
    opset 13
    input x: float32[2,3,4]
    const one: int64[1] = {-1}
    const zero: int64[] = {0}
    const axis0: int64[1] = {0}
    s = Shape(x) @shape
    n = Gather(s, zero) @gather
    axes = Unsqueeze(n, axis0) @unsqueeze
    t = Concat(axes, one) @concat {axis = 0}
    y = Reshape(x, t) @reshape
    output y
  })");
  EXPECT_EQ(ops_of(optimised(graph, "only:fold-constant")), "Reshape");
}

TEST(Passes, CommonSubexpressionsAndCanonicalOps) {
  const Graph graph = parsed(R"(graph "g" {
    opset 13
    input x: float32[2,3]
    a = Exp(x) @a
    b = Exp(x) @b
    c = Add(a, b) @c
    d = Transpose(c) @d {perm = [1, 0]}
    y = Transpose(d) @e {perm = [1, 0]}
    output y
  })");
  EXPECT_EQ(ops_of(optimised(graph, "only:eliminate-common-subexpr")), "Exp Add Transpose Transpose");
  EXPECT_EQ(ops_of(optimised(graph, "only:canonicalize-ops,eliminate-common-subexpr")), "Exp Add");
}

TEST(Passes, CombineParallelConvolutions) {
  const Graph graph = parsed(R"(graph "g" {
    opset 13
    input x: float32[1,3,5,5]
    const w1: float32[4,3,1,1] = random(1)
    const w2: float32[6,3,1,1] = random(2)
    a = Conv(x, w1) @a
    b = Conv(x, w2) @b
    output a
    output b
  })");
  EXPECT_EQ(ops_of(optimised(graph, "only:CombineParallelConv2D")), "Conv Split");
}

TEST(Passes, AlterOpLayoutBordersWhatConvolutionsPad) {
  Graph graph = parsed(R"(graph "g" {
    opset 13
    input x: float32[1,3,8,8]
    const w1: float32[16,3,3,3] = random(1)
    const w2: float32[16,16,3,3] = random(2)
    a = Conv(x, w1) @a {pads = [1, 1, 1, 1]}
    b = Conv(a, w2) @b {pads = [1, 1, 1, 1]}
    y = Relu(b) @y
    output y
  })");
  const Graph after = optimised(graph, "only:alter-op-layout");
  EXPECT_EQ(ops_of(after), "Identity Conv Conv Relu");
  EXPECT_EQ(after.value(after.find_value("x.bordered")).layout, "h2+1+1,h3+1+1");
  EXPECT_EQ(after.value(after.find_value("a")).layout, "1/16,h2+1+1,h3+1+1");
  EXPECT_EQ(after.value(after.find_value("b")).layout, "1/16");
  EXPECT_EQ(after.value(after.find_value("y")).layout, "");
}

TEST(Passes, StopAfterCountsRewrites) {
  for (int64_t n : {0, 1, 2}) {
    Graph graph = parsed(kBlock);
    PassOptions options;
    options.target = any_target(3);
    options.stop_after = n;
    int64_t seen = 0;
    options.on_patch = [&](int64_t number, const std::string&, const Patch&) { seen = number; };
    run_passes(graph, options);
    EXPECT_EQ(seen, n);
  }
}

TEST(Passes, NamesAliasesAndMistakes) {
  PassOptions options;
  options.target = any_target(1);
  options.changes = "+FoldConstant,-fuse-ops";
  EXPECT_EQ(chosen_passes(options),
            (std::vector<std::string>{"simplify-inference", "expand-dynamic-quantization", "integer-operands",
                                      "integer-arithmetic", "integer-maps", "integer-products", "integer-functions",
                                      "canonicalize-ops", "canonicalize-cast", "fold-constant", "fuse-sums"}));
  EXPECT_EQ(pass_changes(1, chosen_passes(options)), "+fold-constant,-fuse-ops");
  EXPECT_EQ(pass_changes(3, chosen_passes(PassOptions())), "");
  EXPECT_EQ(pass_changes(0, integer_passes()), "");
  EXPECT_EQ(pass_changes(0, {"fuse-ops"}), "+fuse-ops");
  EXPECT_EQ(
      pass_changes(0, {"integer-arithmetic", "fuse-ops"}),
      "-expand-dynamic-quantization,-integer-operands,-integer-maps,-integer-products,-integer-functions,+fuse-ops");
  options.changes = "+fuse-op";
  try {
    chosen_passes(options);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Usage);
    EXPECT_NE(std::string(e.what()).find("fuse-ops"), std::string::npos);
  }
  std::set<std::string> names;
  for (const Pass& pass : passes()) {
    EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
    EXPECT_GE(pass.level, 1);
    EXPECT_TRUE(pass.level <= 4 || pass.level == kConversionLevel) << pass.name;
  }
}

// The tile and, by its products, the form of the WinogradConv that a convolution becomes; "" where it stays. `large`: in a network
// whose weights fill the caches.
struct PassedLayer {
  int64_t channels, side;
  bool large = true;
  int64_t high = 3, wide = 3, stride = 1, batch = 1;
  bool alone = true;
};
std::string winograd_form(const PassedLayer& layer, const std::string& processor, int64_t lanes = 16) {
  const int64_t c = layer.channels;
  Graph graph = parse_graph(cat("graph \"g\" {\n opset 13\n input x: float32[", layer.batch, ",", c, ",", layer.side,
                                ",", layer.side, "]\n const w: float32[", c, ",", c, ",", layer.high, ",", layer.wide,
                                "] = random(1)\n const z: float32[", layer.large ? 6000 : 1,
                                ",1000] = random(2)\n y = Conv(x, w) @conv {auto_pad = \"SAME_UPPER\", strides = [",
                                layer.stride, ", ", layer.stride, "]}\n output y\n}"));
  infer_types(graph);
  PassOptions options;
  options.changes = "only:winograd";
  for (const Isa& isa : isas()) {  // OpenCL's samples go together
    if (isa.language == (layer.alone ? Language::C : Language::OpenCl) && isa.lanes(DType::Float32) == lanes)
      options.target = make_target(isa, processor, 4);
  }
  run_passes(graph, options);
  const Node& node = graph.node(graph.order().back());
  if (node.op != "WinogradConv") return "";
  EXPECT_EQ(graph.value(node.outputs[0]).type.fixed_shape()[2], (layer.side + layer.stride - 1) / layer.stride);
  const std::vector<int64_t> tile = node.attribute_ints("tile");
  return cat(tile[0], "x", tile[1], " by ", graph.value(node.inputs[1]).type.fixed_shape()[0]);
}

// Large tiles multiply least; where few of them read the weights, these take longest, and there are fewer with small tiles. How many
// are too many the processor's speeds decide. Few channels, and strides and taps without a form, keep the convolution.
TEST(Passes, WinogradTakesTheTilesThatTakeLeastTime) {
  const std::string xeon = "generic", zen4 = "zen4", zen5 = "zen5";
  for (const std::string& processor : {xeon, zen4, zen5}) {
    EXPECT_EQ(winograd_form({8, 28}, processor), "");
    EXPECT_EQ(winograd_form({64, 28, false, 1, 1}, processor), "");
    EXPECT_EQ(winograd_form({64, 28, false, 3, 3, 3}, processor), "");
    EXPECT_EQ(winograd_form({64, 27, false, 5, 5}, processor), "4x4 by 64");
    EXPECT_EQ(winograd_form({192, 17, false, 1, 7}, processor), "1x4 by 10");
    EXPECT_EQ(winograd_form({192, 17, false, 7, 1}, processor), "4x1 by 10");
    EXPECT_EQ(winograd_form({384, 8, false, 1, 3}, processor), "1x4 by 6");
  }
  EXPECT_EQ(winograd_form({256, 14, false}, zen5), "5x5 by 49");
  EXPECT_EQ(winograd_form({256, 14}, zen5), "3x3 by 25");
  EXPECT_EQ(winograd_form({256, 14}, xeon), "2x3 by 20");
  EXPECT_EQ(winograd_form({512, 7}, zen5), "2x2 by 16");
  EXPECT_EQ(winograd_form({256, 14}, zen4), "3x3 by 25");
  EXPECT_EQ(winograd_form({512, 7}, zen4), "2x2 by 16");
  EXPECT_EQ(winograd_form({512, 7}, xeon), "");
  EXPECT_EQ(winograd_form({512, 7}, "generic", 8), "");
  EXPECT_EQ(winograd_form({512, 8}, "generic", 8), "2x2 by 16");
  EXPECT_EQ(winograd_form({128, 56, true, 3, 3, 2}, zen5), "4x4 by 81");
  EXPECT_EQ(winograd_form({256, 14, true, 3, 3, 2}, zen5), "");
  EXPECT_EQ(winograd_form({256, 14}, kGpu), "");  // two launches more take longer than what is saved
  EXPECT_EQ(winograd_form({256, 112}, kGpu), "6x6 by 64");
}

// Sample by sample what one of them takes; at once, where that is less, with weights that are read once for more tiles.
TEST(Passes, WinogradOfABatch) {
  EXPECT_EQ(winograd_form({128, 28, true, 3, 3, 1, 1}, "generic"), "4x4 by 36");
  EXPECT_EQ(winograd_form({128, 28, true, 3, 3, 1, 8}, "generic"), "4x4 by 36");
  EXPECT_EQ(winograd_form({128, 28, true, 3, 3, 1, 8, false}, "generic"), "6x6 by 64");
  EXPECT_EQ(winograd_form({512, 7, true, 3, 3, 1, 1}, "generic"), "");
  EXPECT_EQ(winograd_form({512, 7, true, 3, 3, 1, 8}, "generic"), "4x4 by 36");
}

// By Winograd's algorithm, and rounded no more than F(4x4, 3x3) rounds, which is the largest form of weights that are computed.
Graph trained_by_winograd(const Graph& graph) {
  Graph after = graph;
  PassOptions options;
  options.target = any_target(4);
  options.changes = "only:winograd";
  run_passes(after, options);
  for (NodeId id : after.order()) {
    for (int64_t tile : after.node(id).attribute_ints("tile", {})) EXPECT_LE(tile, 4) << after.node(id).label();
  }
  expect_same(graph, after, 1e-5);
  return after;
}

// A step computes three things of a convolution whose weights are an input: its sums, and the gradients of its input and weights.
TEST(Passes, WinogradOfAStep) {
  const Graph graph = parsed(R"(graph "step" {
  opset 13
  input x: float32[2,32,12,15]
  input w: float32[48,32,3,3]
  input dy: float32[2,48,12,15]
  y = Conv(x, w) @conv {pads = [1, 1, 1, 1]}
  dx = dnn::ConvInputGradient(dy, w) @back {pads = [1, 1, 1, 1], input_shape = [12, 15]}
  dw = dnn::ConvWeightGradient(x, dy) @weights {pads = [1, 1, 1, 1], kernel_shape = [3, 3], input_shape = [12, 15]}
  output y
  output dx
  output dw
})");
  EXPECT_EQ(ops_of(trained_by_winograd(graph)),
            "WinogradWeights WinogradConv WinogradWeights WinogradConv WinogradWeightGradient");
}

// Strides, groups, and channels that fill no blocks keep what they have.
TEST(Passes, WinogradLeavesOtherGradients) {
  const auto ops = [](int64_t m, int64_t group, int64_t stride) {
    const int64_t out = (12 - 1) / stride + 1;
    const std::string form =
        cat("pads = [1, 1, 1, 1], input_shape = [12, 12], strides = [", stride, ", ", stride, "], group = ", group);
    Graph graph = parsed(
        cat("graph \"step\" {\n opset 13\n input x: float32[2,64,12,12]\n input w: float32[", m, ",", 64 / group,
            ",3,3]\n input dy: float32[2,", m, ",", out, ",", out, "]\n dx = dnn::ConvInputGradient(dy, w) {", form,
            "}\n dw = dnn::ConvWeightGradient(x, dy) {kernel_shape = [3, 3], ", form, "}\n output dx\n output dw\n}")
            .c_str());
    return ops_of(trained_by_winograd(graph));
  };
  EXPECT_EQ(ops(64, 1, 2), "ConvInputGradient ConvWeightGradient");
  EXPECT_EQ(ops(64, 2, 1), "ConvInputGradient ConvWeightGradient");
  EXPECT_EQ(ops(24, 1, 1), "WinogradWeights WinogradConv ConvWeightGradient");
}

}  // namespace
}  // namespace dnn
