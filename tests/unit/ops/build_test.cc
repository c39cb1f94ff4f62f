// The graph builder: types while it wires, names, what it refuses, patches.
#include "ops/build.h"

#include <gtest/gtest.h>

#include "graph/text.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "unit/ops/infer_check.h"

namespace dnn {
namespace {

std::string refused_body(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return cat(error.exit_code(), " ", error.what());
  }
  return "";
}

TEST(Build, TypesAreKnownAsSoonAsANodeIsWired) {
  NewGraph net;
  const ValueId x = net.input("x", floats({Dim("batch"), 3, 8, 8}));
  net.set_name("conv1");
  const ValueId w = net.store("weights", Tensor(DType::Float32, {4, 3, 3, 3}));
  const ValueId y = net.emit("Conv", {x, w}, {{"strides", std::vector<int64_t>{2, 2}}});
  EXPECT_EQ(net.type(y).text(), "float32[batch,4,3,3]");
  const ValueId pooled = net.emit("GlobalAveragePool", {y});
  EXPECT_EQ(net.type(pooled).text(), "float32[batch,4,1,1]");
  // The batch stays open, as Reshape's 0 says.
  EXPECT_EQ(net.type(net.emit("Reshape", {pooled, net.list({0, -1})})).text(), "float32[batch,4]");
  EXPECT_EQ(net.graph().value(y).name, "conv1/Conv");
  EXPECT_EQ(net.graph().node(net.graph().order()[0]).name, "conv1");
}

TEST(Build, ValuesThatFollowFromTypesAreKnown) {
  NewGraph net;
  const ValueId x = net.input("x", floats({2, 3}));
  const ValueId shape = net.emit("Shape", {x});
  const ValueId twice = net.emit("Mul", {shape, net.list({2})});
  ASSERT_NE(net.known(twice), nullptr);
  EXPECT_EQ(to_int64s(*net.known(twice)), (std::vector<int64_t>{4, 6}));
  EXPECT_EQ(net.known(x), nullptr);
  EXPECT_EQ(net.type(net.emit("ConstantOfShape", {twice})).text(), "float32[4,6]");
}

TEST(Build, NamesStayUniqueAndOutputsGetTheirs) {
  NewGraph net;
  const ValueId x = net.input("x", floats({2}));
  const ValueId a = net.emit("Relu", {x}), b = net.emit("Relu", {a});
  EXPECT_EQ(net.graph().value(a).name, "Relu");
  EXPECT_EQ(net.graph().value(b).name, "Relu_1");
  EXPECT_EQ(net.graph().value(net.input("x", floats({1}))).name, "x_1");
  net.output(b, "y");
  net.output(x, "same");  // an input goes through an Identity
  net.output(b, "again");
  net.emit("Exp", {x});  // nobody reads it
  const Graph graph = net.finish();
  std::vector<std::string> names;
  for (ValueId v : graph.outputs) names.push_back(graph.value(v).name);
  EXPECT_EQ(names, (std::vector<std::string>{"y", "same", "again"}));
  EXPECT_EQ(graph.order().size(), 4U);
  const auto result = interpret(graph, {Tensor::of<float>({2}, {-1, 2}), Tensor(DType::Float32, {1})});
  EXPECT_EQ(to_doubles(result[0]), (std::vector<double>{0, 2}));
  EXPECT_EQ(to_doubles(result[1]), (std::vector<double>{-1, 2}));
}

TEST(Build, GoesOnAtTheEndOfAGraph) {
  NewGraph first;
  first.output(first.emit("Relu", {first.input("x", floats({2}))}), "y");
  NewGraph net(first.finish());
  const ValueId y = net.graph().outputs[0];
  net.graph().outputs.clear();
  EXPECT_EQ(net.type(y).text(), "float32[2]");
  net.output(net.emit("Add", {y, net.number(1, net.dtype(y))}), "z");
  const Graph graph = net.finish();
  EXPECT_EQ(to_doubles(interpret(graph, {Tensor::of<float>({2}, {-1, 2})})[0]), (std::vector<double>{1, 3}));
}

TEST(Build, SeveralOutputsAndLeftOutOnes) {
  NewGraph net;
  const ValueId x = net.input("x", floats({4, 6}));
  const std::vector<ValueId> parts =
      net.emit_many("Split", {x}, {{"axis", int64_t{1}}, {"num_outputs", int64_t{3}}}, 3);
  for (ValueId part : parts) EXPECT_EQ(net.type(part).text(), "float32[4,2]");
  Node top;
  top.op = "TopK";
  top.inputs = {x, net.list({2})};
  const std::vector<ValueId> made = net.add(std::move(top), {"", "indices"});
  EXPECT_EQ(made[0], kNoValue);
  EXPECT_EQ(net.type(made[1]).text(), "int64[4,2]");
}

TEST(Build, RefusesWhatContradictsTheOperator) {
  NewGraph net;
  const ValueId x = net.input("x", floats({2, 3}));
  const ValueId w = net.store("w", Tensor(DType::Float32, {4, 5}));
  net.set_name("dense");
  EXPECT_EQ(refused_body([&] { net.emit("MatMul", {x, w}); }).substr(0, 24), "3 node 'dense' (MatMul):");
  EXPECT_EQ(refused_body([&] { net.emit("LeakyRelu", {x}, {{"alpah", 1.0F}}); }).substr(0, 2), "4 ");
  EXPECT_EQ(refused_body([&] { net.emit("Add", {x}); }).substr(0, 2), "3 ");
  EXPECT_EQ(net.graph().order().size(), 0U);
}

TEST(Build, WiresPatchesAsGraphs) {
  NewGraph net;
  const ValueId x = net.input("x", floats({2}));
  net.output(net.emit("Neg", {x}), "y");
  Graph graph = net.finish();
  const ValueId y = graph.outputs[0];
  Patch patch(graph, "x * -1");
  PatchSink sink(graph, patch);
  GraphBuilder build(sink, "times");
  patch.remove_node(graph.order()[0]);
  const ValueId minus = build.number(-1, build.dtype(x));
  const ValueId product = build.emit("Mul", {x, minus});
  EXPECT_EQ(build.type(product).text(), "float32[2]");
  patch.redirect(y, product);
  ASSERT_TRUE(patch.apply(graph));
  verify(graph);
  EXPECT_EQ(graph.node(graph.order()[0]).op, "Mul");
  EXPECT_EQ(to_doubles(interpret(graph, {Tensor::of<float>({2}, {-1, 2})})[0]), (std::vector<double>{1, -2}));
}

}  // namespace
}  // namespace dnn
