// Dense layers on rows of an image put back in their places: what is lifted, with open batches too, and what is not.
#include "layout/lift_rows.h"

#include <gtest/gtest.h>

#include "graph_case.h"

namespace dnn {
namespace {

// Lifts; the outputs keep every bit.
Graph lifted(const std::string& body) {
  const Graph graph = typed(body);
  Graph after = graph;
  lift_rows(after);
  infer_types(after);
  expect_same(graph, after);
  return after;
}

TEST(LiftRows, GemmAndWhatFollowsIt) {
  const Graph g = lifted(R"(  input x: float32[2,3,3,4]
  const w: float32[5,4] = random(1)
  const b: float32[5] = random(2)
  const rows: int64[2] = {-1, 4}
  const image: int64[4] = {2, 3, 3, 5}
  r = Reshape(x, rows)
  d = Gemm(r, w, b) @dense {transB = 1}
  a = Relu(d)
  y = Reshape(a, image)
  output y
)");
  EXPECT_EQ(ops_of(g), "MatMul Add Relu");
  EXPECT_EQ(g.constant(g.find_value("w"))->shape(), (Shape{4, 5}));
}

TEST(LiftRows, ProductsOneAfterTheOther) {
  const Graph g = lifted(R"(  input x: float32[2,3,4]
  const w: float32[4,4] = random(1)
  const rows: int64[2] = {6, 4}
  const back: int64[3] = {2, 3, 4}
  r = Reshape(x, rows)
  d = MatMul(r, w)
  e = Reshape(d, back)
  q = Reshape(e, rows)
  f = MatMul(q, w)
  y = Reshape(f, back)
  output y
)");
  EXPECT_EQ(ops_of(g), "MatMul MatMul");
}

// TensorFlow's tensordot computes the extents of the rows from those of its input.
TEST(LiftRows, ExtentsComputedFromAnOpenBatch) {
  const Graph g = lifted(R"(  input x: float32[batch,3,4]
  const w: float32[4,5] = random(1)
  const first: int64[2] = {0, 1}
  const inner: int64[1] = {4}
  const outer: int64[1] = {5}
  const one: int64[1] = {1}
  const zero: int64[1] = {0}
  s = Shape(x)
  n = Gather(s, first)
  p = ReduceProd(n, zero) {keepdims = 1}
  rows = Concat(p, inner) {axis = 0}
  image = Concat(n, outer) {axis = 0}
  r = Reshape(x, rows)
  d = MatMul(r, w)
  y = Reshape(d, image)
  output y
)");
  EXPECT_EQ(ops_of(g), "MatMul");
  EXPECT_EQ(g.value(g.outputs[0]).type.text(), "float32[batch,3,5]");
}

TEST(LiftRows, RowsThatComeBackElsewhereStay) {
  const char* const head = R"(  input x: float32[2,3,4]
  const w: float32[4,5] = random(1)
  const rows: int64[2] = {6, 4}
)";
  const char* const turned = R"(  const back: int64[3] = {3, 2, 5}
  r = Reshape(x, rows)
  d = MatMul(r, w)
  y = Reshape(d, back)
  output y
)";
  EXPECT_EQ(ops_of(lifted(std::string(head) + turned)), "Reshape MatMul Reshape");
  const char* const seen = R"(  const back: int64[3] = {2, 3, 5}
  r = Reshape(x, rows)
  d = MatMul(r, w)
  y = Reshape(d, back)
  output y
  output d
)";
  EXPECT_EQ(ops_of(lifted(std::string(head) + seen)), "Reshape MatMul Reshape");
  const char* const by_row = R"(  const back: int64[3] = {2, 3, 5}
  const c: float32[6,5] = random(2)
  r = Reshape(x, rows)
  d = MatMul(r, w)
  e = Add(d, c)
  y = Reshape(e, back)
  output y
)";
  EXPECT_EQ(ops_of(lifted(std::string(head) + by_row)), "Reshape MatMul Add Reshape");
}

}  // namespace
}  // namespace dnn
