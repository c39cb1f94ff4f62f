// Moving Transposes: how many stay and where, that outputs keep every bit, and which names survive.
#include "layout/settle.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph_case.h"

namespace dnn {
namespace {

// Settles the graph; its values whose names begin with "_" are invented ones. Outputs must keep every bit.
Graph settled(const std::string& body) {
  const Graph graph = typed(body);
  Graph after = graph;
  std::set<ValueId> unnamed;
  for (ValueId v = 0; v < after.value_count(); ++v) {
    if (after.value(v).name[0] == '_') unnamed.insert(v);
  }
  settle_transposes(after, unnamed);
  infer_types(after);
  expect_same(graph, after);
  return after;
}

// A convolution of a channels-last value, as readers of such formats write it.
std::string conv(const std::string& x, const std::string& y) {
  return "  _" + y + "_in = Transpose(" + x + ") {perm = [0, 3, 1, 2]}\n  _" + y + "_out = Conv(_" + y +
         "_in, w) {pads = [1, 1, 1, 1]}\n  " + y + " = Transpose(_" + y + "_out) {perm = [0, 2, 3, 1]}\n";
}

constexpr const char* kHead = "  input x: float32[1,4,4,4]\n  const w: float32[4,4,3,3] = random(1)\n";

TEST(Settle, OneTransposeAtEachEndOfAChain) {
  const Graph g = settled(kHead + conv("x", "a") + "  r = Relu(a)\n" + conv("r", "y") + "  output y\n");
  EXPECT_EQ(ops_of(g), "Transpose Conv Relu Conv Transpose");
  EXPECT_NE(g.find_value("a"), kNoValue);
  EXPECT_NE(g.find_value("r"), kNoValue);
}

TEST(Settle, ResidualBranchesShareAnOrder) {
  const Graph g = settled(std::string(kHead) + "  const low: float32[] = {0}\n  const high: float32[] = {6}\n" +
                          conv("x", "a") + conv("a", "b") + R"(  s = Add(a, b)
  t = Clip(s, low, high)
)" + conv("t", "c") + "  z = Add(c, t)\n  k = Concat(z, t, a) {axis = 3}\n  y = Relu(k)\n  output y\n");
  EXPECT_EQ(ops_of(g), "Transpose Conv Conv Add Clip Conv Add Concat Relu Transpose");
}

TEST(Settle, ConstantsOfFewerAxesFollow) {
  const Graph g =
      settled(std::string(kHead) + "  const b: float32[4] = {1, 2, 3, 4}\n  const m: float32[4,1,4] = random(3)\n" +
              conv("x", "a") + "  c = Add(a, b)\n  d = Mul(m, c)\n" + conv("d", "y") + "  output y\n");
  EXPECT_EQ(ops_of(g), "Transpose Conv Add Mul Conv Transpose");
  EXPECT_EQ(g.constant(g.node(g.order()[2]).inputs[1])->shape(), (Shape{1, 4, 1, 1}));
}

TEST(Settle, AxesAreRenumbered) {
  const Graph g = settled(std::string(kHead) + R"(  const axes: int64[2] = {1, -2}
  const pads: int64[8] = {0, 1, 2, 0, 0, 0, 1, 0}
  const start: int64[1] = {1}
  const end: int64[1] = {3}
  const last: int64[1] = {3}
)" + conv("x", "a") + R"(  p = Pad(a, pads)
  s = Slice(p, start, end, last)
  m = Softmax(s) {axis = -1}
  l, r = Split(m) {axis = 3, num_outputs = 2}
  e = Sub(l, r)
  y = ReduceMean(e, axes) {keepdims = 0}
  output y
)");
  EXPECT_EQ(ops_of(g), "Transpose Conv Pad Slice Softmax Split Sub ReduceMean");
}

TEST(Settle, AReductionThatWouldReorderWhatItKeepsIsLeft) {
  const Graph g = settled(kHead + conv("x", "a") +
                          "  const axis: int64[1] = {3}\n  y = ReduceSum(a, axis) {keepdims = 0}\n  output y\n");
  EXPECT_EQ(ops_of(g), "Transpose Conv ReduceSum");  // over channels: height and width keep their order
  const Graph h = settled(kHead + conv("x", "a") +
                          "  const axis: int64[1] = {1}\n  y = ReduceSum(a, axis) {keepdims = 0}\n  output y\n");
  EXPECT_EQ(ops_of(h), "Transpose Conv Transpose ReduceSum");  // over height: [W, C] would become [C, W]
}

TEST(Settle, OutputsInTheMiddleKeepTheirOrder) {
  const Graph g =
      settled(kHead + conv("x", "a") + "  r = Relu(a)\n" + conv("r", "y") + "  output r\n  output y\n  output a\n");
  const std::string ops = ops_of(g);  // one for the input, one for each output
  EXPECT_EQ(std::count(ops.begin(), ops.end(), 'T'), 4) << ops;
}

TEST(Settle, TransposesOfTheModelsOwnStay) {
  const Graph g = settled(
      "  input x: float32[2,3,4]\n  a = Transpose(x) {perm = [1, 0, 2]}\n  b = Transpose(a) {perm = [1, 0, 2]}\n  y = "
      "Transpose(b)\n  z = Relu(b)\n  output y\n  output z\n");
  EXPECT_EQ(ops_of(g), "Relu Transpose");
}

TEST(Settle, AReshapeOfSingleExtentsNeedsNoOrder) {
  const Graph g = settled(R"(  input x: float32[1,1,1,6]
  const w: float32[5,6,1,1] = random(2)
  const shape: int64[2] = {1, -1}
  i = Transpose(x) {perm = [0, 3, 1, 2]}
  _c = Conv(i, w)
  c = Transpose(_c) {perm = [0, 2, 3, 1]}
  y = Reshape(c, shape)
  output y
)");
  EXPECT_EQ(ops_of(g), "Transpose Conv Reshape");
}

TEST(Settle, AChannelShuffleKeepsItsOwnTransposeOnly) {
  // As many channels as rows and columns, in groups as large as there are groups: extents tell nothing.
  const Graph g = settled(kHead + conv("x", "a") + R"(  r = Relu(a)
  const split: int64[5] = {1, 4, 4, 2, 2}
  const merge: int64[4] = {0, 4, 4, -1}
  s = Reshape(r, split)
  t = Transpose(s) {perm = [0, 1, 2, 4, 3]}
  m = Reshape(t, merge)
)" + conv("m", "b") + "  y = Relu(b)\n" +
                          conv("y", "z") + "  output z\n");
  EXPECT_EQ(ops_of(g), "Transpose Conv Relu Reshape Transpose Reshape Conv Relu Conv Transpose");
}

TEST(Settle, ReshapesMoveTheirAxes) {
  const Graph g = settled(kHead + conv("x", "a") + R"(  const rows: int64[3] = {1, 16, 4}
  const back: int64[4] = {1, 4, 4, 4}
  const axis: int64[1] = {1}
  s = Reshape(a, rows)
  p = Softmax(s) {axis = 1}
  q = Reshape(p, back)
  u = Unsqueeze(q, axis)
  v = Squeeze(u, axis)
)" + conv("v", "y") + "  output y\n");
  EXPECT_EQ(ops_of(g), "Transpose Conv Reshape Softmax Reshape Reshape Reshape Conv Transpose");
}

TEST(Settle, AHeadOfSingleExtentsNeedsNoOrder) {
  for (const std::string& head :
       {std::string("  y = Flatten(p)\n"), std::string("  const axes: int64[2] = {1, 2}\n  y = Squeeze(p, axes)\n"),
        std::string("  const to: int64[2] = {-1, 4}\n  y = Reshape(p, to)\n")}) {
    const Graph g =
        settled(kHead + conv("x", "a") + "  const hw: int64[2] = {1, 2}\n  p = ReduceMean(a, hw) {keepdims = 1}\n" +
                head + "  output y\n");
    EXPECT_EQ(ops_of(g).find("Transpose", 1), std::string::npos) << ops_of(g);
  }
}

TEST(Settle, QuantisedWeightsAreReorderedAsStored) {
  const Graph g = settled(R"(  input x: float32[1,5,5,2]
  const w: int8[1,3,3,2] = random(2)
  const scale: float32[2] = {0.5, 0.25}
  const zero: int8[2] = {0, 0}
  d = DequantizeLinear(w, scale, zero) {axis = 3}
  _w = Transpose(d) {perm = [3, 0, 1, 2]}
  _x = Transpose(x) {perm = [0, 3, 1, 2]}
  _c = Conv(_x, _w) {group = 2}
  c = Transpose(_c) {perm = [0, 2, 3, 1]}
  output c
)");
  EXPECT_EQ(ops_of(g), "DequantizeLinear Transpose Conv Transpose");
  const Node& dequantize = g.node(g.order()[0]);
  EXPECT_EQ(g.value(dequantize.inputs[0]).type.text(), "int8[2,1,3,3]");
  EXPECT_EQ(dequantize.attribute_int("axis", -1), 0);
}

TEST(Settle, SubgraphsReadTheirNamesInTheModelsOrder) {
  const Graph g = settled(kHead + conv("x", "a") + R"(  r = Relu(a)
  const yes: bool[] = {true}
  y = If(yes) {then_branch = graph "t" {
    capture r
    t = Neg(r)
    output t
  }, else_branch = graph "e" {
    capture r
    e = Exp(r)
    output e
  }}
  output y
)");
  EXPECT_NE(ops_of(g).find("If"), std::string::npos);
}

}  // namespace
}  // namespace dnn
