// If, Loop and Scan on small bodies: captures, early ends, no iterations, directions and axes, types.
#include <gtest/gtest.h>

#include "interp/interpreter.h"
#include "ops/op.h"
#include "unit/ops/infer_check.h"

namespace dnn {
namespace {

using V = std::vector<double>;

// A graph under construction; values by name.
struct Builder {
  Graph graph;

  ValueId value(const std::string& name, Type type = {}) {
    const ValueId found = graph.find_value(name);
    return found == kNoValue ? graph.add_value(name, std::move(type)) : found;
  }
  void input(const std::string& name, Type type) { graph.inputs.push_back(value(name, std::move(type))); }
  void capture(const std::string& name) { graph.captures.push_back(value(name)); }
  void output(const std::string& name) { graph.outputs.push_back(value(name)); }
  void constant(const std::string& name, Tensor tensor) { graph.add_constant(name, std::move(tensor)); }
  void node(std::string op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
            Attributes attributes = {}) {
    Node node;
    node.op = std::move(op);
    node.attributes = std::move(attributes);
    for (const std::string& name : inputs) node.inputs.push_back(name.empty() ? kNoValue : value(name));
    for (const std::string& name : outputs) node.outputs.push_back(value(name));
    graph.add_node(std::move(node));
  }
  Attribute body() const { return std::make_shared<const Graph>(graph); }
};

std::string type_of(Graph graph, const std::string& name) {
  infer_types(graph);
  return graph.value(graph.find_value(name)).type.text();
}

TEST(If, RunsOneBranchOnWhatItCaptures) {
  Builder yes, no, main;
  yes.capture("x");
  yes.node("Add", {"x", "x"}, {"double"});
  yes.output("double");
  no.capture("x");
  no.node("Sub", {"x", "x"}, {"zero"});
  no.output("zero");
  main.input("c", Type(DType::Bool, {}));
  main.input("x", floats({2}));
  main.node("If", {"c"}, {"y"}, {{"then_branch", yes.body()}, {"else_branch", no.body()}});
  main.output("y");
  const Tensor x = Tensor::of<float>({2}, {1, 2});
  EXPECT_EQ(to_doubles(interpret(main.graph, {Tensor::scalar<bool>(true), x})[0]), (V{2, 4}));
  EXPECT_EQ(to_doubles(interpret(main.graph, {Tensor::scalar<bool>(false), x})[0]), (V{0, 0}));
}

// A branch whose one output is a constant of the given shape.
Attribute constant_branch(const Shape& shape) {
  Builder branch;
  branch.constant("k", Tensor(DType::Float32, shape));
  branch.node("Neg", {"k"}, {"out"});
  branch.output("out");
  return branch.body();
}

TEST(If, TypesAreCommonToBothBranchesUnlessTheConditionIsKnown) {
  const Attributes branches = {{"then_branch", constant_branch({2, 3})}, {"else_branch", constant_branch({2, 4})}};
  Builder open, known;
  open.input("c", Type(DType::Bool, {}));
  open.node("If", {"c"}, {"y"}, branches);
  open.output("y");
  EXPECT_EQ(type_of(open.graph, "y"), "float32[2,?]");
  known.constant("c", Tensor::scalar<bool>(false));
  known.node("If", {"c"}, {"y"}, branches);
  known.output("y");
  EXPECT_EQ(type_of(known.graph, "y"), "float32[2,4]");
}

// Doubles its state, stacks it, and goes on while it is below 10.
Graph doubling(bool with_trips, bool with_condition) {
  Builder body, main;
  body.input("i", Type(DType::Int64, {}));
  body.input("go", Type(DType::Bool, {}));
  body.input("s", floats({}));
  body.constant("ten", Tensor::scalar<float>(10));
  body.node("Add", {"s", "s"}, {"next"});
  body.node("Less", {"next", "ten"}, {"again"});
  body.node("Neg", {"next"}, {"shown"});
  for (const char* name : {"again", "next", "shown"}) body.output(name);
  main.input("m", Type(DType::Int64, {}));
  main.input("c", Type(DType::Bool, {}));
  main.input("x", floats({}));
  main.node("Loop", {with_trips ? "m" : "", with_condition ? "c" : "", "x"}, {"last", "all"}, {{"body", body.body()}});
  main.output("last");
  main.output("all");
  return main.graph;
}

V looped(const Graph& graph, int64_t trips, bool condition, size_t output) {
  return to_doubles(interpret(
      graph, {Tensor::scalar<int64_t>(trips), Tensor::scalar<bool>(condition), Tensor::scalar<float>(1)})[output]);
}

TEST(Loop, EndsByTripCountOrCondition) {
  EXPECT_EQ(looped(doubling(true, true), 2, true, 1), (V{-2, -4}));
  EXPECT_EQ(looped(doubling(true, true), 100, true, 1), (V{-2, -4, -8, -16}));
  EXPECT_EQ(looped(doubling(false, true), 0, true, 0), V{16});
  EXPECT_EQ(looped(doubling(true, false), 6, true, 0), V{64});  // the body's condition is not heeded
}

TEST(Loop, WithoutIterationsKeepsStatesAndStacksNothing) {
  for (const auto& [trips, condition] : {std::pair<int64_t, bool>{0, true}, {5, false}, {-1, true}}) {
    const Graph graph = doubling(true, true);
    EXPECT_EQ(looped(graph, trips, condition, 0), V{1});
    const Tensor all = interpret(
        graph, {Tensor::scalar<int64_t>(trips), Tensor::scalar<bool>(condition), Tensor::scalar<float>(1)})[1];
    EXPECT_EQ(Type(all).text(), "float32[0]");
  }
}

TEST(Loop, TypesForgetWhatChangesBetweenIterations) {
  Builder body, main;
  body.input("i", Type(DType::Int64, {}));
  body.input("go", Type(DType::Bool, {}));
  body.input("s", floats({1, 3}));
  body.node("Concat", {"s", "s"}, {"next"}, {{"axis", int64_t{0}}});
  for (const char* name : {"go", "next", "s"}) body.output(name);
  main.constant("m", Tensor::scalar<int64_t>(4));
  main.input("x", floats({1, 3}));
  main.node("Loop", {"m", "", "x"}, {"y", "all"}, {{"body", body.body()}});
  main.output("y");
  main.output("all");
  EXPECT_EQ(type_of(main.graph, "y"), "float32[?,3]");
  EXPECT_EQ(type_of(main.graph, "all"), "float32[4,?,3]");
}

// Running sums of x [2, 3] along axis 1, scanned backwards and prepended.
TEST(Scan, AxesAndDirections) {
  Builder body, main;
  body.input("s", floats({2}));
  body.input("x", floats({2}));
  body.node("Add", {"s", "x"}, {"sum"});
  body.node("Neg", {"sum"}, {"shown"});
  body.output("sum");
  body.output("shown");
  main.input("s0", floats({2}));
  main.input("x", floats({2, 3}));
  const std::vector<int64_t> one = {1}, last = {-1};
  main.node("Scan", {"s0", "x"}, {"sum", "all"},
            {{"body", body.body()},
             {"num_scan_inputs", int64_t{1}},
             {"scan_input_axes", one},
             {"scan_output_axes", last},
             {"scan_input_directions", one},
             {"scan_output_directions", one}});
  main.output("sum");
  main.output("all");
  const std::vector<Tensor> y =
      interpret(main.graph, {Tensor(DType::Float32, {2}), Tensor::of<float>({2, 3}, {1, 2, 3, 10, 20, 30})});
  EXPECT_EQ(to_doubles(y[0]), (V{6, 60}));
  EXPECT_EQ(to_doubles(y[1]), (V{-6, -5, -3, -60, -50, -30}));
  EXPECT_EQ(type_of(main.graph, "all"), "float32[2,3]");
}

TEST(Loop, RefusesABodyThatDoesNotFit) {
  Graph graph = doubling(true, true);
  graph.node(0).inputs.pop_back();
  try {
    looped(graph, 1, true, 0);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Malformed);
    EXPECT_STREQ(e.what(),
                 "value 'last': unnamed node (Loop): a body of 3 inputs and 3 outputs for 2 inputs and 2 outputs");
  }
}

}  // namespace
}  // namespace dnn
