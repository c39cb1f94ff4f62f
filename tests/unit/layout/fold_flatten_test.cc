// The Transpose in front of a Flatten goes into the weights, there and back to the bit, and only where it may.
#include "layout/fold_flatten.h"

#include <gtest/gtest.h>

#include "graph_case.h"

namespace dnn {
namespace {

// Folds; the outputs are the same sums in another order.
Graph folded_flattens(const Graph& graph) {
  Graph after = graph;
  fold_flattens(after);
  remove_dead_nodes(after);
  infer_types(after);
  expect_same(graph, after, 1e-6);
  return after;
}

TEST(FoldFlatten, RowsOfTheWeightMoveAndComeBack) {
  // Height, width and channels are alike on purpose.
  const Graph first = typed(R"(  input x: float32[2,3,3,3]
  const w: float32[4,27] = random(1)
  const b: float32[4] = random(2)
  t = Transpose(x) {perm = [0, 3, 1, 2]}
  f = Flatten(t)
  r = Relu(f)
  y = Gemm(r, w, b) {transB = 1}
  output y
)");
  const Graph once = folded_flattens(first);
  EXPECT_EQ(ops_of(once), "Flatten Relu Gemm");
  const Tensor &before = *first.constant(first.find_value("w")), &now = *once.constant(once.find_value("w"));
  EXPECT_FALSE(before.identical(now));
  EXPECT_EQ(now.data<float>()[1], before.data<float>()[9]);  // x[0, 0, 1] is the second in x, the tenth in t
  Graph back = typed(R"(  input x: float32[2,3,3,3]
  const w: float32[4,27] = random(1)
  const b: float32[4] = random(2)
  t = Transpose(x) {perm = [0, 2, 3, 1]}
  f = Flatten(t)
  y = Gemm(f, w, b) {transB = 1}
  output y
)");
  back.value(back.find_value("w")).constant = now;
  EXPECT_TRUE(folded_flattens(back).constant(back.find_value("w"))->identical(before));
}

TEST(FoldFlatten, SeveralLayersAndOperandsOfOneRow) {
  const Graph g = folded_flattens(typed(R"(  input x: float32[1,2,3,5]
  const shape: int64[2] = {0, -1}
  const v: float32[30,3] = random(1)
  const w: int8[30,4] = random(2)
  const s: float32[4] = {0.5, 0.25, 0.125, 1}
  const row: float32[30] = random(3)
  t = Transpose(x) {perm = [0, 2, 3, 1]}
  f = Reshape(t, shape)
  m = Mul(f, row)
  y = MatMul(m, v)
  d = DequantizeLinear(w, s) {axis = 1}
  z = Gemm(m, d)
  output y
  output z
)"));
  EXPECT_EQ(ops_of(g), "Reshape Mul MatMul DequantizeLinear Gemm");
}

TEST(FoldFlatten, ASharedWeightIsCopied) {
  const Graph g = folded_flattens(typed(R"(  input x: float32[2,2,3,5]
  const w: float32[30,3] = random(1)
  t = Transpose(x) {perm = [0, 2, 3, 1]}
  f = Flatten(t)
  y = MatMul(f, w)
  z = Relu(w)
  output y
  output z
)"));
  EXPECT_EQ(ops_of(g), "Flatten MatMul Relu");
}

TEST(FoldFlatten, StaysWhereTheOrderIsSeen) {
  const std::string head = "  input x: float32[2,2,3,5]\n  const w: float32[30,3] = random(1)\n";
  const std::string flat = "  t = Transpose(x) {perm = [0, 2, 3, 1]}\n  f = Flatten(t)\n";
  // the flattened value is an output; sums along it in parts; the Transpose exchanges the batch; another reads it
  for (const std::string& body :
       {flat + "  y = MatMul(f, w)\n  output y\n  output f\n",
        flat + "  s = Softmax(f) {axis = 0}\n  y = MatMul(s, w)\n  output y\n",
        std::string("  t = Transpose(x) {perm = [1, 0, 2, 3]}\n  f = Flatten(t)\n  y = MatMul(f, w)\n  output y\n"),
        flat + "  y = MatMul(f, w)\n  z = Relu(t)\n  output y\n  output z\n"}) {
    const Graph g = typed(head + body);
    EXPECT_EQ(ops_of(folded_flattens(g)), ops_of(g));
  }
}

}  // namespace
}  // namespace dnn
