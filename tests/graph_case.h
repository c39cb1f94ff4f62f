// Graphs in text as cases: what they consist of, inputs for them, and whether another graph computes the same.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/text.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "tensor/compare.h"

namespace dnn {

// The graph of that body, its types inferred. What stands in front of the inputs is the head's.
inline Graph typed(const std::string& body, const std::string& head = "  opset 21\n") {
  Graph graph = parse_graph("graph \"g\" {\n" + head + body + "\n}\n");
  infer_types(graph);
  return graph;
}

// Operators in order, fused ones by their members.
inline std::string ops_of(const Graph& graph) {
  std::vector<std::string> names;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const auto* body =
        node.op == "Fused" ? std::get_if<std::shared_ptr<const Graph>>(&node.attributes.at("body")) : nullptr;
    names.push_back(body == nullptr ? node.op : "{" + ops_of(**body) + "}");
  }
  return join(names, " ");
}

// A value for every input, between -1.2 and 1.6; open extents are 2.
inline std::vector<Tensor> ramps(const Graph& graph) {
  std::vector<Tensor> inputs;
  for (ValueId id : graph.inputs) {
    const Type& type = graph.value(id).type;
    Shape shape;
    for (const Dim& dim : *type.shape) shape.push_back(dim.fixed() ? dim.size : 2);
    std::vector<double> values(static_cast<size_t>(element_count(shape)));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>((i * 29 + 5) % 31) / 11 - 1.2;
    inputs.push_back(convert(Tensor::of<double>(shape, values), type.dtype));
  }
  return inputs;
}

// `after`, of the same inputs, is sound and its outputs are `before`'s: to the bit, or within `apart` of their largest.
inline void expect_same(const Graph& before, const Graph& after, double apart = 0) {
  verify(after);
  const std::vector<Tensor> inputs = ramps(before), a = interpret(before, inputs), b = interpret(after, inputs);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(before.value(before.outputs[i]).name, after.value(after.outputs[i]).name);
    if (apart == 0) {
      EXPECT_TRUE(a[i].identical(b[i])) << to_text(after);
    } else {
      EXPECT_LE(compare(a[i], b[i]).relative(), apart) << to_text(after);
    }
  }
}

}  // namespace dnn
