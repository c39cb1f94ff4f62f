// The graph itself: what refers to its values and nodes goes on doing so while it grows.
#include "graph/graph.h"

#include <gtest/gtest.h>

#include <utility>

#include "graph/patch.h"
#include "layout/flexible.h"
#include "ops/channels_last.h"

namespace dnn {
namespace {

// A name that was passed by reference to what adds values was read from memory that was gone.
TEST(Graph, ReferencesStayValidWhileItGrows) {
  Graph graph;
  const ValueId first = graph.add_value("first");
  const NodeId node = graph.add_node({"node", "Relu", "", {first}, {first}, {}, {}, ""});
  const Value* value_at = &graph.value(first);
  const Node* node_at = &graph.node(node);
  for (int i = 0; i < 1000; ++i) {
    graph.add_value(cat("v", i));
    graph.add_node({cat("n", i), "Relu", "", {}, {}, {}, {}, ""});
  }
  EXPECT_EQ(&graph.value(first), value_at);
  EXPECT_EQ(&graph.node(node), node_at);
}

TEST(Graph, AValueThatIsLeftOutIsEmpty) {
  Graph graph;
  graph.add_value("first", Type(DType::Float32, {Dim(1)}));
  EXPECT_EQ(std::as_const(graph).value(kNoValue).type, Type());
  graph.value(kNoValue).name = "lost";
  EXPECT_EQ(graph.value(kNoValue).name, "");
  EXPECT_EQ(graph.value(0).name, "first");
}

// A message names operators as their model does, also while their axes are in another order.
TEST(Node, LabelsHideDomainsOfAxisOrders) {
  Node node;
  node.op = "Conv";
  for (const std::string_view domain : {std::string_view(), kChannelsLastDomain, kFlexibleDomain}) {
    node.domain = domain;
    EXPECT_EQ(node.label(), "unnamed node (Conv)") << domain;
  }
  node.name = "n";
  node.domain = "com.microsoft";
  EXPECT_EQ(node.label(), "node 'n' (com.microsoft.Conv)");
}

TEST(Patch, ReferencesToItsOwnStayValidWhileItGrows) {
  const Graph graph;
  Patch patch(graph, "test");
  const ValueId first = patch.add_value("first", {});
  const Value* at = &patch.own_value(first);
  for (int i = 0; i < 1000; ++i) patch.add_value(cat("v", i), {});
  EXPECT_EQ(&patch.own_value(first), at);
}

}  // namespace
}  // namespace dnn
