// Writing TFLite: every row of exports.def computes what the IR says when it is read back; names, extents, activations
// and refusals.
#include <gtest/gtest.h>

#include <set>

#include "formats/tflite/export.h"
#include "graph/diff.h"
#include "graph_case.h"
#include "unit/formats/tflite/model_builder.h"
#include "unit/formats/written_nodes.h"

namespace dnn::tflite {
namespace {

// Written and read again, the graph gives the same outputs, but for the last bits.
Graph round_trip(const std::string& body) {
  const Graph graph = graph_of(body);
  Graph again = read_bytes(bytes_of(graph));
  const std::vector<dnn::Tensor> inputs = ramps(graph), before = interpret(graph, inputs),
                                 now = interpret(again, inputs);
  EXPECT_EQ(before.size(), now.size());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].shape(), now[i].shape()) << body;
    EXPECT_EQ(before[i].dtype(), now[i].dtype()) << body;
    const std::vector<double> a = to_doubles(before[i]), b = to_doubles(now[i]);
    for (size_t k = 0; k < a.size() && k < b.size(); ++k) EXPECT_NEAR(a[k], b[k], 2e-6 * (1 + std::abs(a[k]))) << body;
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    EXPECT_EQ(graph.value(graph.outputs[i]).name, again.value(again.outputs[i]).name);
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
      {"Tile", "  const r: int64[4] = {1, 2, 1, 3}\n  y = Tile(x, r)"},
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
      {"CumSum", "  const a: int64[] = {-2}\n  y = CumSum(x, a) {exclusive = 1, reverse = 1}"},
      {"DequantizeLinear",
       "  const s: float32[] = {0.25}\n  const z: uint8[] = {3}\n  q = QuantizeLinear(x, s, z)\n  d = "
       "DequantizeLinear(q, s, z)\n  y = Exp(d)"},
      {"Div", "  const c: float32[7] = {1, 2, 3, 4, 5, 6, 7}\n  y = Div(x, c)"},
      {"Elu", "  y = Elu(x)"},
      {"Equal", "  y = Equal(x, one)"},
      {"Exp", "  y = Exp(x)"},
      {"Expand", "  const size: int64[5] = {2, 1, 4, 6, 7}\n  y = Expand(x, size)"},
      {"Flatten", "  y = Flatten(x) {axis = 2}"},
      {"Floor", "  y = Floor(x)"},
      {"Gather", "  const at: int64[3] = {3, 0, -1}\n  y = Gather(x, at) {axis = 1}"},
      {"GatherND", "  const at: int64[3,2] = {0, 1, -1, -2, 0, 3}\n  y = GatherND(x, at)"},
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
      {"Mish", "  y = Mish(x)"},
      {"Softplus", "  y = Softplus(x)"},
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
      {"QuantizeLinear", "  const s: float32[] = {0.25}\n  const z: int8[] = {3}\n  y = QuantizeLinear(x, s, z)"},
      {"Reciprocal", "  a = Exp(x)\n  y = Reciprocal(a)"},
      {"ReduceMax", "  const a: int64[1] = {1}\n  y = ReduceMax(x, a)"},
      {"ReduceMean", "  y = GlobalAveragePool(x)"},
      {"ReduceMin", "  const a: int64[2] = {-1, 1}\n  y = ReduceMin(x, a) {keepdims = 0}"},
      {"ReduceProd", "  const a: int64[1] = {1}\n  y = ReduceProd(x, a)"},
      {"ReduceSum", "  y = ReduceSum(x)"},
      {"Relu", "  y = Relu(x)"},
      {"Reshape", "  const s: int64[3] = {0, -1, 14}\n  y = Reshape(x, s)"},
      {"ReverseSequence", "  const n: int64[1] = {3}\n  y = ReverseSequence(x, n) {batch_axis = 0, time_axis = 1}"},
      {"Round", "  y = Round(x)"},
      {"ScatterND", scatter_to_largest("none")},
      {"ScatterND", scatter_to_largest("add")},
      {"ScatterND", scatter_to_largest("mul")},
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
      {"TopK", "  const k: int64[1] = {3}\n  y, z = TopK(x, k)\n  output z"},
      {"TopK", "  const k: int64[1] = {2}\n  y, z = TopK(x, k) {largest = 0}\n  output z"},
      {"Transpose", "  y = Transpose(x)"},
      {"Unsqueeze", "  const a: int64[2] = {1, -1}\n  y = Unsqueeze(x, a)"},
      {"Where", "  c = Greater(x, one)\n  y = Where(c, x, one)"}};
  return all;
}

std::string whole(const Case& one) {
  return std::string(kImage) +
         "  const one: float32[] = {1}\n  const from: int64[1] = {1}\n  const to: int64[1] = {7}\n  const axis: "
         "int64[1] = {3}\n" +
         one.body + "\n  output y";
}

TEST(TfliteWrite, EveryOperatorComputesTheSameWhenReadBack) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.op);
    round_trip(whole(one));
  }
}

TEST(TfliteWrite, EveryRowHasACase) {
  std::set<std::string> tried;
  for (const Case& one : cases()) tried.insert(one.op);
  for (const ExportRow& row : export_rows())
    EXPECT_EQ(tried.count(std::string(row.domain) + (*row.domain == 0 ? "" : ".") + row.op), 1u) << row.op;
}

constexpr const char* kNetwork = R"(  input x: float32[1,4,8,8]
  const w: float32[4,4,3,3] = random(1)
  const v: float32[4,1,3,3] = random(2)
  const six: float32[] = {6}
  const zero: float32[] = {0}
  const f: float32[3,4] = random(3)
  const e: int64[2] = {2, 3}
  a = Conv(x, w) {pads = [1, 1, 1, 1]}
  b = Clip(a, zero, six)
  c = Conv(b, v) {group = 4, pads = [1, 1, 1, 1]}
  d = Add(c, b)
  r = Relu(d)
  m = ReduceMean(r, e) {keepdims = 0}
  y = Gemm(m, f) {transB = 1}
  output y)";

// The one transposition of its input meets the reader's own, and both go.
TEST(TfliteWrite, ANetworkComesBackWithoutTransposes) {
  const Graph graph = round_trip(kNetwork), source = graph_of(kNetwork);
  EXPECT_EQ(ops_of(graph), "Conv Clip Conv Add Relu ReduceMean Gemm");
  EXPECT_TRUE(graph.constant(graph.find_value("w"))->identical(*source.constant(source.find_value("w"))));
  EXPECT_EQ(graph.value(graph.inputs[0]).type.text(), "float32[1,4,8,8]");
}

TEST(TfliteWrite, AFileOfItsOwnIsAFixedPoint) {
  const Graph first = read_bytes(bytes_of(graph_of(kNetwork)));
  const Graph second = read_bytes(bytes_of(first));
  EXPECT_EQ(join(graph_difference(first, second), "\n"), "");
  EXPECT_EQ(bytes_of(first), bytes_of(first));
}

TEST(TfliteWrite, OpenExtentsStayOpen) {
  const Graph graph = graph_of("  input x: float32[batch,3]\n  y = Relu(x)\n  output y");
  EXPECT_EQ(read_bytes(bytes_of(graph)).value(0).type.text(), "float32[batch,3]");
}

// TFLite's kernels copy bytes where an operator's input and output should be of one type, so these must be.
constexpr const char* kLongIntegers = R"(  input x: int64[2,3]
  input at: int64[2]
  const shape: int64[1] = {6}
  const column: int64[2] = {2, 1}
  const rows: float32[4,2] = random(1)
  r = Reshape(x, shape)
  f = Cast(r) {to = 1}
  g = Gather(rows, at)
  n = Reshape(at, column)
  m = Mul(r, r)
  c = Cast(f) {to = 7}
  d = Neg(c)
  output f
  output g
  output n
  output m
  output c
  output d)";

TEST(TfliteWrite, LongIntegersOfInputsAndOutputsAreCast) {
  const Graph first = round_trip(kLongIntegers), second = read_bytes(bytes_of(first));
  EXPECT_EQ(join(graph_difference(first, second), "\n"), "");
  const std::string file = bytes_of(graph_of(kLongIntegers));
  const Model* model = GetModel(file.data());
  const SubGraph* graph = model->subgraphs()->Get(0);
  for (const Operator* op : *graph->operators()) {
    const int code = model->operator_codes()->Get(op->opcode_index())->deprecated_builtin_code();
    const auto type = [&](int32_t tensor) { return graph->tensors()->Get(static_cast<unsigned>(tensor))->type(); };
    if (code == 53 || code == 36) continue;          // CAST, GATHER
    const bool decides = code == 58 || code == 123;  // LESS, SELECT_V2: an index from the back
    EXPECT_TRUE(decides || type(op->inputs()->Get(0)) == type(op->outputs()->Get(0))) << "operator " << code;
    EXPECT_NE(type(op->outputs()->Get(0)), TensorType::INT64) << "operator " << code;
  }
  for (int32_t input : *graph->inputs())
    EXPECT_EQ(graph->tensors()->Get(static_cast<unsigned>(input))->type(), TensorType::INT64);
}

// Integers of 64 bits are computed in 32. A constant beyond them made a file of operands of two types, which no kernel takes.
TEST(TfliteWrite, LongIntegersAreOfOneType) {
  const char* const bounds[] = {"const h: int64[] = {9223372036854775807}\n  y = Clip(x, _, h)",
                                "const h: int64[] = {-9223372036854775808}\n  y = Clip(x, h)",
                                "const h: int64[1] = {1099511627776}\n  y = Min(x, h)",
                                "const h: int64[3] = {-1, -1099511627776, 5}\n  y = Max(h, x)"};
  for (const char* body : bounds) {
    const Graph source = graph_of(cat("  input x: int64[2,3]\n  ", body, "\n  output y"));
    const std::vector<dnn::Tensor> x = {dnn::Tensor::of<int64_t>({2, 3}, {-3, 7, 0, 2, 9, -1})};
    EXPECT_EQ(to_int64s(interpret(read_bytes(bytes_of(source)), x)[0]), to_int64s(interpret(source, x)[0])) << body;
  }
  for (const char* op : {"Add(x, h)", "Where(c, x, h)", "Less(x, h)"}) {
    try {
      bytes_of(graph_of(cat("  input x: int64[2,3]\n  input c: bool[2,3]\n  const h: int64[] = {2147483648}\n  y = ",
                            op, "\n  output y")));
      ADD_FAILURE() << op << " is not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
      EXPECT_NE(std::string(error.what()).find("constant \"h\": integers of 64 bits"), std::string::npos)
          << error.what();
    }
  }
  const Graph out = read_bytes(bytes_of(graph_of(
      "  input x: int64[1]\n  const c: int64[1] = {3}\n  const h: int64[1] = {1099511627776}\n  y = Add(x, c)\n"
      "  output y\n  output c\n  output h")));
  for (ValueId v : out.outputs) EXPECT_EQ(out.value(v).type.text(), "int64[1]");
}

// RELU and its kind fail on integers in tf.lite 2.21: "Only float32, uint8, int8 and int16 are supported".
TEST(TfliteWrite, BoundsOfIntegersAreMaximumAndMinimum) {
  for (const char* body :
       {"y = Clip(x, a)", "y = Clip(x, a, b)", "y = Clip(x, c, d)", "y = Clip(x, _, d)", "y = Clip(x)"}) {
    const Graph source = graph_of(
        cat("  input x: int32[2,3]\n  const a: int32[] = {0}\n  const b: int32[] = {6}\n  const c: int32[] = {-1}\n"
            "  const d: int32[] = {1}\n  ",
            body, "\n  output y"));
    const std::string file = bytes_of(source);
    const Model* model = GetModel(file.data());
    for (const Operator* op : *model->subgraphs()->Get(0)->operators()) {
      const int code = model->operator_codes()->Get(op->opcode_index())->deprecated_builtin_code();
      EXPECT_TRUE(code == 55 || code == 57) << body << ": operator " << code;
    }
    const std::vector<dnn::Tensor> x = {dnn::Tensor::of<int32_t>({2, 3}, {-3, 7, 0, 2, 9, -1})};
    EXPECT_EQ(to_int64s(interpret(read_bytes(file), x)[0]), to_int64s(interpret(source, x)[0])) << body;
  }
}

// LiteRT's XNNPACK computes convolutions of nothing under SAME where windows are narrower than their strides and leave elements out.
TEST(TfliteWrite, WindowsThatLeaveElementsOutStandBehindABorder) {
  const auto codes = [](const char* attributes) {
    const std::string file = bytes_of(
        graph_of(cat("  input x: float32[1,2,3,2]\n  const w: float32[1,2,3,1] = random(1)\n  y = Conv(x, w) {",
                     attributes, "}\n  output y")));
    const Model* model = GetModel(file.data());
    std::set<int> found;
    for (const Operator* op : *model->subgraphs()->Get(0)->operators())
      found.insert(model->operator_codes()->Get(op->opcode_index())->deprecated_builtin_code());
    return std::pair(found.count(34) != 0, found.count(3) != 0);  // PAD, CONV_2D
  };
  EXPECT_EQ(codes("pads = [1, 0, 1, 0], strides = [2, 2]"), std::pair(true, true));
  EXPECT_EQ(codes("pads = [1, 0, 1, 0], strides = [2, 1]"), std::pair(false, true));
  EXPECT_EQ(codes("pads = [0, 0, 0, 0], strides = [1, 2]"), std::pair(false, true));
}

// A Cast reads what was computed, not the wide tensor that is made of it at the end.
TEST(TfliteWrite, AComputedLongIntegerIsAnOutputAndCast) {
  const Graph read = round_trip(R"(  input x: int64[2,3]
  u = Add(x, x)
  f = Cast(u) {to = 1}
  output u
  output f)");
  const dnn::Tensor x = dnn::Tensor::of<int64_t>({2, 3}, {1, -2, 3, 4, 5, -6});
  const std::vector<dnn::Tensor> outputs = interpret(read, {x});
  EXPECT_TRUE(outputs[0].identical(dnn::Tensor::of<int64_t>({2, 3}, {2, -4, 6, 8, 10, -12})));
  EXPECT_TRUE(outputs[1].identical(dnn::Tensor::of<float>({2, 3}, {2, -4, 6, 8, 10, -12})));
}

void expect_refusal(const std::string& body, const std::string& message) {
  try {
    bytes_of(graph_of(body));
    ADD_FAILURE() << "written: " << body;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Unsupported);
    EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
  }
}

TEST(TfliteWrite, WhatItCannotExpressIsRefusedByName) {
  expect_refusal("  input x: float32[2]\n  y = Erf(x) @gelu/erf\n  output y",
                 "node 'gelu/erf' (Erf) has no counterpart in TFLite");
  expect_refusal(
      "  input x: float32[1,2,4,4]\n  y, i = MaxPool(x) @pool {kernel_shape = [2, 2], storage_order = 1}\n  output y\n "
      " output i",
      "node 'pool'");
  expect_refusal(
      "  input x: float32[1,2,h,w]\n  const w: float32[2,2,3,3] = random(1)\n  y = Conv(x, w) @c\n  output y",
      "fix them with --shape");
  // TFLite's kernels have no other floats; a Cast from and to them is one of its operators.
  expect_refusal("  input x: float16[2]\n  y = Relu(x) @r\n  output y",
                 "node 'r' (Relu) computes in float16, and TFLite in float32; --dtype float32 writes it so");
  expect_refusal("  input x: float64[2]\n  y = Relu(x) @r\n  output y", "node 'r' (Relu) computes in float64");
}

}  // namespace
}  // namespace dnn::tflite
