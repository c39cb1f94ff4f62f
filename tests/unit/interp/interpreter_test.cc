// The interpreter on hand-checked convolutions, and its float64 form.
#include "interp/interpreter.h"

#include <gtest/gtest.h>

#include "graph/text.h"

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
