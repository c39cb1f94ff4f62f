// Cutting, renaming, turning inputs, folding batch norms: what each makes of a small graph, and what it refuses.
#include "convert/surgery.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/tensor_text.h"
#include "graph/text.h"
#include "interp/interpreter.h"
#include "ops/op.h"

namespace dnn {
namespace {

constexpr const char* kSurgeryNetwork = R"(graph "net" {
  opset 17
  input x: float32[1,3,6,4]
  const w: float32[5,3,3,3] = random(1)
  const b: float32[5] = random(2)
  const s: float32[5] = {1.1, 0.7, 1.3, 0.9, 2}
  const t: float32[5] = {0.1, 0.2, -0.3, 0, 1}
  const m: float32[5] = {0.2, 0.1, -0.1, 0, 0.5}
  const v: float32[5] = {1.7, 2.1, 0.6, 1.2, 0.3}
  c = Conv(x, w, b) @conv {pads = [1, 1, 1, 1]}
  n = BatchNormalization(c, s, t, m, v) @norm
  r = Relu(n) @relu
  p = GlobalAveragePool(r) @pool
  f = Flatten(p) @flat
  output f
})";

std::vector<std::string> ops(const Graph& graph) {
  std::vector<std::string> names;
  for (NodeId id : graph.order()) names.push_back(graph.node(id).op);
  return names;
}

using Ops = std::vector<std::string>;

Graph network() {
  Graph graph = parse_graph(kSurgeryNetwork);
  infer_types(graph);
  return graph;
}

Surgery surgery(void (*fill)(Surgery&)) {
  Surgery s;
  fill(s);
  return s;
}

std::string refusal(const Surgery& s) {
  Graph graph = network();
  try {
    operate(graph, s);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Usage) << e.what();
    return e.what();
  }
  return "";
}

TEST(Surgery, CutsAtAnOutput) {
  Graph graph = network();
  operate(graph, surgery([](Surgery& s) { s.outputs = {"norm"}; }));
  EXPECT_EQ(ops(graph), (Ops{"Conv", "BatchNormalization"}));
  ASSERT_EQ(graph.outputs.size(), 1u);
  EXPECT_EQ(graph.value(graph.outputs[0]).name, "n");
  EXPECT_EQ(graph.value(graph.outputs[0]).type.text(), "float32[1,5,6,4]");
}

TEST(Surgery, CutsBetween) {
  Graph graph = network();
  operate(graph, surgery([](Surgery& s) {
            s.inputs = {"n"};
            s.outputs = {"r,p"};
          }));
  EXPECT_EQ(ops(graph), (Ops{"Relu", "GlobalAveragePool"}));
  EXPECT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.value(graph.inputs[0]).name, "n");
  EXPECT_EQ(graph.outputs.size(), 2u);
  const Tensor n = random_tensor(DType::Float32, {1, 5, 6, 4}, 3);
  EXPECT_EQ(interpret(graph, {n}).size(), 2u);
}

TEST(Surgery, RefusesCutsByName) {
  EXPECT_NE(refusal(surgery([](Surgery& s) { s.outputs = {"rely"}; })).find("did you mean \"relu\"?"),
            std::string::npos);
  EXPECT_NE(refusal(surgery([](Surgery& s) { s.outputs = {"w"}; })).find("is a constant"), std::string::npos);
  EXPECT_NE(refusal(surgery([](Surgery& s) {
              s.inputs = {"p"};
              s.outputs = {"r"};
            })).find("need \"x\" as well"),
            std::string::npos);
  EXPECT_NE(refusal(surgery([](Surgery& s) {
              s.inputs = {"r", "n"};
            })).find("no output needs \"n\""),
            std::string::npos);
}

TEST(Surgery, Renames) {
  Graph graph = network();
  operate(graph, surgery([](Surgery& s) { s.renames = {"x=image", "f=scores", "conv=stem", "r=hidden"}; }));
  EXPECT_EQ(graph.value(graph.inputs[0]).name, "image");
  EXPECT_EQ(graph.value(graph.outputs[0]).name, "scores");
  EXPECT_EQ(graph.node(graph.order()[0]).name, "stem");
  EXPECT_NE(graph.find_value("hidden"), kNoValue);
  EXPECT_NE(refusal(surgery([](Surgery& s) { s.renames = {"x=w"}; })).find("another value"), std::string::npos);
  EXPECT_NE(refusal(surgery([](Surgery& s) { s.renames = {"x"}; })).find("OLD=NEW"), std::string::npos);
  EXPECT_NE(refusal(surgery([](Surgery& s) { s.renames = {"pol=q"}; })).find("did you mean \"pool\"?"),
            std::string::npos);
}

TEST(Surgery, RenamesWhatSubgraphsRead) {
  Graph graph = parse_graph(R"(graph "g" {
  input c: bool[]
  input x: float32[2]
  y: float32[2] = If(c) {
    then_branch = graph "a" {
      capture x
      a: float32[2] = Relu(x)
      output a
    },
    else_branch = graph "b" {
      capture x
      b: float32[2] = Neg(x)
      output b
    }
  }
  output y
})");
  rename(graph, "x=z");
  verify(graph);
  const Tensor z = Tensor::of<float>({2}, {-1, 2});
  EXPECT_TRUE(interpret(graph, {Tensor::scalar<bool>(false), z})[0].identical(Tensor::of<float>({2}, {1, -2})));
}

// The body goes on reading the order that it knows; with equal extents nothing else would show it.
TEST(Surgery, TurnsAnInputThatABodyReads) {
  const auto net = [] {
    return parse_graph(R"(graph "g" {
  input c: bool[]
  input x: float32[1,2,2,2]
  y: float32[1,2,2,2] = If(c) {
    then_branch = graph "a" {
      capture x
      a: float32[1,2,2,2] = Softmax(x) {axis = 1}
      output a
    },
    else_branch = graph "b" {
      capture x
      x_nchw: float32[1,2,2,2] = Neg(x)
      b: float32[1,2,2,2] = Hardmax(x_nchw) {axis = 1}
      output b
    }
  }
  top: float32[1,2,1,1] = GlobalMaxPool(x)
  output y
  output top
})");
  };
  Graph graph = net();
  operate(graph, surgery([](Surgery& s) { s.input_layouts = {"x:NHWC"}; }));
  const Tensor first = Tensor::of<float>({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}),
               last = Tensor::of<float>({1, 2, 2, 2}, {1, 5, 2, 6, 3, 7, 4, 8});
  for (const bool yes : {true, false}) {
    EXPECT_TRUE(interpret(graph, {Tensor::scalar<bool>(yes), last})[0].identical(
        interpret(net(), {Tensor::scalar<bool>(yes), first})[0]));
  }
}

TEST(Surgery, TurnsAnInput) {
  const Graph before = network();
  Graph graph = before;
  operate(graph, surgery([](Surgery& s) { s.input_layouts = {"x:NHWC"}; }));
  EXPECT_EQ(graph.value(graph.inputs[0]).name, "x");
  EXPECT_EQ(graph.value(graph.inputs[0]).type.text(), "float32[1,6,4,3]");
  EXPECT_EQ(ops(graph)[0], "Transpose");
  EXPECT_EQ(graph.order().size(), before.order().size() + 1);
  const Tensor x = random_tensor(DType::Float32, {1, 3, 6, 4}, 5);
  Tensor turned(DType::Float32, {1, 6, 4, 3});
  for (int64_t c = 0; c < 3; ++c) {
    for (int64_t i = 0; i < 24; ++i) turned.mutable_data<float>()[i * 3 + c] = x.data<float>()[c * 24 + i];
  }
  EXPECT_TRUE(interpret(graph, {turned})[0].identical(interpret(before, {x})[0]));
  set_input_layout(graph, "x:NHWC");  // it is already
  EXPECT_EQ(graph.order().size(), before.order().size() + 1);
  set_input_layout(graph, "x:NCHW");  // the Transpose goes again
  EXPECT_EQ(ops(graph), ops(before));
  EXPECT_EQ(graph.value(graph.inputs[0]).type.text(), "float32[1,3,6,4]");
}

TEST(Surgery, RefusesLayoutsByName) {
  EXPECT_NE(refusal(surgery([](Surgery& s) { s.input_layouts = {"x:NWHC"}; })).find("neither NHWC nor NCHW"),
            std::string::npos);
  EXPECT_NE(refusal(surgery([](Surgery& s) { s.input_layouts = {"xx:NHWC"}; })).find("there is no \"xx\""),
            std::string::npos);
}

TEST(Surgery, FoldsBatchNorms) {
  const Graph before = network();
  Graph graph = before;
  EXPECT_EQ(fold_batch_norms(graph), 1);
  infer_types(graph);
  verify(graph);
  EXPECT_EQ(ops(graph), (Ops{"Conv", "Relu", "GlobalAveragePool", "Flatten"}));
  EXPECT_NE(graph.find_value("w"), kNoValue) << "the weights keep their name";
  const Tensor x = random_tensor(DType::Float32, {1, 3, 6, 4}, 5);
  const std::vector<double> y = to_doubles(interpret(graph, {x})[0]), expected = to_doubles(interpret(before, {x})[0]);
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-6);
}

TEST(Surgery, FoldsBatchNormsBehindGemms) {
  const Graph before = parse_graph(R"(graph "g" {
  input x: float32[2,3]
  const w: float32[3,2] = {1, 2, 3, 4, 5, 6}
  const b: float32[2] = {0.5, -0.5}
  const s: float32[2] = {2, 3}
  const t: float32[2] = {1, -1}
  const m: float32[2] = {0.25, 4}
  const v: float32[2] = {4, 0.25}
  g = Gemm(x, w, b) @fc
  y = BatchNormalization(g, s, t, m, v) @norm {epsilon = 0.0}
  output y
})");
  Graph graph = before;
  EXPECT_EQ(fold_batch_norms(graph), 1);
  const Tensor x = random_tensor(DType::Float32, {2, 3}, 5);
  const std::vector<double> y = to_doubles(interpret(graph, {x})[0]), expected = to_doubles(interpret(before, {x})[0]);
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-5);
}

// A batch norm whose input is read elsewhere too, or comes from no convolution, stays.
TEST(Surgery, LeavesOtherBatchNorms) {
  Graph graph = network();
  operate(graph, surgery([](Surgery& s) { s.outputs = {"c", "f"}; }));
  EXPECT_EQ(fold_batch_norms(graph), 0);
}

}  // namespace
}  // namespace dnn
