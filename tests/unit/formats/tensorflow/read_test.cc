// Reading GraphDef: constants, padding, biases, functions, switches, shapes computed on the way, and what is refused.
#include <gtest/gtest.h>

#include <cmath>

#include "graph_case.h"
#include "unit/formats/tensorflow/graph_builder.h"

namespace dnn::tensorflow {
namespace {

std::vector<double> run(const Graph& graph, const std::vector<Tensor>& inputs) {
  return to_doubles(interpret(graph, inputs)[0]);
}

void expect_not_read(const GraphDef& graph, ErrorKind kind, const std::string& message) {
  try {
    read_graph(graph);
    ADD_FAILURE() << "read";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
  }
}

TEST(TensorflowRead, ConstantsInEveryForm) {
  NodeBuilder splat = node("Const", "c");
  splat.type("dtype", DT_FLOAT);
  TensorProto& proto = *splat.attr("value").mutable_tensor();
  proto.set_dtype(DT_FLOAT);
  proto.mutable_tensor_shape()->add_dim()->set_size(4);
  proto.add_float_val(1.5f);
  proto.add_float_val(2.5f);  // stands for the rest
  const Graph graph = read_nodes({placeholder("x", {4}), splat, node("AddV2", "y", {"x", "c"}).type("T", DT_FLOAT)});
  EXPECT_EQ(run(graph, {Tensor(DType::Float32, {4})}), (std::vector<double>{1.5, 2.5, 2.5, 2.5}));
  EXPECT_NE(graph.find_value("c"), kNoValue);
  EXPECT_EQ(graph.value(graph.outputs[0]).name, "y");

  proto.mutable_tensor_shape()->mutable_dim(0)->set_size(int64_t{1} << 40);
  expect_not_read(graph_def({placeholder("x", {4}), splat, node("AddV2", "y", {"x", "c"})}), ErrorKind::Malformed,
                  "far larger than the file");
}

// SAME puts the odd element of padding at the end; the bias joins the convolution through the axes' way back.
TEST(TensorflowRead, AConvolutionTakesItsBiasIn) {
  const Graph graph = read_nodes(
      {placeholder("x", {-1, 4, 5, 2}), constant("w", ramp({3, 3, 2, 4})), constant("b", ramp({4})),
       node("Conv2D", "c", {"x", "w"}).type("T", DT_FLOAT).integers("strides", {1, 2, 2, 1}).text("padding", "SAME"),
       node("BiasAdd", "d", {"c", "b"}).type("T", DT_FLOAT), node("Relu", "y", {"d"})});
  EXPECT_EQ(ops_of(graph), "Transpose Conv Relu Transpose");
  const Node& conv = graph.node(graph.order()[1]);
  EXPECT_EQ(conv.name, "c");
  EXPECT_EQ(conv.attribute_ints("pads"), (std::vector<int64_t>{0, 1, 1, 1}));
  EXPECT_EQ(graph.value(conv.inputs[1]).name, "w");
  EXPECT_EQ(graph.value(conv.inputs[2]).name, "b");
  EXPECT_EQ(graph.value(graph.outputs[0]).type.text(), "float32[batch,2,3,4]");
}

TEST(TensorflowRead, ASumThatIsReadElsewhereKeepsItsBiasApart) {
  const Graph graph =
      read_nodes({placeholder("x", {1, 3}), constant("w", ramp({3, 2})), constant("b", ramp({2})),
                  node("MatMul", "m", {"x", "w"}), node("BiasAdd", "d", {"m", "b"}), node("Mul", "y", {"d", "m"})});
  EXPECT_EQ(ops_of(graph), "MatMul Add Mul");
}

NodeBuilder size_of(int height, int width) {
  NodeBuilder size = node("Const", "s");
  size.type("dtype", DT_INT32);
  TensorProto& proto = *size.attr("value").mutable_tensor();
  proto.set_dtype(DT_INT32);
  proto.mutable_tensor_shape()->add_dim()->set_size(2);
  proto.add_int_val(height);
  proto.add_int_val(width);
  return size;
}

// TensorFlow multiplies by 20 / 44: element 11 is at 5. Resize divides by 44 / 20, which is a little more than 2.2 in float32.
TEST(TensorflowRead, ResizeNearestPicksWhatTensorFlowDoes) {
  const Graph graph = read_nodes({placeholder("x", {1, 20, 1, 1}), size_of(44, 1),
                                  node("ResizeNearestNeighbor", "y", {"x", "s"}).type("T", DT_FLOAT)});
  Tensor x(DType::Float32, {1, 20, 1, 1});
  for (int i = 0; i < 20; ++i) x.mutable_data<float>()[i] = static_cast<float>(i);
  std::vector<double> expected;
  for (int i = 0; i < 44; ++i) expected.push_back(std::floor(i * 20.0 / 44.0));
  EXPECT_EQ(run(graph, {x}), expected);
}

TEST(TensorflowRead, ResizeBilinearMakesFloat32OfBytes) {
  NodeBuilder x = placeholder("x", {1, 1, 2, 1});
  x.type("dtype", DT_UINT8);
  const Graph graph = read_nodes(
      {x, size_of(1, 4), node("ResizeBilinear", "y", {"x", "s"}).type("T", DT_UINT8).flag("half_pixel_centers", true)});
  const Tensor y = interpret(graph, {Tensor::of<uint8_t>({1, 1, 2, 1}, std::vector<uint8_t>{3, 4})})[0];
  EXPECT_EQ(y.dtype(), DType::Float32);
  EXPECT_EQ(to_doubles(y), (std::vector<double>{3, 3.25, 3.75, 4}));
}

TEST(TensorflowRead, DepthwiseWeightsKeepTheirChannels) {
  const Graph graph = read_nodes(
      {placeholder("x", {1, 3, 3, 2}), constant("w", ramp({2, 2, 2, 3})),
       node("DepthwiseConv2dNative", "y", {"x", "w"}).integers("strides", {1, 1, 1, 1}).text("padding", "VALID")});
  const Tensor x = ramp({1, 3, 3, 2}, 7), w = ramp({2, 2, 2, 3}), y = interpret(graph, {x})[0];
  ASSERT_EQ(y.shape(), (Shape{1, 2, 2, 6}));
  for (int64_t c = 0; c < 2; ++c) {
    for (int64_t m = 0; m < 3; ++m) {
      double sum = 0;
      for (int64_t i = 0; i < 2; ++i) {
        for (int64_t j = 0; j < 2; ++j)
          sum += static_cast<double>(x.data<float>()[(i * 3 + j) * 2 + c]) *
                 static_cast<double>(w.data<float>()[((i * 2 + j) * 2 + c) * 3 + m]);
      }
      EXPECT_NEAR(static_cast<double>(y.data<float>()[c * 3 + m]), sum, 1e-6);
    }
  }
}

// What Keras 3 makes of a bias; the constant keeps its own name.
TEST(TensorflowRead, ReshapedConstantsKeepTheirNames) {
  const Graph graph = read_nodes(
      {placeholder("x", {1, 4, 4, 2}), constant("kernel", ramp({1, 1, 2, 3})), node("Identity", "read", {"kernel"}),
       constant("bias", ramp({3})), ints("shape", {1, 1, 1, 3}), node("Reshape", "r", {"bias", "shape"}),
       node("Squeeze", "s", {"r"}).integers("squeeze_dims", {0, 1, 2}),
       node("Conv2D", "c", {"x", "read"}).integers("strides", {1, 1, 1, 1}).text("padding", "VALID"),
       node("BiasAdd", "y", {"c", "s"})});
  EXPECT_EQ(ops_of(graph), "Transpose Conv Transpose");
  EXPECT_NE(graph.constant(graph.find_value("kernel")), nullptr);
  EXPECT_NE(graph.constant(graph.find_value("bias")), nullptr);
}

// What Keras 3 makes of BatchNormalization, with and without scale and offset.
TEST(TensorflowRead, BatchNormalizationThatIsSpeltOutIsPutBackTogether) {
  const auto build = [](bool affine) {
    return read_nodes({placeholder("x", {1, 2, 2, 3}), constant("mean", ramp({3})),
                       constant("variance", Tensor::of<float>({3}, {1, 2, 3})), constant("gamma", ramp({3}, 7)),
                       ints("shape", {1, 1, 1, 3}), constant("beta", ramp({3}, 11)),
                       constant("eps", Tensor::scalar(0.001f)), node("AddV2", "add", {"variance", "eps"}),
                       node("Rsqrt", "rsqrt", {"add"}),
                       affine ? node("Mul", "mul", {"rsqrt", "gamma"}) : node("Identity", "mul", {"rsqrt"}),
                       node("Mul", "mul_1", {"x", "mul"}),
                       affine ? node("Reshape", "by", {"mean", "shape"}) : node("Neg", "by", {"mean"}),
                       node("Mul", "mul_2", {"by", "mul"}),
                       affine ? node("Sub", "sub", {"beta", "mul_2"}) : node("Identity", "sub", {"mul_2"}),
                       node("AddV2", "y", {"mul_1", "sub"})});
  };
  const Tensor x = ramp({1, 2, 2, 3}, 5);
  for (bool affine : {true, false}) {
    SCOPED_TRACE(affine);
    const Graph graph = build(affine);
    EXPECT_EQ(ops_of(graph), "Transpose BatchNormalization Transpose");
    const Node& norm = graph.node(graph.order()[1]);
    EXPECT_EQ(graph.value(norm.inputs[3]).name, "mean");
    EXPECT_EQ(graph.value(norm.inputs[4]).name, "variance");
    const std::string parameters = graph.value(norm.inputs[1]).name + " " + graph.value(norm.inputs[2]).name;
    EXPECT_EQ(parameters, affine ? "gamma beta" : "y/scale y/offset");
    const std::vector<double> y = run(graph, {x}), at = to_doubles(x), mean = to_doubles(ramp({3}));
    const std::vector<double> gamma = to_doubles(ramp({3}, 7)), beta = to_doubles(ramp({3}, 11));
    for (size_t i = 0; i < y.size(); ++i) {
      const size_t c = i % 3;
      const double z = (at[i] - mean[c]) / std::sqrt(static_cast<double>(c) + 1.001);
      EXPECT_NEAR(y[i], affine ? z * gamma[c] + beta[c] : z, 1e-5);
    }
  }
}

// Keras' Gelu: 0.5 * x * erfc(-x * sqrt(0.5)), as other frameworks spell it.
TEST(TensorflowRead, ErfcIsErf) {
  const Graph graph = read_nodes({placeholder("x", {5}), constant("c", Tensor::scalar(0.70710678f)),
                                  node("Neg", "n", {"x"}), node("Mul", "m", {"n", "c"}), node("Erfc", "y", {"m"})});
  EXPECT_EQ(ops_of(graph), "Mul Erf Add");
  const Graph plain = read_nodes({placeholder("x", {5}), node("Erfc", "y", {"x"})});
  const Tensor x = ramp({5});
  const std::vector<double> y = run(graph, {x}), z = run(plain, {x}), at = to_doubles(x);
  for (size_t i = 0; i < y.size(); ++i) {
    EXPECT_NEAR(y[i], std::erfc(-at[i] * 0.70710678), 1e-6);
    EXPECT_NEAR(z[i], std::erfc(at[i]), 1e-6);
  }
}

// TensorFlow takes the lower of bounds that cross, ONNX the upper one.
TEST(TensorflowRead, CrossedBoundsKeepTheirMeaning) {
  const auto clipped = [](float low, float high) {
    return read_nodes({placeholder("x", {5}), constant("low", Tensor::scalar(low)),
                       constant("high", Tensor::scalar(high)), node("ClipByValue", "y", {"x", "low", "high"})});
  };
  EXPECT_EQ(ops_of(clipped(1, 2)), "Clip");
  EXPECT_EQ(run(clipped(2, 1), {ramp({5})}), std::vector<double>(5, 2.0));
}

TEST(TensorflowRead, RemaindersOfDivisionsTowardsZero) {
  for (const char* op : {"TruncateMod", "Mod"}) {
    const Graph graph =
        read_nodes({placeholder("x", {4}), constant("c", Tensor::scalar(-2.0F)), node(op, "y", {"x", "c"})});
    EXPECT_EQ(run(graph, {Tensor::of<float>({4}, {3, -3, 4, 5.5F})}), (std::vector<double>{1, -1, 0, 1.5})) << op;
  }
}

// A batch that is not known goes through Shape, StridedSlice and Pack; Reshape still needs no computed shape.
TEST(TensorflowRead, ShapesComputedOnTheWayAreFollowed) {
  const Graph graph =
      read_nodes({placeholder("x", {-1, 2, 3}), node("Shape", "shape", {"x"}).type("out_type", DT_INT32),
                  ints("from", {0}), ints("to", {1}), ints("step", {1}),
                  node("StridedSlice", "batch", {"shape", "from", "to", "step"}).integer("shrink_axis_mask", 1),
                  constant("six", Tensor::scalar<int32_t>(6)),
                  node("Pack", "to_shape", {"batch", "six"}).integer("N", 2), node("Reshape", "y", {"x", "to_shape"})});
  EXPECT_EQ(ops_of(graph), "Reshape");
  EXPECT_EQ(graph.value(graph.outputs[0]).type.shape->at(1).size, 6);
}

TEST(TensorflowRead, StridedSlicesSpellTheirMasksOut) {
  const Graph graph = read_nodes({placeholder("x", {2, 3, 4}), ints("b", {0, 0, 1, 0}), ints("e", {0, 0, 2, 3}),
                                  ints("s", {1, 1, 1, 2}),  // x[..., newaxis, 1, :3:2]
                                  node("StridedSlice", "y", {"x", "b", "e", "s"})
                                      .integer("ellipsis_mask", 1)
                                      .integer("new_axis_mask", 2)
                                      .integer("shrink_axis_mask", 4)
                                      .integer("begin_mask", 8)});
  const Tensor x = ramp({2, 3, 4}), y = interpret(graph, {x})[0];
  ASSERT_EQ(y.shape(), (Shape{2, 1, 2}));
  EXPECT_EQ(y.data<float>()[0], x.data<float>()[4]);
  EXPECT_EQ(y.data<float>()[3], x.data<float>()[12 + 4 + 2]);
}

// Blocks around a convolution are how dilations used to be written.
TEST(TensorflowRead, AtrousConvolutionsBecomeDilated) {
  const auto build = [](bool pattern) {
    return read_nodes({placeholder("x", {1, 7, 7, 2}), constant("w", ramp({3, 3, 2, 3})), ints("block", {2, 2}),
                       constant("pads", Tensor::of<int32_t>({2, 2}, {2, 3, 2, 3})),
                       constant("crops", Tensor::of<int32_t>({2, 2}, {0, 1, 0, 1})),
                       node("SpaceToBatchND", "a", {"x", "block", "pads"}),
                       node("Conv2D", "b", {"a", "w"}).integers("strides", {1, 1, 1, 1}).text("padding", "VALID"),
                       pattern ? node("Identity", "i", {"b"}) : node("Abs", "i", {"b"}),
                       node("BatchToSpaceND", "c", {"i", "block", "crops"}), node("Abs", "y", {"c"})});
  };
  const Graph dilated = build(true), blocks = build(false);
  EXPECT_EQ(ops_of(dilated), "Transpose Conv Abs Transpose");
  EXPECT_EQ(dilated.node(dilated.order()[1]).attribute_ints("dilations"), (std::vector<int64_t>{2, 2}));
  const std::vector<double> a = run(dilated, {ramp({1, 7, 7, 2})}), b = run(blocks, {ramp({1, 7, 7, 2})});
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5);
}

TEST(TensorflowRead, ConstantSwitchesTakeOneWay) {
  const Graph graph =
      read_nodes({placeholder("x", {2}), constant("training", Tensor::scalar(false)),
                  node("Switch", "s", {"x", "training"}), node("Relu", "off", {"s:0"}),
                  node("RandomUniform", "on", {"s:1"}), node("Merge", "m", {"off", "on"}), node("Neg", "y", {"m"})});
  EXPECT_EQ(ops_of(graph), "Relu Neg");
}

FunctionDef function(const std::string& name, const std::vector<std::string>& arguments, const std::string& output,
                     const std::string& from, std::vector<NodeBuilder> nodes) {
  FunctionDef def;
  def.mutable_signature()->set_name(name);
  for (const std::string& argument : arguments) def.mutable_signature()->add_input_arg()->set_name(argument);
  def.mutable_signature()->add_output_arg()->set_name(output);
  (*def.mutable_ret())[output] = from;
  for (NodeBuilder& builder : nodes) *def.add_node_def() = builder.def();
  return def;
}

NodeBuilder call(const std::string& name, const std::string& function, const std::vector<Edge>& inputs) {
  NodeBuilder builder = node("PartitionedCall", name, inputs);
  builder.attr("f").mutable_func()->set_name(function);
  return builder;
}

TEST(TensorflowRead, FunctionsAreInlined) {
  GraphDef graph = graph_def({placeholder("x", {2, 3}), call("twice", "outer", {"x"}), node("Neg", "y", {"twice"})});
  *graph.mutable_library()->add_function() = function(
      "outer", {"a"}, "r", "again:output:0", {call("once", "inner", {"a"}), call("again", "inner", {"once:output:0"})});
  *graph.mutable_library()->add_function() =
      function("inner", {"b"}, "r", "parts:output:1",
               {constant("axis", Tensor::scalar<int32_t>(0)), node("Abs", "abs", {"b"}),
                node("Split", "parts", {"axis:output:0", "sum:z:0"}).integer("num_split", 2),
                node("AddV2", "sum", {"abs:y:0", "pair:output:0"}), node("Identity", "pair", {"b"})});
  EXPECT_EQ(ops_of(read_graph(graph)), "Abs Add Split Abs Add Split Neg");
  // Recursion has an end, and says so; so has what spells out ever more nodes.
  GraphDef deep = graph;
  *deep.mutable_library()->mutable_function(1)->mutable_node_def(1) = call("abs", "outer", {"b"}).def();
  expect_not_read(deep, ErrorKind::Unsupported, "more than 50000 nodes");
  (*deep.mutable_library()->mutable_function(0)->mutable_ret())["r"] = "once:output:0";
  expect_not_read(deep, ErrorKind::Unsupported, "functions that call functions");
}

TEST(TensorflowRead, RefusesByName) {
  const auto one = [](NodeBuilder builder) { return graph_def({placeholder("x", {2}), std::move(builder)}); };
  expect_not_read(one(node("PyFunc", "script/1", {"x"})), ErrorKind::Unsupported,
                  "node 'script/1' (PyFunc): it calls Python code");
  expect_not_read(one(node("While", "loop", {"x"})), ErrorKind::Unsupported, "loops are not read");
  expect_not_read(one(node("NonMaxSuppressionV9", "nms", {"x"})), ErrorKind::Unsupported,
                  "node 'nms' (NonMaxSuppressionV9): this operator is not read");
  expect_not_read(one(node("Relu", "y", {"z"})), ErrorKind::Malformed, "there is no node 'z'");
  expect_not_read(one(node("Relu", "y", {"x:1"})), ErrorKind::Unsupported, "its output 1 is not read");
  expect_not_read(graph_def({placeholder("x", {2}), node("Add", "a", {"x", "b"}), node("Add", "b", {"a", "x"}),
                             node("Neg", "y", {"b"})}),
                  ErrorKind::Malformed, "depends on itself");
  // A loop of a frozen graph, into which the walk comes from its head.
  expect_not_read(graph_def({placeholder("x", {2}), node("Merge", "m", {"x", "n"}), node("Identity", "i", {"m"}),
                             node("NextIteration", "n", {"i"}), node("Neg", "y", {"m"})}),
                  ErrorKind::Unsupported, "loops are not read");
  expect_not_read(graph_def({placeholder("x", {2})}), ErrorKind::Malformed, "no outputs");
  expect_not_read(graph_def({placeholder("x", {2}), node("VarHandleOp", "v"), node("ReadVariableOp", "r", {"v"}),
                             node("Add", "y", {"x", "r"})}),
                  ErrorKind::Unsupported, "freeze the graph");
  expect_not_read(graph_def({placeholder("x", {1, 2, 2, 3}), constant("p", ramp({3})),
                             node("FusedBatchNormV3", "bn", {"x", "p", "p", "p", "p"})}),
                  ErrorKind::Unsupported, "freeze the graph for inference");
}

}  // namespace
}  // namespace dnn::tensorflow
