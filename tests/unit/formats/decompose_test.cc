// Operators in simpler ones: each definition computes what the operator does, and none is left where one is known.
#include "formats/decompose.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/text.h"
#include "interp/interpreter.h"
#include "ops/op.h"

namespace dnn {
namespace {

struct Case {
  const char* op;
  const char* attributes;
  const char* inputs = "x";
  double low = -3, high = 3;  // of x
};

// Every operator that a format may lack, with attributes that are not the default ones.
const std::vector<Case> kCases = {
    {"Acosh", "", "x", 1, 4},
    {"ArgMax", "{axis = 1, keepdims = 1}"},
    {"ArgMax", "{axis = -1, keepdims = 0, select_last_index = 1}"},
    {"ArgMin", "{axis = 2, keepdims = 1, select_last_index = 1}"},
    {"Asinh", ""},
    {"Atanh", "", "x", -0.9, 0.9},
    {"Celu", "{alpha = 0.5}"},
    {"Cosh", ""},
    {"Elu", "{alpha = 0.5}"},
    {"GroupNormalization", "{epsilon = 0.01, num_groups = 2}", "x, scale, bias"},
    {"InstanceNormalization", "{epsilon = 0.01}", "x, scale, bias"},
    {"LogSoftmax", "{axis = 1}"},
    {"Max", ""},
    {"Mean", ""},
    {"Mean", "", "x, x, half"},
    {"Min", ""},
    {"Reciprocal", "", "x", 0.5, 3},
    {"ReduceL1", "{keepdims = 0}", "x, axes"},
    {"ReduceL2", "{keepdims = 1}", "x, axes"},
    {"ReduceLogSum", "{keepdims = 0}", "x, axes", 0.5, 3},
    {"ReduceLogSumExp", "{keepdims = 0}", "x, axes"},
    {"ReduceLogSumExp", "{keepdims = 1}"},
    {"ReduceSumSquare", "{keepdims = 1}", "x, axes"},
    {"Selu", "{alpha = 1.5, gamma = 1.25}"},
    {"Selu", ""},
    {"Sinh", ""},
    {"Softsign", ""},
    {"Sum", ""},
    {"Tan", "", "x", -1, 1},
    {"ThresholdedRelu", "{alpha = 0.5}"},
    {"TopK", "{axis = 1, largest = 0}", "x, three"},
};

Graph network_of(const Case& one, const std::string& batch) {
  const std::string outputs = one.op == std::string("TopK") ? "y, z" : "y";
  Graph graph = parse_graph(cat("graph \"g\" {\n  opset 18\n  input x: float32[", batch, R"(,4,5]
  const scale: float32[4] = {1, 2, 0.5, -1}
  const bias: float32[4] = {0, 0.25, -1, 1}
  const axes: int64[2] = {2, -2}
  const half: float32[] = {0.5}
  const three: int64[1] = {3}
  )",
                                outputs, " = ", one.op, "(", one.inputs, ") @node ", one.attributes, "\n  output y\n",
                                outputs == "y" ? "" : "  output z\n", "}"));
  infer_types(graph);
  return graph;
}

TEST(Decompose, DefinitionsComputeWhatTheirOperatorsDo) {
  for (const Case& one : kCases) {
    for (const char* batch : {"2", "N"}) {
      SCOPED_TRACE(cat(one.op, " ", one.attributes, " ", batch));
      const Graph before = network_of(one, batch);
      Graph after = before;
      const auto takes = [&](const Node& node) {
        return node.op != one.op || node.name != "node" || (node.op == "Elu" && has_usual_numbers(node)) ||
               (node.op == "TopK" && node.attribute_int("largest", 1) != 0) || node.inputs.empty();
      };
      decompose(after, takes);
      ASSERT_NO_THROW(verify(after));
      const NodeId first = before.order()[0];
      EXPECT_FALSE(after.alive(first)) << "it is still there";
      for (size_t i = 0; i < before.outputs.size(); ++i)
        EXPECT_EQ(after.value(after.outputs[i]).name, before.value(before.outputs[i]).name);
      Tensor x(DType::Float32, {2, 4, 5});
      for (int64_t i = 0; i < x.size(); ++i)  // all of them different
        x.mutable_data<float>()[i] =
            static_cast<float>(one.low + (one.high - one.low) * static_cast<double>(i * 17 % 40) / 40);
      const std::vector<Tensor> expected = interpret(before, {x}), got = interpret(after, {x});
      for (size_t i = 0; i < expected.size(); ++i) {
        const std::vector<double> a = to_doubles(expected[i]), b = to_doubles(got[i]);
        ASSERT_EQ(expected[i].shape(), got[i].shape());
        ASSERT_EQ(expected[i].dtype(), got[i].dtype());
        for (size_t k = 0; k < a.size(); ++k) ASSERT_NEAR(a[k], b[k], 2e-5) << k;
      }
    }
  }
}

TEST(Decompose, LeavesWhatTheFormatTakesAndWhatItDoesNotKnow) {
  for (const char* op : {"Softsign", "IsNaN"}) {
    Graph graph = network_of({op, ""}, "2");
    const std::string before = to_text(graph);
    decompose(graph, [&](const Node& node) { return node.op == "Softsign"; });
    EXPECT_EQ(to_text(graph), before);
  }
}

// Texts of the operands that are settled whatever the format takes, and what they compute.
TEST(Decompose, SettlesWhatOnnxAloneAllows) {
  const auto settled = [](const std::string& body) {
    Graph graph = parse_graph("graph \"g\" {\n  input x: float32[2,3]\n" + body + "}");
    infer_types(graph);
    const Graph before = graph;
    decompose(graph, [](const Node&) { return true; });
    const std::vector<Tensor> x = {Tensor::of<float>({2, 3}, {0.5F, 1, 1.5F, 2, 2.5F, 3})};
    EXPECT_EQ(to_doubles(interpret(before, x)[0]), to_doubles(interpret(graph, x)[0])) << body;
    return to_text(graph);
  };
  const std::string cube = settled("  const n: int64[] = {3}\n  y = Pow(x, n)\n  output y\n");
  EXPECT_NE(cube.find("const n/real: float32[] = {3}"), std::string::npos) << cube;
  const std::string counted = settled("  i = ArgMax(x) {axis = 1, keepdims = 1}\n  y = Pow(x, i)\n  output y\n");
  EXPECT_NE(counted.find("= Cast(i)"), std::string::npos) << counted;
  const std::string last = settled("  const i: int64[2,2] = {0, 1, 1, -1}\n  y = GatherND(x, i)\n  output y\n");
  EXPECT_NE(last.find("{0, 1, 1, 2}"), std::string::npos) << last;
  const std::string crossed =
      settled("  const l: float32[] = {2}\n  const h: float32[] = {1}\n  y = Clip(x, l, h)\n  output y\n");
  EXPECT_NE(crossed.find("Clip(x, h, h)"), std::string::npos) << crossed;
  Graph masked =
      parse_graph("graph \"g\" {\n  input x: float32[2,3]\n  y, m = Dropout(x) @d\n  output y\n  output m\n}");
  infer_types(masked);
  EXPECT_THROW(decompose(masked, [](const Node&) { return true; }), Error);
}

TEST(Decompose, DefaultNumbersAreUsual) {
  EXPECT_TRUE(has_usual_numbers(network_of({"Selu", ""}, "2").node(0)));
  EXPECT_TRUE(has_usual_numbers(network_of({"Elu", "{alpha = 1.0}"}, "2").node(0)));
  EXPECT_FALSE(has_usual_numbers(network_of({"Selu", "{gamma = 1.25}"}, "2").node(0)));
  EXPECT_FALSE(has_usual_numbers(network_of({"Elu", "{alpha = 0.5}"}, "2").node(0)));
  EXPECT_TRUE(has_usual_numbers(network_of({"LeakyRelu", "{alpha = 0.5}"}, "2").node(0)));
}

}  // namespace
}  // namespace dnn
