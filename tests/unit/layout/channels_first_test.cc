// Layer normalisation and dense layers of images over axis 1 instead of the last: where that saves Transposes, and the same numbers.
#include "layout/channels_first.h"

#include <gtest/gtest.h>

#include "graph_case.h"

namespace dnn {
namespace {

// The graph as a writer of channels first takes it; the outputs are the same sums in another order.
Graph moved(const std::string& head, const std::string& body) {
  const Graph graph = typed(body, head);
  Graph after = graph;
  to_channels_first(after);
  expect_same(graph, after, 3e-6);
  return after;
}

// A block as ConvNeXt has them, height, width and channels alike on purpose.
constexpr const char* kBlock = R"(  input x: float32[2,4,4,4]
  const k: float32[4,1,3,3] = random(1)
  const gamma: float32[4] = random(2)
  const beta: float32[4] = random(3)
  const w: float32[4,16] = random(4)
  const b: float32[16] = random(5)
  const v: float32[16,4] = random(6)
  const c: float32[4] = random(7)
  const s: float32[4] = random(8)
  block/Transpose = Transpose(x) @block {perm = [0, 3, 1, 2]}
  block/Conv = Conv(block/Transpose, k) @block {group = 4, pads = [1, 1, 1, 1]}
  block = Transpose(block/Conv) @block {perm = [0, 2, 3, 1]}
  norm = LayerNormalization(block, gamma, beta) @norm {axis = -1, epsilon = 0.001}
  up/MatMul = MatMul(norm, w) @up
  up = Add(up/MatMul, b) @up
  gelu = Gelu(up) @gelu
  down/MatMul = MatMul(gelu, v) @down
  down = Add(down/MatMul, c) @down
  scaled = Mul(down, s) @scaled
  sum = Add(x, scaled) @sum
  next/Transpose = Transpose(sum) @next {perm = [0, 3, 1, 2]}
  next/Conv = Conv(next/Transpose, k) @next {group = 4, pads = [1, 1, 1, 1]}
  const axes: int64[2] = {2, 3}
  y = ReduceMean(next/Conv, axes) {keepdims = 0}
  output y
)";

TEST(ChannelsFirst, ABlockOfConvNeXtKeepsOneTranspose) {
  const Graph g = moved("  producer \"keras 3.15.1\"\n", kBlock);
  EXPECT_EQ(ops_of(g),
            "Transpose Conv ReduceMean Sub Mul ReduceMean Add Sqrt Div Mul Add Conv Gelu Conv Mul Add Conv ReduceMean");
  const Tensor* kernel = g.constant(g.find_value("w"));
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->shape(), (Shape{16, 4, 1, 1}));
  ASSERT_NE(g.constant(g.find_value("b")), nullptr);
  EXPECT_EQ(g.constant(g.find_value("b"))->shape(), (Shape{16}));
  for (const char* name : {"block", "norm", "up", "gelu", "down", "sum"})
    EXPECT_NE(g.find_value(name), kNoValue) << name;
}

TEST(ChannelsFirst, TheTransposesOfOtherSourcesAreTheirOwn) {
  const std::string as_it_is = ops_of(moved("  producer \"torchscript\"\n", kBlock));
  EXPECT_EQ(as_it_is,
            "Transpose Conv Transpose LayerNormalization MatMul Add Gelu MatMul Add Mul Add Transpose Conv ReduceMean");
  EXPECT_EQ(ops_of(moved("  opset 21\n  producer \"keras 3.15.1\"\n", kBlock)), as_it_is);
}

TEST(ChannelsFirst, WhatStandsInNoOnesWayStays) {
  // Nothing to be saved: the last axis it is.
  const Graph g = moved("  producer \"keras 3.15.1\"\n", R"(  input x: float32[2,4,4,4]
  const gamma: float32[4] = random(2)
  const w: float32[4,4] = random(4)
  n = LayerNormalization(x, gamma)
  y = MatMul(n, w)
  output y
)");
  EXPECT_EQ(ops_of(g), "LayerNormalization MatMul");
  // Normalisation over height, width and channels, and sequences, have no such form.
  const std::string block = R"(  input x: float32[2,4,4,4]
  const gamma: float32[4,4,4] = random(2)
  const k: float32[4,4,1,1] = random(3)
  t = Transpose(x) {perm = [0, 3, 1, 2]}
  a = Conv(t, k)
  u = Transpose(a) {perm = [0, 2, 3, 1]}
  n = LayerNormalization(u, gamma) {axis = 1}
  m = Transpose(n) {perm = [0, 3, 1, 2]}
  y = Conv(m, k)
  output y
)";
  EXPECT_EQ(ops_of(moved("  producer \"keras 3.15.1\"\n", block)),
            "Transpose Conv Transpose LayerNormalization Transpose Conv");
}

TEST(ChannelsFirst, AWeightOfTwoKeepsBothForms) {
  const Graph g = moved("  producer \"tensorflow 2.21.0\"\n", R"(  input x: float32[2,4,4,4]
  const k: float32[4,4,1,1] = random(3)
  const w: float32[4,4] = random(4)
  const axes: int64[2] = {1, 2}
  t = Transpose(x) {perm = [0, 3, 1, 2]}
  a = Conv(t, k)
  u = Transpose(a) {perm = [0, 2, 3, 1]}
  d = MatMul(u, w)
  e = MatMul(d, w)
  r = Transpose(e) {perm = [0, 3, 1, 2]}
  s = Conv(r, k)
  p = Transpose(s) {perm = [0, 2, 3, 1]}
  q = ReduceMean(p, axes) {keepdims = 0}
  y = MatMul(q, w)
  output y
)");
  EXPECT_EQ(ops_of(g), "Transpose Conv Conv Conv Conv ReduceMean MatMul");
}

}  // namespace
}  // namespace dnn
