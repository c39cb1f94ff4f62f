// The interpreter on hand-checked convolutions, and its float64 form.
#include "interp/interpreter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "graph/text.h"
#include "ops/op.h"

namespace dnn {
namespace {

Graph conv_relu() {
  Graph graph;
  const ValueId x = graph.add_value("x", Type(DType::Float32, {1, 1, 3, 3}));
  const ValueId w = graph.add_constant("w", Tensor::of<float>({1, 1, 2, 2}, {1, 0, 0, -1}));
  const ValueId b = graph.add_constant("b", Tensor::of<float>({1}, {0.5f}));
  const ValueId c = graph.add_value("c"), y = graph.add_value("y");
  graph.inputs = {x};
  graph.outputs = {y};
  Node conv;
  conv.name = "conv";
  conv.op = "Conv";
  conv.inputs = {x, w, b};
  conv.outputs = {c};
  graph.add_node(conv);
  Node relu;
  relu.op = "Relu";
  relu.inputs = {c};
  relu.outputs = {y};
  graph.add_node(relu);
  return graph;
}

TEST(Interpreter, ConvAndRelu) {
  const Graph graph = conv_relu();
  verify(graph);
  const Tensor x = Tensor::of<float>({1, 1, 3, 3}, {9, 2, 3, 4, 5, 6, 7, 8, 1});
  const Tensor y = interpret(graph, {x})[0];
  EXPECT_EQ(y.shape(), (Shape{1, 1, 2, 2}));
  EXPECT_EQ(to_doubles(y), (std::vector<double>{4.5, 0, 0, 4.5}));
}

TEST(Interpreter, Float64ComputesInFloat64) {
  const Graph graph = widen_to_float64(conv_relu());
  const Tensor x = convert(Tensor::of<double>({1, 1, 3, 3}, {1e-12, 0, 0, 0, 0, 0, 0, 0, 0}), DType::Float64);
  EXPECT_EQ(interpret(graph, {x})[0].data<double>()[0], 1e-12 + 0.5);
}

// Rounding to 16 bits is gone in float64: that of each operation, of Casts, and of what a subgraph does.
TEST(Interpreter, Float64WidensHalves) {
  for (const char* type : {"float16", "bfloat16"}) {
    SCOPED_TRACE(type);
    const std::string t = type, code = t == "float16" ? "10" : "16";
    Graph graph = parse_graph("graph \"g\" {\n input x: " + t + "[2]\n input c: bool[]\n const k: " + t +
                              "[2] = {3, 7}\n y = Div(x, k)\n z = Cast(y) {to = " + code +
                              "}\n v = If(c) {then_branch = graph \"t\" {\n capture z\n a = Mul(z, z)\n output a\n}, "
                              "else_branch = graph \"e\" {\n capture z\n b = Neg(z)\n output b\n}}\n output v\n}\n");
    infer_types(graph);
    Graph wide = widen_to_float64(graph);
    ASSERT_NO_THROW(infer_types(wide));
    const Tensor y = interpret(wide, {Tensor::of<double>({2}, {1, 1}), Tensor::scalar(true)})[0];
    ASSERT_EQ(y.dtype(), DType::Float64);
    EXPECT_EQ(y.data<double>()[0], (1.0 / 3) * (1.0 / 3));
    EXPECT_EQ(y.data<double>()[1], (1.0 / 7) * (1.0 / 7));
  }
}

// An operator of one type stays in it, between Casts; what it makes is what it made.
TEST(Interpreter, Float64LeavesOperatorsOfOneType) {
  const std::string head = "graph \"g\" {\n input x: float32[1,2,4]\n ";
  for (const std::string& text :
       {std::string("y = BitCast(x) {to = 6}"), std::string("b = BitCast(x) {to = 6}\n y = BitCast(b) {to = 1}"),
        std::string("q, s, z = DynamicQuantizeLinear(x)\n y = DequantizeLinear(q, s, z)"),
        std::string("const s: int64[3] = {1, 1, 2}\n const m: int64[1] = {2}\n r = ReduceMax(x) \n o = Expand(r, s)\n"
                    " y = NonMaxSuppression(x, o, m)"),
        std::string("const s: float32[4] = {1, 2, 3, 4}\n y, m, v = LayerNormalization(x, s)"),
        std::string("const n: int64[] = {8}\n y = HannWindow(n)"), std::string("y = RandomUniformLike(x) {seed = 3.0}"),
        std::string("y = RandomNormal() {shape = [3], seed = 2.0}"),
        std::string("const n: int64[1] = {3}\n y = ConstantOfShape(n)")}) {
    SCOPED_TRACE(text);
    Graph graph = parse_graph(head + text + "\n output y\n}\n");
    infer_types(graph);
    Graph wide = widen_to_float64(graph);
    ASSERT_NO_THROW(infer_types(wide));
    const Tensor x = Tensor::of<float>({1, 2, 4}, {0.1F, 0.2F, 0.6F, 0.7F, 0.15F, 0.2F, 0.6F, 1.7F});
    const Tensor before = interpret(graph, {x})[0], after = interpret(wide, {convert(x, DType::Float64)})[0];
    EXPECT_EQ(after.dtype(), is_float(before.dtype()) ? DType::Float64 : before.dtype());
    const std::vector<double> a = to_doubles(before), b = to_doubles(after);
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6 * std::max(1.0, std::abs(a[i])));
  }
}

TEST(Interpreter, ObserverSeesEveryValueOnce) {
  std::vector<std::string> seen;
  interpret(conv_relu(), {Tensor(DType::Float32, {1, 1, 3, 3})},
            [&](const Graph& graph, ValueId id, const Tensor&) { seen.push_back(graph.value(id).name); });
  EXPECT_EQ(seen, (std::vector<std::string>{"x", "c", "y"}));
}

TEST(Interpreter, NamesTheOperatorItDoesNotHave) {
  Graph graph = conv_relu();
  graph.node(1).op = "Frobnicate";
  try {
    interpret(graph, {Tensor(DType::Float32, {1, 1, 3, 3})});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Unsupported);
    EXPECT_NE(std::string(e.what()).find("Frobnicate"), std::string::npos);
  }
}

TEST(Interpreter, RefusesAnInputOfAnotherShape) {
  try {
    interpret(conv_relu(), {Tensor(DType::Float32, {1, 1, 4, 3})});
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "input 'x' wants float32[1,1,3,3], is given float32[1,1,4,3]");
  }
}

// A file can ask for 2^62 iterations; loops within loops count together.
TEST(Interpreter, LoopsThatDoNotEndAreRefused) {
  const auto loop = [](const std::string& trips, const std::string& within) {
    return "const n: int64[] = {" + trips + "}\n const go: bool[] = {true}\n r: float32[1] = Loop(n, go, " + within +
           R"() {body = graph "b" {
      input i: int64[]
      input go_on: bool[]
      input state: float32[1]
    )";
  };
  const std::string end = R"(
      same: bool[] = Identity(go_on)
      next: float32[1] = Identity(state)
      output same
      output next
    }})";
  const std::string begin = "graph \"g\" {\n opset 28\n input x: float32[1]\n ", out = "\n output r\n}\n";
  const auto refused = [](const std::string& text) {
    try {
      interpret(parse_graph(text), {Tensor::of<float>({1}, {1})});
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Unsupported) << e.what();
      EXPECT_NE(std::string(e.what()).find("times, the limit"), std::string::npos) << e.what();
    }
  };
  refused(begin + loop("4611686018427387904", "x") + end + out);
  EXPECT_EQ(interpret(parse_graph(begin + loop("1000", "x") + end + out), {Tensor::of<float>({1}, {1})})[0].size(), 1);
}

}  // namespace
}  // namespace dnn
