// Input shapes are bound by name, their symbols alike everywhere.
#include "graph/bind.h"

#include <gtest/gtest.h>

#include "graph/text.h"

namespace dnn {
namespace {

constexpr char kText[] = R"(graph "g" {
  input x: float32[batch,3,height,height]
  input y: float32[batch,?]
  z: float32[batch,height] = Loop(x, y) {body = graph "b" {
    capture x: float32[batch,3,height,height]
    w: float32[batch] = Relu(x)
    output w
  }}
  output z
}
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

TEST(Bind, ASymbolHasOneSizeEverywhere) {
  Graph graph = parse_graph(kText);
  bind_shape(graph, "x:4x3x?x7");
  EXPECT_EQ(to_text(graph), replaced(replaced(kText, "batch", "4"), "height", "7"));
}

TEST(Bind, UnknownExtentsBelongToOneInput) {
  Graph graph = parse_graph(kText);
  bind_shape(graph, "y:?x5");
  EXPECT_EQ(to_text(graph), replaced(kText, "[batch,?]", "[batch,5]"));
}

TEST(Bind, AnUnknownShapeIsWhatIsSaid) {
  Graph graph = parse_graph("graph {\n input \"a:b\": float32?\n output \"a:b\"\n}");
  bind_shape(graph, "a:b:1x2");
  EXPECT_EQ(type_text(graph.value(graph.inputs[0]).type), "float32[1,2]");
}

TEST(Bind, ContradictionsAreUsageErrors) {
  const std::pair<const char*, const char*> cases[] = {
      {"q:1", "there is no input \"q\"; the model has x, y"},
      {"1x2", "a shape without a name is for models with one input; this one has x, y"},
      {"y:1x2x3", "input y is float32[batch,?], which y:1x2x3 contradicts"},
      {"x:1x4x5x5", "input x is float32[batch,3,height,height], which x:1x4x5x5 contradicts"},
      {"x:1x3x5x6", "input x is float32[batch,3,height,height], which x:1x3x5x6 contradicts"},
      {"x:1,3", "shape \"1,3\": extents look like 1x3x224x224, not \"1,3\""},
  };
  for (const auto& [spec, message] : cases) {
    Graph graph = parse_graph(kText);
    try {
      bind_shape(graph, spec);
      FAIL() << spec;
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), message);
      EXPECT_EQ(error.kind(), ErrorKind::Usage);
    }
  }
}

}  // namespace
}  // namespace dnn
