// Reduction: down to the nodes that make the difference, smaller images, and files that still show it.
#include "localize/reduce.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/file.h"
#include "formats/format.h"
#include "graph/text.h"
#include "interp/interpreter.h"
#include "tensor/npy.h"
#include "unit/localize/questions.h"

namespace dnn {
namespace {

Graph reduce_net() {
  return parse_graph(R"(graph "net" {
  opset 17
  input x: float32[1,2,8,8]
  const w: float32[2,2,1,1] = {1, 2, 3, 4}
  const k: float32[2] = {1, 2}
  a = Conv(x, w) @mix
  b = Relu(a) @positive
  c = Sigmoid(b) @squash
  d = Tanh(b) @bend
  e = Mul(c, d) @gate
  f = GlobalAveragePool(e) @mean
  y = Flatten(f) @flat
  output y
})");
}

Tensor image() {
  std::vector<float> values;
  for (int i = 0; i < 128; ++i) values.push_back(static_cast<float>(i % 7) / 5);
  return Tensor::of<float>({1, 2, 8, 8}, values);
}

Outcome interpreted_outcome(const Graph& graph, const std::vector<Tensor>& inputs) {
  return {interpret(graph, inputs), ""};
}

// Wrong in the node `name`, where the graph also holds `with`.
RunModel wrong_model(const std::string& name, const std::string& by, const std::string& with = "") {
  return [=](const Graph& graph, const std::vector<Tensor>& inputs) {
    Graph copy = graph;
    bool there = with.empty();
    for (NodeId id : copy.order()) there = there || copy.node(id).name == with;
    for (NodeId id : copy.order()) {
      if (there && copy.node(id).name == name) copy.node(id).op = by;
    }
    return interpreted_outcome(copy, inputs);
  };
}

std::vector<std::string> names(const Graph& graph) {
  std::vector<std::string> list;
  for (NodeId id : graph.order()) list.push_back(graph.node(id).name);
  return list;
}

TEST(Reduce, ToTheOneNodeAndOnePixelWithItsActivationsAsInput) {
  const Reduced reduced = reduce_model(reduce_net(), {image()}, interpreted_outcome, wrong_model("squash", "Relu"), {});
  EXPECT_EQ(names(reduced.graph), std::vector<std::string>{"squash"});
  EXPECT_EQ(reduced.n_nodes_before, 7);
  ASSERT_EQ(reduced.inputs.size(), 1u);
  EXPECT_EQ(reduced.graph.value(reduced.graph.inputs[0]).name, "b");
  EXPECT_EQ(reduced.inputs[0].shape(), (Shape{1, 2, 1, 1}));
  EXPECT_GT(reduced.movement.excess, 1);
  EXPECT_FLOAT_EQ(static_cast<float>(std::abs(reduced.got - reduced.expected)),
                  static_cast<float>(reduced.movement.max_abs));
}

TEST(Reduce, KeepsNodesThatAreWrongTogetherOnly) {
  const Reduced reduced =
      reduce_model(reduce_net(), {image()}, interpreted_outcome, wrong_model("gate", "Add", "positive"), {});
  EXPECT_EQ(names(reduced.graph), (std::vector<std::string>{"positive", "gate"}));
}

// Out of time, what is left still differs.
TEST(Reduce, EndsWithTheTime) {
  size_t least = 8;
  for (const int n : {0, 1, 2, 4, 8, 16, 100}) {
    ReduceOptions options;
    options.deadline = after_questions(n);
    const Reduced reduced =
        reduce_model(reduce_net(), {image()}, interpreted_outcome, wrong_model("squash", "Relu"), options);
    EXPECT_GT(reduced.movement.excess, 1);
    EXPECT_LE(reduced.graph.order().size(), least);
    least = reduced.graph.order().size();
    if (n == 0) {
      EXPECT_EQ(least, 7u);
    }
    EXPECT_TRUE(least == 1 || options.deadline.ran_out() == true);
  }
  EXPECT_EQ(least, 1u);
}

TEST(Reduce, ModelsThatDoNotDifferAreNegative) {
  EXPECT_THROW(reduce_model(reduce_net(), {image()}, interpreted_outcome, interpreted_outcome, {}), Error);
}

TEST(Reduce, FilesReadBackAndDiffer) {
  const RunModel target = wrong_model("gate", "Add");
  const Reduced reduced = reduce_model(reduce_net(), {image()}, interpreted_outcome, target, {});
  TemporaryFolder folder(::testing::TempDir());
  ReproFacts facts;
  facts.model = "net.onnx";
  facts.source = "right";
  facts.target = "wrong";
  facts.command = "dnn-bisect reduced.onnx inputs.npz";
  const std::string report = write_reduced(reduced, facts, folder.path() + "/out");
  const Graph again = read_model(open_model(folder.path() + "/out/reduced.onnx", {}));
  EXPECT_EQ(names(again), std::vector<std::string>{"gate"});
  const std::string npz = read_file(folder.path() + "/out/inputs.npz");
  std::vector<Tensor> inputs;
  const auto arrays = parse_npz(as_bytes(npz));
  for (ValueId id : again.inputs) {
    for (const auto& [name, tensor] : arrays) {
      if (name == again.value(id).name) inputs.push_back(tensor);
    }
  }
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_GT(movement(interpreted_outcome(again, inputs), target(again, inputs), {}).excess, 1);
  for (const char* wanted :
       {"# wrong differs from right on 1 node", "expected (right)", "7 nodes", "dnn-bisect", "@gate", "## Versions"})
    EXPECT_NE(report.find(wanted), std::string::npos) << wanted;
}

}  // namespace
}  // namespace dnn
