// Writing GraphDef: every row of exports.def computes what the IR says when it is read back; names, extents and refusals.
#include <gtest/gtest.h>

#include <set>

#include "graph/diff.h"
#include "graph/tensor_text.h"
#include "graph_case.h"
#include "unit/formats/tensorflow/graph_builder.h"
#include "unit/formats/written_nodes.h"

namespace dnn::tensorflow {
namespace {

Graph graph_of(const std::string& body) { return parse_graph("graph \"g\" {\n  opset 21\n" + body + "\n}\n"); }

Graph read_back(const Graph& graph) {
  const ModelSource source = model_in_memory("m.pb", graphdef::to_files(graph, {}));
  EXPECT_TRUE(graphdef::sniff(source));
  return graphdef::read(source);
}

void expect_same(const Graph& graph, const Graph& again, const std::string& body) {
  const std::vector<Tensor> inputs = ramps(graph), before = interpret(graph, inputs);
  ASSERT_EQ(again.inputs.size(), graph.inputs.size()) << body;  // those that nothing reads, too
  const std::vector<Tensor> now = interpret(again, inputs);
  ASSERT_EQ(before.size(), now.size());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].shape(), now[i].shape()) << body;
    EXPECT_EQ(before[i].dtype(), now[i].dtype()) << body;
    const std::vector<double> a = to_doubles(before[i]), b = to_doubles(now[i]);
    for (size_t k = 0; k < a.size() && k < b.size(); ++k) EXPECT_NEAR(a[k], b[k], 2e-6 * (1 + std::abs(a[k]))) << body;
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    EXPECT_EQ(graph.value(graph.outputs[i]).name, again.value(again.outputs[i]).name);
}

// Written and read again, as one file and as a folder with variables, the graph gives the same outputs, but for the last bits.
Graph round_trip(const std::string& body) {
  const Graph graph = graph_of(body);
  Graph again = read_back(graph);
  expect_same(graph, again, body);
  const ModelSource folder = model_in_memory("m", savedmodel::to_files(graph, {}));
  EXPECT_TRUE(savedmodel::sniff(folder));
  expect_same(graph, savedmodel::read(folder), body);
  return again;
}

struct Case {
  const char* op;  // the operator that it is for
  std::string body;
};

// What a convolution and its relatives read.
constexpr const char* kImage = "  input x: float32[1,4,6,7]\n";

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"nhwc.Conv",
       "  const w: float32[6,4,3,3] = random(1)\n  const b: float32[6] = random(2)\n  y = Conv(x, w, b) {pads = [1, 1, "
       "1, 1], strides = [2, 1]}"},
      {"nhwc.Conv", "  const w: float32[6,2,3,2] = random(1)\n  y = Conv(x, w) {group = 2, dilations = [2, 1]}"},
      {"nhwc.Conv",
       "  const w: float32[8,1,3,3] = random(1)\n  y = Conv(x, w) {group = 4, auto_pad = \"SAME_LOWER\", strides = [2, "
       "2]}"},
      {"nhwc.Conv", "  const w: float32[4,4,2,2] = random(1)\n  y = Conv(x, w) {pads = [0, 2, 1, 0]}"},
      {"nhwc.ConvTranspose",
       "  const w: float32[4,3,3,3] = random(1)\n  const b: float32[3] = random(2)\n  y = ConvTranspose(x, w, b) "
       "{strides = [2, 2], pads = [1, 0, 1, 1], output_padding = [1, 0]}"},
      {"nhwc.ConvTranspose",
       "  const w: float32[4,3,2,2] = random(1)\n  y = ConvTranspose(x, w) {strides = [3, 3], output_padding = [1, "
       "0]}"},
      {"nhwc.MaxPool", "  y = MaxPool(x) {kernel_shape = [3, 2], strides = [2, 2], pads = [1, 1, 1, 0]}"},
      {"nhwc.MaxPool", "  y = MaxPool(x) {kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1}"},
      {"nhwc.AveragePool", "  y = AveragePool(x) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1]}"},
      {"nhwc.AveragePool",
       "  y = AveragePool(x) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1], count_include_pad = 1}"},
      {"nhwc.AveragePool", "  y = AveragePool(x) {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]}"},
      {"nhwc.AveragePool",
       "  y = AveragePool(x) {kernel_shape = [2, 3], strides = [2, 2], pads = [0, 1, 0, 0], ceil_mode = 1, "
       "count_include_pad = 1}"},
      {"nhwc.LRN", "  y = LRN(x) {size = 3, alpha = 0.3, beta = 0.5, bias = 1.5}"},
      {"nhwc.DepthToSpace", "  y = DepthToSpace(x) {blocksize = 2}"},
      {"nhwc.SpaceToDepth", "  s = Slice(x, from, to, axis)\n  y = SpaceToDepth(s) {blocksize = 2}\n"},
      {"nhwc.Resize", "  const size: int64[4] = {1, 4, 9, 5}\n  y = Resize(x, _, _, size) {mode = \"linear\"}"},
      {"nhwc.Resize",
       "  const scale: float32[4] = {1, 1, 2, 3}\n  y = Resize(x, _, scale) {mode = \"nearest\", "
       "coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"floor\"}"},
      {"nhwc.Resize",
       "  const size: int64[4] = {1, 4, 11, 13}\n  y = Resize(x, _, _, size) {mode = \"linear\", "
       "coordinate_transformation_mode = \"align_corners\"}"},
      {"Abs", "  y = Abs(x)"},
      {"Add", "  const c: float32[4,1,1] = random(3)\n  a = Add(x, c)\n  y = Relu(a)"},
      {"And", "  a = Greater(x, one)\n  b = Less(x, one)\n  y = And(a, b)"},
      {"ArgMax", "  y = ArgMax(x) {axis = 1, keepdims = 0}"},
      {"ArgMin", "  y = ArgMin(x) {axis = 2, keepdims = 0}"},
      {"Cast", "  y = Cast(x) {to = 6}"},
      {"Ceil", "  y = Ceil(x)"},
      {"Clip", "  const low: float32[] = {-0.5}\n  const high: float32[] = {0.25}\n  y = Clip(x, low, high)"},
      {"Clip", "  const high: float32[] = {0.25}\n  y = Clip(x, _, high)"},
      {"Clip", "  const low: float32[] = {0}\n  const high: float32[] = {6}\n  y = Clip(x, low, high)"},
      {"Concat", "  a = Neg(x)\n  y = Concat(x, a) {axis = 1}"},
      {"Cos", "  y = Cos(x)"},
      {"Div", "  const c: float32[7] = {1, 2, 3, 4, 5, 6, 7}\n  y = Div(x, c)"},
      {"Elu", "  y = Elu(x)"},
      {"Equal", "  y = Equal(x, one)"},
      {"Exp", "  y = Exp(x)"},
      {"Expand", "  const size: int64[5] = {2, 1, 4, 6, 7}\n  y = Expand(x, size)"},
      {"Flatten", "  y = Flatten(x) {axis = 2}"},
      {"Floor", "  y = Floor(x)"},
      {"Gather", "  const at: int64[3] = {3, 0, -1}\n  y = Gather(x, at) {axis = 1}"},
      {"Gelu", "  y = Gelu(x)"},
      {"Gelu", "  y = Gelu(x) {approximate = \"tanh\"}"},
      {"Gemm",
       "  f = Flatten(x)\n  const w: float32[5,168] = random(4)\n  const b: float32[1,5] = random(5)\n  g = Gemm(f, w, "
       "b) {transB = 1, alpha = 0.5, beta = 2.0}\n  y = Relu(g)"},
      {"Gemm", "  f = Flatten(x)\n  const w: float32[168,5] = random(4)\n  y = Gemm(f, w)"},
      {"Greater", "  y = Greater(x, one)"},
      {"GreaterOrEqual", "  y = GreaterOrEqual(x, one)"},
      {"HardSigmoid", "  y = HardSigmoid(x) {alpha = 0.3, beta = 0.4}"},
      {"HardSwish", "  y = HardSwish(x)"},
      {"Swish", "  y = Swish(x)"},
      {"Swish", "  y = Swish(x) {alpha = 1.5}"},
      {"Identity", "  y = Identity(x)"},
      {"LayerNormalization",
       "  const s: float32[7] = random(6)\n  const b: float32[7] = random(7)\n  y = LayerNormalization(x, s, b) "
       "{epsilon = 0.001}"},
      {"LeakyRelu", "  y = LeakyRelu(x) {alpha = 0.2}"},
      {"Less", "  y = Less(x, one)"},
      {"LessOrEqual", "  y = LessOrEqual(x, one)"},
      {"Log", "  a = Exp(x)\n  y = Log(a)"},
      {"LogSoftmax", "  y = LogSoftmax(x) {axis = 1}"},
      {"MatMul", "  const w: float32[7,3] = random(8)\n  a = MatMul(x, w)\n  y = Relu(a)"},
      {"MatMul", "  t = Transpose(x) {perm = [0, 1, 3, 2]}\n  a = MatMul(x, t)\n  y = Relu(a)"},
      {"Max", "  a = Neg(x)\n  y = Max(x, a, one)"},
      {"Min", "  y = Min(x, one)"},
      {"Mul", "  y = Mul(x, x)"},
      {"Neg", "  y = Neg(x)"},
      {"NonMaxSuppression", kSuppression},
      {"Not", "  a = Less(x, one)\n  y = Not(a)"},
      {"Or", "  a = Greater(x, one)\n  b = Less(x, one)\n  y = Or(a, b)"},
      {"Xor", "  a = Greater(x, one)\n  b = Less(x, one)\n  y = Xor(a, b)"},
      {"PRelu", "  const s: float32[4,1,1] = random(9)\n  y = PRelu(x, s)"},
      {"Pad", "  const p: int64[8] = {0, 1, 2, 0, 0, 0, 1, 3}\n  const v: float32[] = {2.5}\n  y = Pad(x, p, v)"},
      {"Pad",
       "  const p: int64[4] = {2, 1, 3, 0}\n  const a: int64[2] = {3, -2}\n  y = Pad(x, p, _, a) {mode = \"reflect\"}"},
      {"Pow", "  a = Abs(x)\n  y = Pow(a, one)"},
      {"Reciprocal", "  a = Exp(x)\n  y = Reciprocal(a)"},
      {"ReduceMax", "  const a: int64[1] = {1}\n  y = ReduceMax(x, a)"},
      {"ReduceMean", "  y = GlobalAveragePool(x)"},
      {"ReduceMin", "  const a: int64[2] = {-1, 1}\n  y = ReduceMin(x, a) {keepdims = 0}"},
      {"ReduceProd", "  const a: int64[1] = {1}\n  y = ReduceProd(x, a)"},
      {"ReduceSum", "  y = ReduceSum(x)"},
      {"Relu", "  y = Relu(x)"},
      {"Reshape", "  const s: int64[3] = {0, -1, 14}\n  y = Reshape(x, s)"},
      {"Round", "  y = Round(x)"},
      {"ScatterND", scatter_to_largest("none")},
      {"ScatterND", scatter_to_largest("add")},
      {"ScatterND", scatter_to_largest("max")},
      {"ScatterND", scatter_to_largest("min")},
      {"Shape", "  y = Shape(x)"},
      {"Sigmoid", "  y = Sigmoid(x)"},
      {"Sign", "  y = Sign(x)"},
      {"Sin", "  y = Sin(x)"},
      {"Slice", "  y = Slice(x, from, to, axis)"},
      {"Slice",
       "  const start: int64[2] = {-1, 5}\n  const end: int64[2] = {-100, 1}\n  const axes: int64[2] = {1, 3}\n  const "
       "steps: int64[2] = {-1, -2}\n  y = Slice(x, start, end, axes, steps)"},
      {"Softmax", "  y = Softmax(x) {axis = 1}"},
      {"Split", "  y, z = Split(x) {axis = 1, num_outputs = 2}\n  output z"},
      {"Split", "  const s: int64[2] = {3, 1}\n  y, z = Split(x, s) {axis = 1}\n  output z"},
      {"Sqrt", "  a = Abs(x)\n  y = Sqrt(a)"},
      {"Squeeze", "  const a: int64[1] = {0}\n  y = Squeeze(x, a)"},
      {"Sub", "  y = Sub(one, x)"},
      {"Sum", "  a = Neg(x)\n  y = Sum(x, a, one)"},
      {"Tanh", "  y = Tanh(x)"},
      {"Transpose", "  y = Transpose(x)"},
      {"Unsqueeze", "  const a: int64[2] = {1, -1}\n  y = Unsqueeze(x, a)"},
      {"nhwc.Conv",
       "  const w: float32[4,1,3,3] = random(1)\n  const b: float32[4] = random(2)\n  y = Conv(x, w, b) {group = 4, "
       "dilations = [2, 2], pads = [2, 2, 2, 2]}"},
      {"nhwc.Conv",
       "  const w: float32[4,1,3,3] = random(1)\n  y = Conv(x, w) {group = 4, dilations = [2, 2], pads = [1, 2, 0, "
       "3]}"},
      {"nhwc.BatchNormalization",
       "  const s: float32[4] = random(1)\n  const b: float32[4] = random(2)\n  const m: float32[4] = random(3)\n  "
       "const v: float32[4] = {1, 2, 0.5, 3}\n  y = BatchNormalization(x, s, b, m, v) {epsilon = 0.01}"},
      {"nhwc.ConvTranspose",
       "  const w: float32[4,3,4,4] = random(1)\n  y = ConvTranspose(x, w) {strides = [2, 2], pads = [1, 1, 1, 1]}"},
      {"BatchNormalization",
       "  const s: float32[4] = random(1)\n  const b: float32[4] = random(2)\n  const m: float32[4] = random(3)\n  "
       "const v: float32[4] = {1, 2, 0.5, 3}\n  const a: int64[2] = {2, 3}\n  r = ReduceMean(x, a) {keepdims = 0}\n  y "
       "= BatchNormalization(r, s, b, m, v)"},
      {"Acos", "  a = Sin(x)\n  y = Acos(a)"},
      {"Acosh", "  const two: float32[] = {4}\n  a = Add(x, two)\n  y = Acosh(a)"},
      {"Asin", "  a = Sin(x)\n  y = Asin(a)"},
      {"Asinh", "  y = Asinh(x)"},
      {"Atan", "  y = Atan(x)"},
      {"Atanh", "  const half: float32[] = {0.5}\n  a = Mul(x, half)\n  b = Sin(a)\n  y = Atanh(b)"},
      {"ConstantOfShape", "  s = Shape(x)\n  y = ConstantOfShape(s)"},
      {"Cosh", "  y = Cosh(x)"},
      {"CumSum", "  const a: int64[] = {2}\n  y = CumSum(x, a) {reverse = 1, exclusive = 1}"},
      {"Dropout", "  y = Dropout(x)"},
      {"Einsum", "  y = Einsum(x, x) {equation = \"nchw,nchw->nhw\"}"},
      {"Erf", "  y = Erf(x)"},
      {"GatherND", "  const at: int64[2,2] = {0, 3, 0, 1}\n  y = GatherND(x, at)"},
      {"IsInf", "  y = IsInf(x)"},
      {"IsNaN", "  y = IsNaN(x)"},
      {"Mish", "  y = Mish(x)"},
      {"Mod", "  a = Cast(x) {to = 7}\n  const three: int64[] = {3}\n  y = Mod(a, three)"},
      {"ArgMax", "  y = ArgMax(x) {axis = 1}"},
      {"Range", "  const n: float32[] = {4}\n  const d: float32[] = {0.5}\n  y = Range(one, n, d)"},
      {"ReduceL2", "  const a: int64[1] = {1}\n  y = ReduceL2(x, a)"},
      {"ReduceSumSquare", "  const a: int64[1] = {1}\n  y = ReduceSumSquare(x, a) {keepdims = 0}"},
      {"Selu", "  y = Selu(x)"},
      {"Shape", "  y = Shape(x) {start = 1, end = -1}"},
      {"Sinh", "  y = Sinh(x)"},
      {"Size", "  y = Size(x)"},
      {"Softplus", "  y = Softplus(x)"},
      {"Softsign", "  y = Softsign(x)"},
      {"Tan", "  y = Tan(x)"},
      {"Tile", "  const r: int64[4] = {1, 2, 1, 3}\n  y = Tile(x, r)"},
      {"TopK", "  const k: int64[1] = {3}\n  y, z = TopK(x, k)\n  output z"},
      {"Where", "  c = Greater(x, one)\n  y = Where(c, x, one)"}};
  return all;
}

std::string whole(const Case& one) {
  return std::string(kImage) +
         "  const one: float32[] = {1}\n  const from: int64[1] = {1}\n  const to: int64[1] = {7}\n  const axis: "
         "int64[1] = {3}\n" +
         one.body + "\n  output y";
}

TEST(TensorflowWrite, EveryOperatorComputesTheSameWhenReadBack) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.op);
    round_trip(whole(one));
  }
}

TEST(TensorflowWrite, EveryRowHasACase) {
  std::set<std::string> tried;
  for (const Case& one : cases()) tried.insert(one.op);
  for (const ExportRow& row : export_rows())
    EXPECT_EQ(tried.count(std::string(row.domain) + (*row.domain == 0 ? "" : ".") + row.op), 1u) << row.op;
}

// Bounds went through a double, which has no 2^63 - 1: the upper one became the least integer.
TEST(TensorflowWrite, BoundsOfIntegersAreExact) {
  for (const char* high : {"9223372036854775807", "9007199254740993", "5"}) {
    const Graph graph =
        read_back(graph_of(cat("  input x: int64[4]\n  const l: int64[] = {-9007199254740993}\n  const h: int64[] = {",
                               high, "}\n  y = Clip(x, l, h)\n  output y")));
    const std::vector<int64_t> values = {INT64_MIN, -9007199254740994, 3, INT64_MAX};
    const std::vector<int64_t> expected = {-9007199254740993, -9007199254740993, 3, std::stoll(high)};
    EXPECT_EQ(to_int64s(interpret(graph, {Tensor::of<int64_t>({4}, values)})[0]), expected) << high;
  }
}

constexpr const char* kNetwork = R"(  input x: float32[1,4,8,8]
  const w: float32[4,4,3,3] = random(1)
  const v: float32[4,1,3,3] = random(2)
  const six: float32[] = {6}
  const zero: float32[] = {0}
  const f: float32[3,4] = random(3)
  const g: float32[3] = random(4)
  const e: int64[2] = {2, 3}
  a = Conv(x, w) {pads = [1, 1, 1, 1]}
  b = Clip(a, zero, six)
  c = Conv(b, v) {group = 4, pads = [1, 1, 1, 1]}
  d = Add(c, b)
  r = Relu(d)
  m = ReduceMean(r, e) {keepdims = 0}
  y = Gemm(m, f, g) {transB = 1}
  output y)";

// The one transposition of its input meets the reader's own, and both go.
TEST(TensorflowWrite, ANetworkComesBackWithoutTransposes) {
  const Graph graph = round_trip(kNetwork), source = graph_of(kNetwork);
  EXPECT_EQ(ops_of(graph), "Conv Clip Conv Add Relu ReduceMean Gemm");
  EXPECT_TRUE(graph.constant(graph.find_value("w"))->identical(*source.constant(source.find_value("w"))));
  EXPECT_EQ(graph.value(graph.inputs[0]).type.text(), "float32[1,4,8,8]");
}

TEST(TensorflowWrite, AFileOfItsOwnIsAFixedPoint) {
  const Graph first = read_back(graph_of(kNetwork));
  const Graph second = read_back(first);
  EXPECT_EQ(join(graph_difference(first, second), "\n"), "");
  EXPECT_EQ(graphdef::to_files(first, {})[0].bytes.text(), graphdef::to_files(first, {})[0].bytes.text());
  const ModelFiles one = savedmodel::to_files(first, {}), two = savedmodel::to_files(first, {});
  for (size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].bytes.text(), two[i].bytes.text());
}

TEST(TensorflowWrite, ParametersOfASavedModelAreVariables) {
  const ModelFiles files = savedmodel::to_files(graph_of(kNetwork), {});
  ASSERT_EQ(files.size(), 3u);
  SavedModel model;
  ASSERT_TRUE(model.ParseFromString(files[0].bytes.text()));
  std::vector<std::string> variables;
  for (const NodeDef& node : model.meta_graphs(0).graph_def().node()) {
    if (node.op() == "VarHandleOp") variables.push_back(node.name());
  }
  EXPECT_EQ(join(variables), "w, v, f, g");
  EXPECT_EQ(model.meta_graphs(0).collection_def().at("trainable_variables").bytes_list().value_size(), 4);
  EXPECT_LT(files[0].bytes.size(), 20000u);
}

TEST(TensorflowWrite, MetadataSurvives) {
  Graph graph = graph_of("  input x: float32[batch,3]\n  y = Relu(x)\n  output y");
  graph.metadata = {{"labels", "cat\ndog"}, {"dnn-tools.certificate", "{}"}};
  const Graph again = read_back(graph);
  EXPECT_EQ(again.value(again.inputs[0]).type.text(), "float32[batch,3]");
  EXPECT_EQ(again.metadata.size(), 2u);
  EXPECT_EQ(again.metadata.back(), (std::pair<std::string, std::string>{"labels", "cat\ndog"}));
}

TEST(TensorflowWrite, NamesAreThoseThatTensorFlowTakes) {
  const Graph again =
      read_back(graph_of("  input \"x:0\": float32[2,3]\n  const \"/fc/w\": float32[3,2] = random(1)\n  const \"b b\": "
                         "float32[2] = random(2)\n  "
                         "\"/fc/Gemm_output_0\" = Gemm(\"x:0\", \"/fc/w\", \"b b\") @\"/fc/Gemm\"\n  y = "
                         "Relu(\"/fc/Gemm_output_0\")\n  output y"));
  EXPECT_NE(again.find_value("x_0"), kNoValue);
  EXPECT_NE(again.find_value("fc/w"), kNoValue);
  EXPECT_NE(again.find_value("b_b"), kNoValue);
  EXPECT_NE(again.find_value("fc/Gemm_output_0"), kNoValue);
  EXPECT_EQ(again.node(again.order()[0]).name, "fc/Gemm");
}

TEST(TensorflowWrite, NoNameBeginsWithWhatTensorFlowTakesOnlyLater) {
  const Graph again = read_back(
      graph_of("  input x: float32[2]\n  \"\u00e9t\u00e9\" = Relu(x)\n  _y = Neg(\"\u00e9t\u00e9\")\n  \"\u00e9\" = "
               "Exp(_y)\n  y = Abs(\"\u00e9\")\n  output y"));
  EXPECT_NE(again.find_value("t__"), kNoValue);
}

TEST(TensorflowWrite, AnOutputThatIsReadOnIsStillOne) {
  const Graph again = round_trip("  input x: float32[2,3]\n  a = Relu(x)\n  b = Neg(a)\n  output a\n  output b");
  EXPECT_EQ(again.outputs.size(), 2u);
}

void expect_not_written(const std::string& body, const std::string& message) {
  try {
    graphdef::to_files(graph_of(body), {});
    ADD_FAILURE() << "written: " << body;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Unsupported);
    EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
  }
}

TEST(TensorflowWrite, WhatItCannotExpressIsRefusedByName) {
  expect_not_written("  input x: float32[2,2]\n  y = Det(x) @linear/det\n  output y",
                     "node 'linear/det' (Det) has no counterpart in TensorFlow");
  expect_not_written(
      "  input x: float32[1,2,4,4]\n  y, i = MaxPool(x) @pool {kernel_shape = [2, 2], storage_order = 1}\n  output y\n "
      " output i",
      "node 'pool'");
  expect_not_written(
      "  input x: float32[1,2,h,w]\n  y = AveragePool(x) @c {kernel_shape = [3, 3], pads = [1, 1, 1, 1]}\n  output y",
      "fix them with --shape");
  expect_not_written("  input x: float32[2]\n  y = IsInf(x) @i {detect_negative = 0}\n  output y",
                     "infinities of one sign");
  expect_not_written("  input x: float32[2,2]\n  y = Einsum(x, x, x) @e {equation = \"ij,jk,kl->il\"}\n  output y",
                     "two operands");
}

// By a quotient of extents that is not the node's factor other places are interpolated, and other elements may be the nearest.
TEST(TensorflowWrite, AFactorThatIsNoQuotientOfExtentsIsRefused) {
  const auto resize = [](const char* size, const char* how) {
    return cat("  input x: float32[1,1,", size,
               "]\n  const s: float32[4] = {1, 1, 1.5, 1.5}\n  y = Resize(x, _, s) @r {", how, "}\n  output y");
  };
  for (const char* at : {"asymmetric", "half_pixel"}) {
    const std::string linear = cat("mode = \"linear\", coordinate_transformation_mode = \"", at, "\"");
    expect_not_written(resize("13,6", linear.c_str()), "a factor of 1.5 for 13 elements, which become 19");
    round_trip(resize("12,6", linear.c_str()));
  }
  round_trip(resize("13,7", "nearest_mode = \"floor\", coordinate_transformation_mode = \"asymmetric\""));
  expect_not_written(resize("3,7", "nearest_mode = \"ceil\", coordinate_transformation_mode = \"asymmetric\""),
                     "nearest elements by ceil");
}

// FusedBatchNormV3 has float32 parameters beside data of 16 bits and takes no float64; ResizeBilinear makes float32 of all.
TEST(TensorflowWrite, TypesAreThoseOfTensorFlowsRegister) {
  for (const char* type : {"float16", "bfloat16", "float64"}) {
    SCOPED_TRACE(type);
    const bool wide = std::string(type) == "float64";
    std::string text =
        "  input x: TYPE[1,2,3,4]\n  const p: TYPE[2] = {0.5, 2}\n  y = BatchNormalization(x, p, p, p, p)\n  output y";
    if (!wide) text += "\n  const s: float32[4] = {1, 1, 2, 2}\n  z = Resize(x, _, s) {mode = \"linear\"}\n  output z";
    for (size_t at = text.find("TYPE"); at != std::string::npos; at = text.find("TYPE")) text.replace(at, 4, type);
    const Graph graph = graph_of(text), again = read_back(graph);
    GraphDef def;
    ASSERT_TRUE(def.ParseFromString(graphdef::to_files(graph, {})[0].bytes.text()));
    for (const NodeDef& node : def.node()) {
      EXPECT_TRUE(node.op() != "FusedBatchNormV3" || (!wide && node.attr().at("U").type() == DT_FLOAT));
      EXPECT_TRUE(node.op() != "Cast" || node.attr().at("SrcT").type() == DT_FLOAT);
    }
    const Tensor x = random_tensor(graph.value(graph.inputs[0]).type.dtype, {1, 2, 3, 4}, 7);
    const std::vector<Tensor> ours = interpret(graph, {x}), theirs = interpret(again, {x});
    for (size_t i = 0; i < ours.size(); ++i) {
      EXPECT_EQ(theirs[i].dtype(), ours[i].dtype());
      const std::vector<double> a = to_doubles(ours[i]), b = to_doubles(theirs[i]);
      for (size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], wide ? 1e-15 : 2e-2);
    }
  }
  expect_not_written(
      "  input x: float64[1,2,3,4]\n  const s: float32[4] = {1, 1, 2, 2}\n  y = Resize(x, _, s) @r {mode = "
      "\"linear\"}\n  output y",
      "linear resizing of float64");
}

// Open height and width need no extents where SAME, or a border of its own, says it all.
TEST(TensorflowWrite, OpenExtentsNeedNoShape) {
  const Graph again =
      read_back(graph_of("  input x: float32[1,2,h,w]\n  const w: float32[3,2,3,3] = random(1)\n  a = Conv(x, w) {pads "
                         "= [1, 1, 1, 1]}\n  y = MaxPool(a) "
                         "{kernel_shape = [3, 3], strides = [2, 2], auto_pad = \"SAME_UPPER\"}\n  output y"));
  EXPECT_EQ(ops_of(again), "Conv MaxPool");
}

// A class token that is repeated for an open batch: -1 is no extent of BroadcastTo's.
TEST(TensorflowWrite, AConstantIsRepeatedForAnOpenBatch) {
  const Graph again = read_back(
      graph_of("  input x: float32[N,3,4]\n  const c: float32[1,1,4] = {0, 1, 2, 3}\n  const i0: int64[1] = {0}\n"
               "  const i1: int64[1] = {1}\n  const rest: int64[2] = {1, 4}\n  s = Shape(x)\n  n = Slice(s, i0, i1)\n"
               "  e = Concat(n, rest) {axis = 0}\n  t = Expand(c, e)\n  y = Concat(t, x) {axis = 1}\n  output y"));
  const Tensor y = interpret(again, {Tensor(DType::Float32, {2, 3, 4})})[0];
  EXPECT_EQ(y.shape(), (Shape{2, 4, 4}));
  EXPECT_EQ(to_doubles(y)[19], 3);
}

}  // namespace
}  // namespace dnn::tensorflow
