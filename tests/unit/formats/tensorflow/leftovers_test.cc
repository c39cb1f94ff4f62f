// No attribute of a node is passed over: one is planted in each operator that is read. What runs beside is looked at, too.
#include <gtest/gtest.h>

#include <map>

#include "formats/tensorflow/import.h"
#include "graph_case.h"
#include "unit/formats/tensorflow/graph_builder.h"

namespace dnn::tensorflow {
namespace {

using Nodes = std::vector<NodeBuilder>;

// A valid node "y" of the operator, over x [2, 4, 4, 4], with what it reads beside.
Nodes sample(const std::string& op) {
  const NodeBuilder x = placeholder("x", {2, 4, 4, 4}), b = placeholder("b", {2, 4, 4, 4}, DT_BOOL),
                    n = placeholder("n", {2, 4}, DT_INT32), m = placeholder("m", {4, 4}), one = ints("one", {1});
  const auto with = [](Nodes nodes, NodeBuilder y) {
    nodes.push_back(std::move(y));
    return nodes;
  };
  const auto y = [&](const std::vector<Edge>& inputs) { return node(op, "y", inputs); };
  const NodeBuilder scalar = constant("scalar", Tensor::of<int32_t>({}, {1})),
                    real = constant("real", Tensor::of<float>({}, {2})), four = constant("four", ramp({4})),
                    kernel = constant("kernel", ramp({2, 2, 4, 4})),
                    pads = constant("pads", Tensor::of<int32_t>({4, 2}, {0, 0, 1, 1, 1, 0, 0, 0}));
  const auto windows = [](NodeBuilder made) {
    made.integers("strides", {1, 1, 1, 1}).text("padding", "VALID");
    return made;
  };
  static const std::map<std::string, int> binary = {
      {"Add", 0},           {"AddN", 0},         {"AddV2", 0},    {"Div", 0},     {"DivNoNan", 0},
      {"Equal", 0},         {"FloorDiv", 0},     {"FloorMod", 0}, {"Greater", 0}, {"GreaterEqual", 0},
      {"Less", 0},          {"LessEqual", 0},    {"Maximum", 0},  {"Minimum", 0}, {"Mul", 0},
      {"NotEqual", 0},      {"Pow", 0},          {"RealDiv", 0},  {"Sub", 0},     {"SquaredDifference", 0},
      {"TruncateDiv", 0},   {"TruncateMod", 0},  {"Mod", 0},      {"Pack", 0},    {"BatchMatMul", 0},
      {"BatchMatMulV2", 0}, {"BatchMatMulV3", 0}};
  static const std::map<std::string, int> reduces = {{"Max", 0},  {"Mean", 0}, {"Min", 0},
                                                     {"Prod", 0}, {"Sum", 0},  {"EuclideanNorm", 0}};
  if (binary.count(op) != 0) return with({x}, y({"x", "x"}));
  if (reduces.count(op) != 0) return with({x, one}, y({"x", "one"}));
  if (op == "All" || op == "Any") return with({b, one}, y({"b", "one"}));
  if (op == "ArgMax" || op == "ArgMin" || op == "Cumsum" || op == "Cumprod" || op == "ExpandDims")
    return with({x, scalar}, y({"x", "scalar"}));
  if (op == "LogicalAnd" || op == "LogicalOr") return with({b}, y({"b", "b"}));
  if (op == "LogicalNot") return with({b}, y({"b"}));
  if (op == "AvgPool" || op == "MaxPool") return with({x}, windows(y({"x"})).integers("ksize", {1, 2, 2, 1}));
  if (op == "MaxPoolV2")
    return with({x, ints("size", {1, 2, 2, 1}), ints("step", {1, 1, 1, 1})},
                y({"x", "size", "step"}).text("padding", "VALID"));
  if (op == "Conv2D" || op == "DepthwiseConv2dNative") return with({x, kernel}, windows(y({"x", "kernel"})));
  if (op == "Conv2DBackpropInput")
    return with({x, kernel, ints("shape", {2, 5, 5, 4})}, windows(y({"shape", "kernel", "x"})));
  if (op == "SpaceToBatchND" || op == "BatchToSpaceND")
    return with({placeholder("s", {4, 4, 4, 4}), ints("block", {2, 2}),
                 constant("borders", Tensor::of<int32_t>({2, 2}, {0, 0, 0, 0}))},
                y({"s", "block", "borders"}));
  if (op == "BiasAdd") return with({x, four}, y({"x", "four"}));
  if (op == "BroadcastTo") return with({x, ints("shape", {2, 4, 4, 4})}, y({"x", "shape"}));
  if (op == "Cast") return with({x}, y({"x"}).type("DstT", DT_INT32));
  if (op == "ClipByValue")
    return with({x, real, constant("zero", Tensor::of<float>({}, {0}))}, y({"x", "zero", "real"}));
  if (op == "Concat") return with({x, scalar}, y({"scalar", "x", "x"}));
  if (op == "ConcatV2") return with({x, scalar}, y({"x", "x", "scalar"}));
  if (op == "DepthToSpace" || op == "SpaceToDepth") return with({x}, y({"x"}).integer("block_size", 2));
  if (op == "Einsum") return with({m}, y({"m", "m"}).text("equation", "ab,bc->ac"));
  if (op == "FakeQuantWithMinMaxVars")
    return with({x, real, constant("low", Tensor::of<float>({}, {-1}))}, y({"x", "low", "real"}));
  if (op == "FakeQuantWithMinMaxVarsPerChannel")
    return with({x, constant("low", Tensor::of<float>({4}, {-1, -1, -1, -1})),
                 constant("high", Tensor::of<float>({4}, {1, 1, 1, 1}))},
                y({"x", "low", "high"}));
  if (op == "Fill") return with({placeholder("v", {}), ints("dims", {2, 3})}, y({"dims", "v"}));
  if (starts_with(op, "FusedBatchNorm"))
    return with({x, four, constant("variance", Tensor::of<float>({4}, {1, 2, 3, 4}))},
                y({"x", "four", "four", "four", "variance"}).flag("is_training", false));
  if (op == "Gather") return with({x, one}, y({"x", "one"}));
  if (op == "GatherV2") return with({x, one, scalar}, y({"x", "one", "scalar"}));
  if (op == "GatherNd") return with({x, constant("at", Tensor::of<int32_t>({1, 1}, {1}))}, y({"x", "at"}));
  if (op == "MatMul") return with({m}, y({"m", "m"}));
  if (op == "MirrorPad") return with({x, pads}, y({"x", "pads"}).text("mode", "REFLECT"));
  if (starts_with(op, "NonMaxSuppression")) {
    const char version = op.back();
    std::vector<Edge> inputs = {"boxes", "four", "scalar"};
    if (version != 'n') inputs.emplace_back("real");
    if (version > '2' && version < 'n') inputs.emplace_back("real");
    if (version == '5') inputs.emplace_back("zero");
    return with({placeholder("boxes", {4, 4}), four, scalar, real, constant("zero", Tensor::of<float>({}, {0}))},
                y(inputs));
  }
  if (op == "ScatterNd")
    return with({x, constant("at", Tensor::of<int32_t>({2, 1}, {1, 2})), ints("shape", {3, 4, 4, 4})},
                y({"at", "x", "shape"}));
  if (starts_with(op, "TensorScatter"))
    return with({x, constant("at", Tensor::of<int32_t>({2, 1}, {1, 0}))}, y({"x", "at", "x"}));
  if (op == "ReverseSequence")
    return with({x, ints("lengths", {1, 2})}, y({"x", "lengths"}).integer("seq_dim", 1).integer("batch_dim", 0));
  if (op == "Roll") return with({x, one}, y({"x", "one", "one"}));
  if (op == "OneHot")
    return with(
        {n, constant("depth", Tensor::of<int32_t>({}, {3})), real, constant("zero", Tensor::of<float>({}, {0}))},
        y({"n", "depth", "real", "zero"}));
  if (op == "Pad") return with({x, pads}, y({"x", "pads"}));
  if (op == "PadV2") return with({x, pads, real}, y({"x", "pads", "real"}));
  if (op == "Range")
    return with({placeholder("v", {}, DT_INT32), constant("zero", Tensor::of<int32_t>({}, {0})), scalar},
                y({"zero", "v", "scalar"}));
  if (op == "Reshape") return with({x, ints("shape", {2, 64})}, y({"x", "shape"}));
  if (starts_with(op, "Resize")) return with({x, ints("size", {3, 5})}, y({"x", "size"}));
  if (op == "ReverseV2") return with({x, one}, y({"x", "one"}));
  if (op == "Select" || op == "SelectV2") return with({x, b}, y({"b", "x", "x"}));
  if (op == "Slice")
    return with({x, ints("begin", {0, 0, 0, 0}), ints("size", {1, 2, 3, 4})}, y({"x", "begin", "size"}));
  if (op == "Split") return with({x, scalar}, y({"scalar", "x"}).integer("num_split", 2));
  if (op == "SplitV")
    return with({x, ints("sizes", {1, 3}), scalar}, y({"x", "sizes", "scalar"}).integer("num_split", 2));
  if (op == "Squeeze") return with({placeholder("s", {2, 1, 4})}, y({"s"}).integers("squeeze_dims", {1}));
  if (op == "StridedSlice")
    return with({x, ints("begin", {0, 1}), ints("end", {2, 3}), ints("step", {1, 1})},
                y({"x", "begin", "end", "step"}));
  if (op == "Tile") return with({x, ints("times", {1, 2, 1, 1})}, y({"x", "times"}));
  if (op == "TopK") return with({x}, y({"x"}).integer("k", 2));
  if (op == "TopKV2") return with({x, scalar}, y({"x", "scalar"}));
  if (op == "Transpose") return with({x, ints("perm", {0, 3, 1, 2})}, y({"x", "perm"}));
  if (op == "Unpack") return with({x}, y({"x"}).integer("num", 2));
  return with({x}, y({"x"}));
}

std::string said(const GraphDef& graph, ErrorKind* kind) {
  try {
    read_graph(graph);
    return "";
  } catch (const Error& error) {
    *kind = error.kind();
    return error.what();
  }
}

std::string said(Nodes nodes, ErrorKind* kind) { return said(graph_def(std::move(nodes)), kind); }

TEST(TensorflowLeftovers, NoneInAnyOperator) {
  const char* const names[] = {
#define DNN_TENSORFLOW_OP(name, outputs, function, as) #name,
#include "formats/tensorflow/ops.def"
  };
  for (const std::string name : names) {
    if (is_refused(*find_row(name))) continue;
    ErrorKind kind = ErrorKind::Internal;
    // One that is constant, as Shape is of fixed extents, is a valid output, too.
    EXPECT_EQ(said(sample(name), &kind), "") << name;
    for (const char* planted : {"planted", "_planted"}) {
      Nodes nodes = sample(name);
      nodes.back().integer(planted, 7);
      const std::string text = said(nodes, &kind);
      EXPECT_EQ(kind, ErrorKind::Unsupported) << name << ": " << text;
      EXPECT_NE(text.find(cat("node 'y' (", name, "): ")), std::string::npos) << text;
      EXPECT_NE(text.find(cat("attribute \"", planted, "\" = 7")), std::string::npos) << name << ": " << text;
    }
  }
}

TEST(TensorflowLeftovers, NoneInWhatHoldsTheGraphTogether) {
  for (const char* op : {"Identity", "StopGradient", "CheckNumerics", "Snapshot"}) {
    ErrorKind kind = ErrorKind::Internal;
    const auto nodes = [&](bool planted) {
      NodeBuilder y = node(op, "y", {"x"});
      if (planted) y.integer("planted", 7);
      return Nodes{placeholder("x", {4}), y, node("Relu", "z", {"y"})};
    };
    EXPECT_EQ(said(nodes(false), &kind), "") << op;
    EXPECT_NE(said(nodes(true), &kind).find("\"planted\" = 7"), std::string::npos) << op;
  }
  NodeBuilder c = constant("c", ramp({4})), x = placeholder("x", {4});
  ErrorKind kind = ErrorKind::Internal;
  EXPECT_NE(said({x, c.integer("planted", 7), node("AddV2", "y", {"x", "c"})}, &kind).find("planted"),
            std::string::npos);
  EXPECT_NE(said({x.integer("planted", 7), node("Relu", "y", {"x"})}, &kind).find("planted"), std::string::npos);
}

TEST(TensorflowLeftovers, APersonMayIgnoreThem) {
  const GraphDef graph = graph_def({placeholder("x", {4}), node("Relu", "y", {"x"}).integer("planted", 7)});
  for (const char* name : {"planted", "Relu.planted"}) {
    ModelSource source = model_in_memory("model.pb", {{"", graph.SerializeAsString()}});
    source.ignored = {name};
    EXPECT_EQ(ops_of(graphdef::read(source)), "Relu") << name;
  }
}

NodeBuilder text(const std::string& name, const std::string& value) {
  Tensor tensor(DType::String, {});
  tensor.mutable_strings() = {value};
  return constant(name, tensor);
}

// A node behind a control edge runs, although nothing reads it.
TEST(TensorflowLeftovers, WhatRunsBehindAControlEdgeIsLookedAt) {
  const auto graph = [](const NodeBuilder& effect) {
    return Nodes{placeholder("x", {4}), constant("path", ramp({1})), effect, node("NoOp", "group", {"^effect"}),
                 node("Relu", "y", {"x", "^group"})};
  };
  ErrorKind kind = ErrorKind::Internal;
  for (const char* op : {"WriteFile", "PyFunc", "SaveV2", "AssignVariableOp", "NobodyKnows"}) {
    const std::string said_of = said(graph(node(op, "effect", {"path", "path"})), &kind);
    EXPECT_EQ(kind, ErrorKind::Unsupported) << op;
    EXPECT_NE(said_of.find(cat("'effect' (", op, ")")), std::string::npos) << op << ": " << said_of;
  }
  EXPECT_NE(said(graph(node("PrintV2", "effect", {"path"}).text("output_stream", "file:///tmp/x")), &kind), "");
  EXPECT_EQ(said(graph(node("PrintV2", "effect", {"path"}).text("output_stream", "stderr")), &kind), "");
  EXPECT_EQ(said(graph(node("Assert", "effect", {"path", "path"})), &kind), "");
  // What the node itself reads counts, and what nobody waits for does not run.
  EXPECT_NE(said({placeholder("x", {4}), text("path", "p"), node("ReadFile", "r", {"path"}),
                  node("Assert", "effect", {"r"}), node("Relu", "y", {"x", "^effect"})},
                 &kind)
                .find("ReadFile"),
            std::string::npos);
  EXPECT_EQ(said({placeholder("x", {4}), text("path", "p"), node("SaveV2", "save", {"path"}), node("Relu", "y", {"x"})},
                 &kind),
            "");
}

// A function runs all that it holds.
TEST(TensorflowLeftovers, WhatAFunctionHoldsIsLookedAt) {
  const auto graph = [](const std::string& op, const char* attribute) {
    GraphDef made = graph_def({placeholder("x", {4}), node("PartitionedCall", "y", {"x"})});
    (*made.mutable_node(1)->mutable_attr())["f"].mutable_func()->set_name("f");
    FunctionDef& function = *made.mutable_library()->add_function();
    function.mutable_signature()->set_name("f");
    function.mutable_signature()->add_input_arg()->set_name("a");
    function.mutable_signature()->add_output_arg()->set_name("r");
    *function.add_node_def() = node("Relu", "relu", {"a"}).def();
    *function.add_node_def() = node(op, "effect", {"a"}).def();
    (*function.mutable_ret())["r"] = "relu:activations:0";
    if (attribute != nullptr) (*function.mutable_attr())[attribute].set_b(true);
    return made;
  };
  ErrorKind kind = ErrorKind::Internal;
  EXPECT_EQ(said(graph("Neg", "_XlaMustCompile"), &kind), "");
  EXPECT_NE(said(graph("WriteFile", nullptr), &kind).find("function 'f': node 'effect' (WriteFile)"),
            std::string::npos);
  EXPECT_EQ(kind, ErrorKind::Unsupported);
  EXPECT_NE(said(graph("Neg", "planted"), &kind).find("\"planted\""), std::string::npos);
}

// TensorFlow 2.21's tf.raw_ops.TruncateDiv: towards zero for real numbers, too.
TEST(TensorflowLeftovers, TruncatedQuotientsOfRealNumbers) {
  const Graph graph = read_nodes({placeholder("x", {4}), placeholder("z", {4}), node("TruncateDiv", "y", {"x", "z"})});
  EXPECT_EQ(to_doubles(
                interpret(graph, {Tensor::of<float>({4}, {7, -7, 7.5f, 1}), Tensor::of<float>({4}, {2, 2, -2, 2})})[0]),
            (std::vector<double>{3, -3, -3, 0}));
}

}  // namespace
}  // namespace dnn::tensorflow
