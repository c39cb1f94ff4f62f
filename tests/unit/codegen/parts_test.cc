// Concatenations whose inputs are computed in place.
#include "codegen/parts.h"

#include <gtest/gtest.h>

#include "graph/text.h"

namespace dnn::codegen {
namespace {

std::map<std::string, int64_t> parts(const Graph& graph) {
  std::map<std::string, int64_t> result;
  for (const auto& [id, part] : parts_of_concats(graph)) result[graph.value(id).name] = part.element;
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

}  // namespace
}  // namespace dnn::codegen
