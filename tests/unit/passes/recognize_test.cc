// Operators that models spell out: what is found, in which spellings, that the numbers stay, and what is no such operator.
#include <gtest/gtest.h>

#include "graph_case.h"
#include "passes/pass.h"

namespace dnn {
namespace {

// Runs one pass; outputs stay within rounding of float32.
Graph recognized(const std::string& pass, const std::string& body) {
  const Graph graph = typed(body);
  Graph after = graph;
  PassOptions options;
  options.changes = "only:" + pass;
  run_passes(after, options);
  expect_same(graph, after, 3e-6);
  return after;
}

// Two heads of three places, over five places of the sequence.
constexpr const char* kProjection = R"(  const w: float32[6,18] = random(1)
  const b: float32[18] = random(2)
  const o: float32[6,6] = random(3)
  const scale: float32[] = {0.57735026}
)";

// One dense layer for queries, keys and values, as torch and timm export it.
std::string fused(const std::string& input, const std::string& split, const std::string& join) {
  return "  input x: float32[" + input + "]\n" + kProjection + "  const split: int64[5] = {" + split +
         "}\n  const join: int64[3] = {" + join + R"(}
  const one: int64[1] = {0}
  const zero: int64[] = {0}
  const first: int64[] = {1}
  const second: int64[] = {2}
  p = MatMul(x, w)
  qkv = Add(b, p)
  r = Reshape(qkv, split)
  t = Transpose(r) {perm = [2, 0, 3, 1, 4]}
  q = Gather(t, zero) {axis = 0}
  k = Gather(t, first) {axis = 0}
  v = Gather(t, second) {axis = 0}
  qs = Mul(q, scale)
  kt = Transpose(k) {perm = [0, 1, 3, 2]}
  s = MatMul(qs, kt)
  a = Softmax(s) {axis = -1}
  m = MatMul(a, v)
  mt = Transpose(m) {perm = [0, 2, 1, 3]}
  mixed = Reshape(mt, join)
  y = MatMul(mixed, o)
  output y
)";
}

constexpr const char* kFound = "MatMul Add MatMul Add MatMul Add Attention MatMul";

TEST(RecognizeAttention, OneDenseLayerForQueriesKeysAndValues) {
  const Graph g = recognized("recognize-attention", fused("2,5,6", "2,5,3,2,3", "2,5,6"));
  EXPECT_EQ(ops_of(g), kFound);
  const Node& attention = g.node(g.order()[6]);
  EXPECT_EQ(attention.attribute_int("q_num_heads", 0), 2);
  EXPECT_FLOAT_EQ(attention.attribute_float("scale", 0), 0.57735026f);
  const Tensor* query = g.constant(g.find_value("w/query"));
  ASSERT_NE(query, nullptr);
  EXPECT_EQ(query->shape(), (Shape{6, 6}));
  const Tensor* all = g.constant(g.find_value("w"));
  const Tensor* value = g.constant(g.find_value("w/value"));
  ASSERT_TRUE(all != nullptr && value != nullptr);
  EXPECT_EQ(query->data<float>()[7], all->data<float>()[19]);  // row 1, column 1
  EXPECT_EQ(value->data<float>()[7], all->data<float>()[31]);  // row 1, column 13
}

TEST(RecognizeAttention, AnOpenBatch) {
  EXPECT_EQ(ops_of(recognized("recognize-attention", fused("batch,5,6", "-1,5,3,2,3", "-1,5,6"))), kFound);
}

TEST(RecognizeAttention, HeadsThatAreMixedUpAreNone) {
  // Where the heads would stand, [length, heads] is read as [heads, length]: another function.
  std::string body = fused("2,5,6", "2,5,3,2,3", "2,5,6");
  const std::string right = "mt = Transpose(m) {perm = [0, 2, 1, 3]}", wrong = "mt = Identity(m)";
  body.replace(body.find(right), right.size(), wrong);
  EXPECT_EQ(
      ops_of(recognized("recognize-attention", body)),
      "MatMul Add Reshape Transpose Gather Gather Gather Mul Transpose MatMul Softmax MatMul Identity Reshape MatMul");
  // The batch for the sequence: attention over the wrong axis.
  EXPECT_EQ(ops_of(recognized("recognize-attention", fused("5,5,6", "5,5,3,2,3", "5,5,6"))), kFound);
  std::string other = fused("5,5,6", "5,5,3,2,3", "5,5,6");
  const std::string perm = "perm = [2, 0, 3, 1, 4]";
  other.replace(other.find(perm), perm.size(), "perm = [2, 1, 3, 0, 4]");
  EXPECT_NE(ops_of(recognized("recognize-attention", other)), kFound);
}

TEST(RecognizeAttention, ScoresThatAreAnOutputStay) {
  EXPECT_EQ(ops_of(recognized("recognize-attention", fused("2,5,6", "2,5,3,2,3", "2,5,6") + "  output a\n"))
                .find("Attention"),
            std::string::npos);
}

// Queries, keys and values each of their own, the sequence before the batch and the batch and the heads in one axis, as torch's
// nn.MultiheadAttention does.
TEST(RecognizeAttention, TheSequenceFirst) {
  const char* const body = R"(  input x: float32[5,2,6]
  const w: float32[6,6] = random(1)
  const u: float32[6,6] = random(2)
  const v: float32[6,6] = random(3)
  const b: float32[6] = random(4)
  const o: float32[6,6] = random(5)
  const scale: float32[] = {1.7320508}
  const split: int64[3] = {5, 4, 3}
  const rows: int64[2] = {10, 6}
  const back: int64[3] = {5, 2, 6}
  qp = MatMul(x, w)
  qa = Add(qp, b)
  q = Div(qa, scale)
  k = MatMul(x, u)
  l = MatMul(x, v)
  qr = Reshape(q, split)
  kr = Reshape(k, split)
  lr = Reshape(l, split)
  qt = Transpose(qr) {perm = [1, 0, 2]}
  kt = Transpose(kr) {perm = [1, 2, 0]}
  lt = Transpose(lr) {perm = [1, 0, 2]}
  s = MatMul(qt, kt)
  a = Softmax(s) {axis = 2}
  m = MatMul(a, lt)
  n = Transpose(m) {perm = [1, 0, 2]}
  j = Reshape(n, rows)
  p = MatMul(j, o)
  y = Reshape(p, back)
  output y
)";
  const std::string ops = ops_of(recognized("recognize-attention", body));
  EXPECT_EQ(ops, "Transpose MatMul Add Transpose MatMul Transpose MatMul Attention Transpose Reshape MatMul Reshape");
}

// As Keras 3 writes it for TensorFlow, over axis 1 of what was channels last.
TEST(RecognizeNormalization, OverChannelsInTensorFlowsSpelling) {
  const std::string body = R"(  input x: float32[2,3,4,4]
  const axes: int64[1] = {1}
  const gamma: float32[1,3,1,1] = random(1)
  const beta: float32[1,3,1,1] = random(2)
  const small: float32[] = {0.001}
  mean = ReduceMean(x, axes)
  d = Sub(x, mean)
  sq = Mul(d, d)
  var = ReduceMean(sq, axes)
  e = Add(var, small)
  root = Sqrt(e)
  inverse = Reciprocal(root)
  s = Mul(inverse, gamma)
  scaled = Mul(x, s)
  minus = Neg(mean)
  shift = Mul(minus, s)
  offset = Add(shift, beta)
  y = Add(scaled, offset) @norm
  output y
)";
  const Graph g = recognized("recognize-channel-normalization", body);
  EXPECT_EQ(ops_of(g), "Transpose LayerNormalization Transpose");
  EXPECT_EQ(g.node(g.order()[1]).name, "norm");
  EXPECT_EQ(ops_of(recognized("recognize-normalization", body)).find("LayerNormalization"), std::string::npos);
}

TEST(RecognizeNormalization, OverChannelsAsOthersSpellIt) {
  const std::string head = R"(  input x: float32[2,3,4,4]
  const axes: int64[1] = {1}
  const gamma: float32[3,1,1] = random(1)
  const small: float32[] = {0.001}
)",
                    normal = R"(  mean = ReduceMean(x, axes)
  d = Sub(x, mean)
  sq = Mul(d, d)
  var = ReduceMean(sq, axes)
  e = Add(var, small)
  root = Sqrt(e)
  n = Div(d, root)
)";
  EXPECT_EQ(ops_of(recognized("recognize-channel-normalization",
                              head + "  const beta: float32[3,1,1] = random(2)\n" + normal +
                                  "  m = Mul(n, gamma)\n  y = Add(m, beta)\n  output y\n")),
            "Transpose LayerNormalization Transpose");
  // A shift that differs along another axis is none of it.
  EXPECT_EQ(ops_of(recognized("recognize-channel-normalization",
                              head + "  const beta: float32[3,4,1] = random(2)\n" + normal +
                                  "  m = Mul(n, gamma)\n  y = Add(m, beta)\n  output y\n")),
            "Transpose LayerNormalization Transpose Add");
}

TEST(RecognizeActivations, GeluByErfc) {
  EXPECT_EQ(ops_of(recognized("recognize-activations", R"(  input x: float32[2,7]
  const half: float32[] = {0.5}
  const one: float32[] = {1}
  const r: float32[] = {0.70710678}
  h = Mul(half, x)
  n = Neg(x)
  u = Mul(n, r)
  f = Erf(u)
  c = Sub(one, f)
  y = Mul(h, c)
  output y
)")),
            "Gelu");
}

}  // namespace
}  // namespace dnn
