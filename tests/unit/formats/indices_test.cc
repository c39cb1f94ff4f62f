// Indices from the back: added where they may be negative, and the same elements are picked.
#include "formats/indices.h"

#include <gtest/gtest.h>

#include "graph/text.h"
#include "interp/interpreter.h"
#include "ops/op.h"

namespace dnn {
namespace {

Graph picking(const std::string& text) {
  Graph graph = parse_graph("graph \"g\" {\n  opset 23\n  " + text + "\n  output y\n}");
  infer_types(graph);
  return graph;
}

int ops_in(const Graph& graph, const std::string& op) {
  int n = 0;
  for (NodeId id : graph.order()) n += graph.node(id).op == op ? 1 : 0;
  return n;
}

TEST(Indices, FromTheBackPickTheSameElements) {
  const char* const cases[] = {
      "input x: float32[4,5]\n  input i: int64[3]\n  y = Gather(x, i)",
      "input x: float32[4,5]\n  input i: int32[3]\n  y = Gather(x, i) {axis = -1}",
      "input x: float32[4,5]\n  input i: int64[3,2]\n  y = GatherND(x, i)",
      "input x: float32[4,4,5]\n  input i: int64[4,3,2]\n  y = GatherND(x, i) {batch_dims = 1}",
      "input x: float32[n,5]\n  input i: int64[3]\n  y = Gather(x, i)",
      "input x: float32[n,5]\n  input i: int64[3,2]\n  y = GatherND(x, i)",
  };
  for (const char* text : cases) {
    SCOPED_TRACE(text);
    const Graph before = picking(text);
    Graph after = before;
    count_indices_from_front(after);
    ASSERT_NO_THROW(verify(after));
    EXPECT_EQ(ops_in(after, "Where"), 1);
    const Type& picked = before.value(before.inputs[1]).type;
    std::vector<int64_t> indices(element_count(picked.fixed_shape()));
    for (int64_t i = 0; i < std::ssize(indices); ++i) indices[i] = i % 8 - 4;
    Shape shape;
    for (const Dim& dim : *before.value(before.inputs[0]).type.shape) shape.push_back(dim.fixed() ? dim.size : 4);
    Tensor x(DType::Float32, shape);
    for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = static_cast<float>(i);
    const std::vector<Tensor> inputs = {x, convert(Tensor::of<int64_t>(picked.fixed_shape(), indices), picked.dtype)};
    const Tensor expected = interpret(before, inputs)[0], got = interpret(after, inputs)[0];
    EXPECT_EQ(expected.values<float>().size(), got.values<float>().size());
    EXPECT_TRUE(
        std::equal(expected.values<float>().begin(), expected.values<float>().end(), got.values<float>().begin()));
  }
}

TEST(Indices, TuplesOfAScatterAreCounted) {
  const Graph before =
      picking("input x: float32[4,5]\n  input i: int64[3,2]\n  input u: float32[3]\n  y = ScatterND(x, i, u)");
  Graph after = before;
  count_indices_from_front(after);
  EXPECT_EQ(ops_in(after, "Where"), 1);
  const std::vector<Tensor> inputs = {Tensor(DType::Float32, {4, 5}),
                                      Tensor::of<int64_t>({3, 2}, {-1, 0, 1, -5, -4, -1}),
                                      Tensor::of<float>({3}, {1, 2, 3})};
  EXPECT_EQ(to_doubles(interpret(after, inputs)[0]), to_doubles(interpret(before, inputs)[0]));
  EXPECT_EQ(to_doubles(interpret(after, inputs)[0])[15], 1);
}

TEST(Indices, KnownNotToBeNegativeStay) {
  const char* const cases[] = {
      "input x: float32[4,5]\n  const i: int64[2] = {-1, 0}\n  y = Gather(x, i)",  // the writers' own
      "input x: float32[4,5]\n  input z: float32[2,4]\n  i = ArgMax(z) {axis = 1, keepdims = 0}\n  y = Gather(x, i)",
      "input x: float32[4,5]\n  input z: uint8[2]\n  i = Cast(z) {to = 7}\n  y = Gather(x, i)",
      "input x: float32[4,5]\n  input z: int64[2]\n  const n: int64[] = {4}\n  i = Mod(z, n)\n  y = Gather(x, i)",
      R"(input x: float32[4,5]
  z = Shape(x)
  const one: int64[] = {1}
  d = Div(z, z)
  s = Mul(d, one)
  i = Concat(s, d) {axis = 0}
  y = Gather(x, i))",
      "input x: float32[4,5]\n  input z: int64[2]\n  const n: int64[] = {0}\n  i = Max(z, n)\n  y = Gather(x, i)",
  };
  for (const char* text : cases) {
    Graph graph = picking(text);
    count_indices_from_front(graph);
    EXPECT_EQ(ops_in(graph, "Where"), 0) << text;
  }
  Graph twice = picking("input x: float32[4,5]\n  input i: int64[3]\n  y = Gather(x, i)");
  for (int i = 0; i < 2; ++i) count_indices_from_front(twice);
  EXPECT_EQ(ops_in(twice, "Where"), 1) << "a file that is read and written again grows";
}

TEST(Indices, ThatMayBeNegativeAreNotTakenForOthers) {
  const char* const cases[] = {
      "input x: float32[4,5]\n  input z: float32[2,4]\n  a = ArgMax(z) {axis = 1, keepdims = 0}\n"
      "  const n: int64[] = {1}\n  i = Sub(a, n)\n  y = Gather(x, i)",
      "input x: float32[4,5]\n  input z: uint8[2]\n  b = Cast(z) {to = 3}\n  i = Cast(b) {to = 7}\n  y = Gather(x, i)",
      "input x: float32[4,5]\n  input z: int64[2]\n  const n: int64[] = {4}\n  i = Mod(z, n) {fmod = 1}\n"
      "  y = Gather(x, i)",
      "input x: float32[4,5]\n  input z: int64[2]\n  input c: bool[2]\n  const n: int64[] = {0}\n"
      "  i = Where(c, n, z)\n  y = Gather(x, i)",
      "input x: float32[4,5]\n  input z: int64[2]\n  const n: int64[] = {4}\n  i = Min(z, n)\n  y = Gather(x, i)",
  };
  for (const char* text : cases) {
    Graph graph = picking(text);
    const int before = ops_in(graph, "Where");
    count_indices_from_front(graph);
    EXPECT_EQ(ops_in(graph, "Where"), before + 1) << text;
  }
}

}  // namespace
}  // namespace dnn
