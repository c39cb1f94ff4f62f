// Other batches: what is rewritten so that a graph of one sample takes several, and what is refused by name.
#include <gtest/gtest.h>

#include "base/error.h"
#include "convert/surgery.h"
#include "graph/bind.h"
#include "graph/tensor_text.h"
#include "graph/text.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "unit/convert/graph_of.h"

namespace dnn {
namespace {

// Runs the graph at its own batch on each sample, and the rewritten one on both together.
void expect_two_at_once(const Graph& one, const std::string& batch) {
  Graph two = one;
  set_batch(two, batch);
  verify(two);
  Graph bound = two;
  bind_shape(bound, cat(bound.value(bound.inputs[0]).name, ":", [&] {
               std::vector<std::string> extents;
               for (const Dim& dim : *bound.value(bound.inputs[0]).type.shape)
                 extents.push_back(cat(dim.fixed() ? dim.size : 2));
               return join(extents, "x");
             }()));
  infer_types(bound);
  const Shape shape = bound.value(bound.inputs[0]).type.fixed_shape();
  ASSERT_EQ(shape[0], 2);
  const Tensor both = random_tensor(DType::Float32, shape, 9);
  const std::vector<double> got = to_doubles(interpret(bound, {both})[0]);
  std::vector<double> expected;
  Shape single = shape;
  single[0] = 1;
  const std::vector<double> values = to_doubles(both);
  for (size_t i = 0; i < 2; ++i) {
    const size_t n = values.size() / 2;
    const std::vector<double> part(values.begin() + static_cast<int64_t>(i * n),
                                   values.begin() + static_cast<int64_t>((i + 1) * n));
    const Tensor x = convert(Tensor::of<double>(single, part), DType::Float32);
    for (double y : to_doubles(interpret(one, {x})[0])) expected.push_back(y);
  }
  EXPECT_EQ(got, expected);
}

TEST(SetBatch, RewritesReshapes) {
  const Graph graph = graph_of(R"(
  input x: float32[1,4,3]
  const flat: int64[2] = {1, 12}
  const guessed: int64[2] = {1, -1}
  const rows: int64[2] = {4, 3}
  const back: int64[3] = {1, 4, 3}
  const w: float32[3,3] = random(1)
  a = Reshape(x, rows)
  b = MatMul(a, w)
  c = Reshape(b, back)
  d = Reshape(c, guessed)
  y = Reshape(d, flat)
  output y
)");
  expect_two_at_once(graph, "2");
  expect_two_at_once(graph, "n");
  Graph open = graph;
  set_batch(open, "n");
  EXPECT_EQ(open.value(open.inputs[0]).type.text(), "float32[n,4,3]");
  EXPECT_EQ(open.value(open.outputs[0]).type.text(), "float32[n,12]");
}

// Attention of a vision transformer: a class token beside the patches, heads split and joined.
TEST(SetBatch, FollowsAttention) {
  const Graph graph = graph_of(R"(
  input x: float32[1,4,6]
  const token: float32[1,1,6] = random(1)
  const w: float32[6,18] = random(2)
  const split: int64[5] = {1, 5, 3, 2, 3}
  const joined: int64[3] = {1, 5, 6}
  const zero: int64[] = {0}
  const one: int64[] = {1}
  const two: int64[] = {2}
  all = Concat(token, x) @tokens {axis = 1}
  qkv = MatMul(all, w)
  parts = Reshape(qkv, split)
  stacked = Transpose(parts) {perm = [2, 0, 3, 1, 4]}
  q = Gather(stacked, zero) {axis = 0}
  k = Gather(stacked, one) {axis = 0}
  v = Gather(stacked, two) {axis = 0}
  kt = Transpose(k) {perm = [0, 1, 3, 2]}
  scores = MatMul(q, kt)
  weights = Softmax(scores) {axis = -1}
  mixed = MatMul(weights, v)
  rows = Transpose(mixed) {perm = [0, 2, 1, 3]}
  y = Reshape(rows, joined)
  output y
)");
  expect_two_at_once(graph, "2");
  expect_two_at_once(graph, "n");
}

TEST(SetBatch, RewritesResizes) {
  const Graph graph = graph_of(R"(
  input x: float32[1,2,3,3]
  const sizes: int64[4] = {1, 2, 5, 6}
  y = Resize(x, _, _, sizes) {mode = "nearest"}
  output y
)");
  expect_two_at_once(graph, "2");
  expect_two_at_once(graph, "n");
}

TEST(SetBatch, FixesWhatIsOpen) {
  Graph graph =
      graph_of("  input x: float32[n,2]\n  input z: float32[n,3]\n  y = Concat(x, z) {axis = 1}\n  output y\n");
  set_batch(graph, "7");
  EXPECT_EQ(graph.value(graph.outputs[0]).type.text(), "float32[7,5]");
  Graph named = graph_of("  input x: float32[n,2]\n  y: float32[n,2] = Relu(x)\n  output y\n");
  set_batch(named, "batch");
  EXPECT_EQ(named.value(named.outputs[0]).type.text(), "float32[batch,2]");
}

void expect_refusal(const std::string& body, ErrorKind kind, const std::string& words) {
  Graph graph = graph_of(body);
  const std::string before = to_text(graph);
  try {
    set_batch(graph, "4");
    FAIL() << "set";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
  }
  EXPECT_EQ(to_text(graph), before);
}

TEST(SetBatch, RefusesByName) {
  expect_refusal("  input x: float32[1,2]\n  const a: int64[1] = {0}\n  y = Squeeze(x, a) @drop\n  output y\n",
                 ErrorKind::Unsupported, "drop");
  expect_refusal(
      "  input x: float32[1,2]\n  const i: int64[] = {0}\n  y = Gather(x, i) @first {axis = 0}\n  output y\n",
      ErrorKind::Unsupported, "node 'first' (Gather): its output float32[2] has no batch any more");
  expect_refusal("  input x: float32[1,2]\n  input z: float32[3,2]\n  y = Add(x, z)\n  output y\n", ErrorKind::Usage,
                 "the inputs do not share one");
  // In front of the batch stand other extents, and both 12 and 197 could take it.
  expect_refusal(R"(
  input x: float32[1,7,24]
  const s: int64[3] = {7, 4, 6}
  t = Transpose(x) {perm = [1, 0, 2]}
  r = Reshape(t, s) @heads
  y = Transpose(r) {perm = [1, 0, 2]}
  output y
)",
                 ErrorKind::Unsupported, "node 'heads' (Reshape): it is not clear which extent of [7,4,6]");
}

}  // namespace
}  // namespace dnn
