// Weights that go onto a graph by name: all of them, of the same shape, or none.
#include "convert/weights.h"

#include <gtest/gtest.h>

#include "graph/text.h"

namespace dnn {
namespace {

Graph net() {
  return parse_graph(R"(graph "g" {
  opset 17
  input x: float32[1,2,4,4]
  const conv.weight: float32[3,2,1,1] = random(1)
  const conv.bias: float32[3] = random(2)
  const scale: float32[1,3,1,1] = random(3)
  c = Conv(x, conv.weight, conv.bias)
  y = Mul(c, scale)
  output y
})");
}

std::string put_failure(const std::string& weights) {
  Graph graph = net();
  try {
    put_weights(graph, parse_graph("graph \"w\" {\n" + weights + "\n}\n"));
  } catch (const Error& error) {
    return error.what();
  }
  return "put";
}

TEST(Weights, ReplaceThoseOfTheSameName) {
  Graph graph = net();
  const Graph weights = parse_graph(R"(graph "w" {
  const conv.weight: float32[3,2,1,1] = random(7)
  const scale: float32[3] = {1, 2, 3}
  const bn.num_batches_tracked: int64[] = {5}
})");
  EXPECT_EQ(put_weights(graph, weights), std::vector<std::string>{"conv.bias"}) << "what stays is named";
  EXPECT_TRUE(graph.constant(graph.find_value("conv.weight"))->identical(*weights.constant(0)));
  const Tensor& scale = *graph.constant(graph.find_value("scale"));
  EXPECT_EQ(scale.shape(), (Shape{1, 3, 1, 1})) << "the graph's extents stay";
  EXPECT_EQ(to_doubles(scale), (std::vector<double>{1, 2, 3}));
}

TEST(Weights, AreRefusedWhereTheyDoNotFit) {
  EXPECT_EQ(put_failure("  const fc.weight: float32[2] = {1, 2}"),
            "1 weights have no place in the graph: \"fc.weight\"");
  EXPECT_EQ(put_failure("  const conv.bias: float32[4] = random(1)"),
            "weight \"conv.bias\" is float32[4], in the graph float32[3]");
  EXPECT_EQ(put_failure("  const conv.bias: float16[3] = {1, 2, 3}"),
            "weight \"conv.bias\" is float16[3], in the graph float32[3]");
  EXPECT_NE(put_failure("  input a: float32[1]\n  b = Relu(a)\n  output b").find("a graph of their own"),
            std::string::npos);
}

}  // namespace
}  // namespace dnn
