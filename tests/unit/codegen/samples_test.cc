// Which nodes take the samples of a batch one by one, and which values only they see.
#include "codegen/samples.h"

#include <gtest/gtest.h>

#include "graph_case.h"

namespace dnn::codegen {
namespace {

// "conv pool | conv": the nodes that run sample by sample by name, a bar between runs.
std::string runs(const Graph& graph) {
  const Samples samples = find_samples(graph);
  std::string text;
  int last = -1;
  for (NodeId id : graph.order()) {
    if (!samples.sampled(id)) continue;
    const int run = samples.runs.at(id);
    text += cat(text.empty() ? "" : run == last ? " " : " | ", graph.node(id).name);
    last = run;
  }
  return text;
}

std::string inner(const Graph& graph) {
  const Samples samples = find_samples(graph);
  std::string text;
  for (ValueId id : samples.inner) text += cat(text.empty() ? "" : " ", graph.value(id).name);
  return text;
}

// y of x: float32[4,64,32,32], a quarter of a MiB a sample.
std::string run_of(const std::string& nodes) {
  return runs(typed("  input x: float32[4,64,32,32]\n" + nodes + "\n  output y"));
}

TEST(Samples, GoThroughARunOfNodesOnTheirOwn) {
  const Graph graph = typed(R"(  input x: float32[4,64,32,32]
  const w: float32[64,64,3,3] = random(1)
  const fc: float32[64,1000] = random(2)
  const flat: int64[2] = {0, -1}
  a = Conv(x, w) @conv {pads = [1, 1, 1, 1]}
  b = Relu(a) @relu
  c = Add(b, x) @add
  p = GlobalAveragePool(c) @pool
  f = Reshape(p, flat) @reshape
  y = MatMul(f, fc) @dense
  output y)");
  EXPECT_EQ(runs(graph), "conv relu add pool reshape");
  EXPECT_EQ(inner(graph), "a b c p");  // f goes on to all of the batch at once
  const Samples samples = find_samples(graph);
  EXPECT_EQ(samples.count, 4);
  EXPECT_EQ(samples.one.value(graph.find_value("c")).type.fixed_shape(), (Shape{1, 64, 32, 32}));
}

// Its tiles, which V and P hold by product, are the samples' one behind the other.
TEST(Samples, GoThroughWinogradsStages) {
  EXPECT_EQ(run_of(R"(  const u: float32[36,64,64] = random(1)
  a = dnn::WinogradConv(x, u) @winograd {kernel_shape = [3, 3], pads = [1, 1, 1, 1], tile = [4, 4]}
  y = Relu(a) @relu)"),
            "winograd relu");
}

TEST(Samples, MayBeSeveralRowsOfAMatrix) {
  const Graph graph = typed(R"(  input x: float32[4,197,192]
  const rows: int64[2] = {-1, 192}
  const w: float32[192,192] = random(1)
  const b: float32[192] = random(2)
  const position: float32[1,197,192] = random(3)
  p = Add(x, position) @position
  r = Reshape(p, rows) @reshape
  m = MatMul(r, w) @matmul
  y = Add(m, b) @bias
  output y)");
  EXPECT_EQ(runs(graph), "position reshape matmul bias");
  EXPECT_EQ(find_samples(graph).one.value(graph.find_value("m")).type.fixed_shape(), (Shape{197, 192}));
}

TEST(Samples, DoNotMix) {
  EXPECT_EQ(run_of("  y = Softmax(x) @mix {axis = 1}"), "mix");
  EXPECT_EQ(run_of("  y = Softmax(x) @mix {axis = 0}"), "");
  EXPECT_EQ(run_of("  const axis: int64[] = {0}\n  y = CumSum(x, axis) @mix"), "");
  EXPECT_EQ(run_of("  const axis: int64[1] = {0}\n  y = ReduceMean(x, axis) @mix {keepdims = 1}"), "");
  EXPECT_EQ(run_of("  y = Concat(x, x) @mix {axis = 0}"), "");
  EXPECT_EQ(run_of("  y = Concat(x, x) @mix {axis = 1}"), "mix");
  EXPECT_EQ(run_of("  y = Transpose(x) @mix {perm = [1, 0, 2, 3]}"), "");
  EXPECT_EQ(run_of("  y = Transpose(x) @mix {perm = [0, 2, 3, 1]}"), "mix");
  EXPECT_EQ(run_of("  const at: int64[4] = {3, 2, 1, 0}\n  y = Gather(x, at) @mix {axis = 0}"), "");
  // The rows of 6 samples, read as those of 4.
  EXPECT_EQ(runs(typed(R"(  input x: float32[6,64,32,32]
  const to: int64[4] = {4, 96, 32, 32}
  y = Reshape(x, to) @mix
  output y)")),
            "");
  // A constant that is another for each sample.
  EXPECT_EQ(run_of("  const c: float32[4,1,1,1] = {1, 2, 3, 4}\n  y = Mul(x, c) @mix"), "");
  EXPECT_EQ(run_of("  const c: float32[1,64,1,1] = random(1)\n  y = Mul(x, c) @mix"), "mix");
}

TEST(Samples, GoOnBehindANodeThatMixesThem) {
  EXPECT_EQ(run_of("  a = Relu(x) @first\n  b = Softmax(a) @mix {axis = 0}\n  y = Relu(b) @second"), "first | second");
}

TEST(Samples, AreTakenTogetherWhereThatIsLess) {
  EXPECT_EQ(runs(typed("  input x: float32[4,8,8,8]\n  y = Relu(x) @small\n  output y")), "");
  EXPECT_EQ(runs(typed("  input x: float32[1,64,32,32]\n  y = Relu(x) @alone\n  output y")), "");
  const std::string weights = "  const w: float32[512,512,3,3] = random(1)\n  y = Conv(x, w) @conv\n  output y";
  EXPECT_EQ(runs(typed("  input x: float32[4,512,9,9]\n" + weights)), "");
  EXPECT_EQ(runs(typed("  input x: float32[4,512,99,99]\n" + weights)), "conv");
}

// 2.25 MiB of weights for 0.75 of a sample's input and output, and 1.7 of its tiles.
TEST(Samples, AreAsLargeAsWhatLiesBetweenANodesStages) {
  const std::string rest =
      "  y = dnn::WinogradConv(x, u) @winograd {kernel_shape = [3, 3], pads = [1, 1, 1, 1], tile = [4, 4]}\n  output y";
  EXPECT_EQ(runs(typed("  input x: float32[4,128,28,28]\n  const u: float32[36,128,128] = random(1)\n" + rest)),
            "winograd");
  EXPECT_EQ(runs(typed("  input x: float32[4,256,14,14]\n  const u: float32[36,256,256] = random(1)\n" + rest)), "");
}

TEST(Samples, AreThoseOfAllInputs) {
  EXPECT_EQ(
      runs(typed("  input x: float32[4,64,32,32]\n  input z: float32[4,1,1,1]\n  y = Add(x, z) @add\n  output y")),
      "add");
  EXPECT_EQ(
      runs(typed("  input x: float32[4,64,32,32]\n  input z: float32[1,1,1,1]\n  y = Add(x, z) @add\n  output y")), "");
}

}  // namespace
}  // namespace dnn::codegen
