// Values that lie within others: inputs of concatenations, outputs of Split and Reshape.
#include "codegen/parts.h"

#include <gtest/gtest.h>

#include "graph/text.h"

namespace dnn::codegen {
namespace {

std::map<std::string, int64_t> parts(const Graph& graph) {
  std::map<std::string, int64_t> result;
  for (const auto& [id, part] : find_parts(graph).of) result[graph.value(id).name] = part.element;
  return result;
}

Graph concat(const std::string& rest) {
  return parse_graph(R"(graph "g" {
  opset 28
  input x: float32[1,32,4,4]
  input z: float32[1,16,4,4]
  a: float32[1,32,4,4] = Relu(x)
  b: float32[1,16,4,4] = Sigmoid(z)
)" + rest + "\n}");
}

using Found = std::map<std::string, int64_t>;

TEST(Parts, LieOneAfterAnother) {
  const std::string joined =
      "  c: float32[1,48,4,4] = Concat(a, b) {axis = 1}\n  y: float32[1,48,4,4] = Relu(c)\n  output y";
  EXPECT_EQ(parts(concat(joined)), (Found{{"a", 0}, {"b", 512}}));
  const std::string blocked = "\n  layout a \"1/16\"\n  layout b \"1/16\"\n  layout c \"1/16\"";
  EXPECT_EQ(parts(concat(joined + blocked)), (Found{{"a", 0}, {"b", 512}}));
  // A border lies around each block of channels.
  const std::string bordered = "\n  layout a \"1/16,h2+1+1\"\n  layout b \"1/16,h2+1+1\"\n  layout c \"1/16,h2+1+1\"";
  EXPECT_EQ(parts(concat(joined + bordered)), (Found{{"a", 0}, {"b", 768}}));
}

// The second part begins 2048 bytes into the whole.
TEST(Parts, BeginWhereTheyAreAskedTo) {
  const Graph graph =
      concat("  c: float32[1,48,4,4] = Concat(a, b) {axis = 1}\n  y: float32[1,48,4,4] = Relu(c)\n  output y");
  EXPECT_EQ(find_parts(graph, 2048).of.size(), 2U);
  EXPECT_EQ(find_parts(graph, 2048).idle.size(), 1U);
  EXPECT_EQ(find_parts(graph, 4096).of.size(), 0U);
  EXPECT_EQ(find_parts(graph, 4096).idle.size(), 0U);
}

TEST(Parts, StayWhereTheyCannotBe) {
  const auto none = [](const std::string& rest) { EXPECT_EQ(parts(concat(rest)), Found()) << rest; };
  const std::string y = "\n  y: float32[1,48,4,4] = Relu(c)\n  output y";
  none("  c: float32[1,48,4,4] = Concat(a, z) {axis = 1}" + y);          // an input of the graph
  none("  c: float32[1,48,4,4] = Concat(a, b) {axis = 1}\n  output c");  // the output is the caller's
  none("  c: float32[1,48,4,4] = Concat(a, b) {axis = 1}" + y + "\n  output b");
  none("  c: float32[1,48,4,4] = Concat(a, b) {axis = 1}" + y + "\n  layout c \"1/16\"");  // another layout
  none("  c: float32[1,64,4,4] = Concat(a, a) {axis = 1}\n  y: float32[1,64,4,4] = Relu(c)\n  output y");
  none("  c: float32[1,32,8,4] = Concat(a, a) {axis = 2}\n  y: float32[1,32,8,4] = Relu(c)\n  output y");
}

TEST(Parts, AreOfOneWholeOnly) {
  // The second Concat copies: b is a part already, and c, which has parts, is none.
  const Graph graph = concat(R"(  c: float32[1,48,4,4] = Concat(a, b) {axis = 1}
  d: float32[1,64,4,4] = Concat(c, b) {axis = 1}
  y: float32[1,64,4,4] = Relu(d)
  output y)");
  EXPECT_EQ(parts(graph), (Found{{"a", 0}, {"b", 512}}));
}

Graph views(const std::string& rest) {
  return parse_graph(R"(graph "g" {
  opset 28
  input x: float32[3,32,4]
  const s: int64[2] = {96, 4}
  const n: int64[3] = {1, 1, 1}
  a: float32[3,32,4] = Relu(x)
)" + rest + "\n}");
}

TEST(Parts, ViewsLieWhereTheirInputDoes) {
  const Graph graph = views(R"(  p: float32[1,32,4], q: float32[1,32,4], r: float32[1,32,4] = Split(a, n) {axis = 0}
  b: float32[96,4] = Reshape(a, s)
  c: float32[96,4] = Relu(b)
  d: float32[1,32,4] = Add(p, q)
  y: float32[1,32,4] = Add(d, r)
  output y
  output c)");
  EXPECT_EQ(parts(graph), (Found{{"p", 0}, {"q", 128}, {"r", 256}, {"b", 0}}));
  EXPECT_EQ(find_parts(graph).idle.size(), 2U);
}

TEST(Parts, ViewsOfPartsLieInTheWhole) {
  const Graph graph = views(R"(  e: float32[3,32,4] = Sigmoid(x)
  c: float32[6,32,4] = Concat(e, a) {axis = 0}
  p: float32[1,32,4], q: float32[1,32,4], r: float32[1,32,4] = Split(a, n) {axis = 0}
  t: float32[96,4] = Reshape(c, s)
  d: float32[1,32,4] = Add(p, q)
  y: float32[1,32,4] = Add(d, r)
  z: float32[96,4] = Relu(t)
  output y
  output z)");
  EXPECT_EQ(parts(graph), (Found{{"e", 0}, {"a", 384}, {"p", 384}, {"q", 512}, {"r", 640}, {"t", 0}}));
}

TEST(Parts, ViewsStayWhereTheyCannotBe) {
  const auto none = [](const std::string& rest) { EXPECT_EQ(parts(views(rest)), Found()) << rest; };
  const std::string y = "\n  y: float32[96,4] = Relu(b)\n  output y";
  none("  b: float32[96,4] = Reshape(x, s)" + y);                            // of an input of the graph
  none("  b: float32[96,4] = Reshape(a, s)\n  output b");                    // the output is the caller's
  none("  b: float32[96,4] = Reshape(a, s)" + y + "\n  output a");           // so is what it looks at
  none("  b: float32[96,4] = Reshape(a, s)" + y + "\n  layout a \"1/16\"");  // in another order
  none(R"(  p: float32[3,16,4], q: float32[3,16,4] = Split(a) {axis = 1, num_outputs = 2}
  y: float32[3,16,4] = Add(p, q)
  output y)");
}

}  // namespace
}  // namespace dnn::codegen
