// Writing quantised graphs: which operators compute on integers, in which scales, and that reading gives the graph back.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "formats/tflite/export.h"
#include "graph/diff.h"
#include "graph_case.h"
#include "unit/formats/tflite/model_builder.h"

namespace dnn::tflite {
namespace {

// The file's operators, by their codes.
std::string codes_of(const std::string& file) {
  const Model* model = GetModel(file.data());
  std::vector<std::string> codes;
  for (const Operator* op : *model->subgraphs()->Get(0)->operators())
    codes.push_back(cat(model->operator_codes()->Get(op->opcode_index())->builtin_code()));
  return join(codes, " ");
}

const Tensor* tensor_of(const std::string& file, const std::string& name) {
  for (const Tensor* tensor : *GetModel(file.data())->subgraphs()->Get(0)->tensors()) {
    if (tensor->name()->str() == name) return tensor;
  }
  return nullptr;
}

// Written and read again, the graph gives the same bits.
std::string file_of_round_trip(const std::string& body) {
  const Graph graph = graph_of(body);
  std::string file = bytes_of(graph);
  const Graph again = read_bytes(file);
  const std::vector<dnn::Tensor> inputs = ramps(graph), before = interpret(graph, inputs),
                                 now = interpret(again, inputs);
  EXPECT_EQ(before.size(), now.size());
  for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(before[i].identical(now[i])) << to_text(again);
  return file;
}

constexpr const char* kHead = R"(  input x: float32[1,4,5,5]
  const s: float32[] = {0.03}
  const z: int8[] = {-3}
  const s2: float32[] = {0.05}
  const z2: int8[] = {7}
  const w: int8[6,4,3,3] = random(1)
  const ws: float32[6] = {0.01, 0.02, 0.015, 0.03, 0.01, 0.04}
  const wz: int8[6] = {0, 0, 0, 0, 0, 0}
  const b: int32[6] = {100, -200, 50, 0, 7, 12}
  const bs: float32[6] = {0.0003, 0.0006, 0.00045, 0.0009, 0.0003, 0.0012}
  const low: float32[] = {0}
  const high: float32[] = {6}
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  dw = DequantizeLinear(w, ws, wz) {axis = 0}
  db = DequantizeLinear(b, bs) {axis = 0}
)";

TEST(TfliteQuantized, AConvolutionComputesOnIntegers) {
  const std::string file = file_of_round_trip(std::string(kHead) + R"(  c = Conv(d, dw, db) @conv {pads = [1, 1, 1, 1]}
  r = Clip(c, low, high)
  q2 = QuantizeLinear(r, s2, z2)
  y = DequantizeLinear(q2, s2, z2)
  output y
)");
  EXPECT_EQ(codes_of(file), "114 39 3 39 6");  // QUANTIZE TRANSPOSE CONV_2D TRANSPOSE DEQUANTIZE
  ASSERT_NE(tensor_of(file, "w"), nullptr);
  EXPECT_EQ(tensor_of(file, "w")->type(), TensorType::INT8);
  EXPECT_EQ(tensor_of(file, "w")->quantization()->scale()->size(), 6u);
  EXPECT_EQ(tensor_of(file, "w")->quantization()->quantized_dimension(), 0);
  EXPECT_EQ(tensor_of(file, "b")->type(), TensorType::INT32);
  EXPECT_EQ(tensor_of(file, "q2")->quantization()->zero_point()->Get(0), 7);
}

// A chain of what moves, each between a pair of one scale: pair after pair goes, and all that is read is still made.
TEST(TfliteQuantized, ChainsOfMovesStayWhole) {
  const std::string file = file_of_round_trip(std::string(kHead) + R"(  const sh: int64[3] = {1, 6, 9}
  const k: int8[1,1,6] = random(3)
  c = Conv(d, dw, db) @conv
  q2 = QuantizeLinear(c, s2, z2)
  e = DequantizeLinear(q2, s2, z2)
  r = Reshape(e, sh)
  q3 = QuantizeLinear(r, s2, z2)
  f = DequantizeLinear(q3, s2, z2)
  t = Transpose(f) {perm = [0, 2, 1]}
  q4 = QuantizeLinear(t, s2, z2)
  g = DequantizeLinear(q4, s2, z2)
  h = DequantizeLinear(k, s2, z2)
  j = Concat(h, g) {axis = 1}
  q5 = QuantizeLinear(j, s2, z2)
  y = DequantizeLinear(q5, s2, z2)
  output y
)");
  EXPECT_NE(tensor_of(file, "q4"), nullptr);
}

// TFLite has no DEPTH_TO_SPACE (5) of int16: its input comes through DEQUANTIZE (6), and QUANTIZE (114) stands behind it.
TEST(TfliteQuantized, WhatMovesNoLongIntegersMovesRealNumbers) {
  const auto codes = [](const char* type) {
    return codes_of(file_of_round_trip(cat("  input x: float32[1,4,4,4]\n  const s: float32[] = {0.03}\n  const z: ",
                                           type, "[] = {0}\n", R"(  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  b = DepthToSpace(d) {blocksize = 2}
  r = QuantizeLinear(b, s, z)
  y = DequantizeLinear(r, s, z)
  output y
)")));
  };
  const std::string bytes = codes("int8"), longs = codes("int16");
  EXPECT_LT(bytes.find(" 5 "), bytes.find(" 6")) << bytes;
  EXPECT_LT(longs.find(" 6 "), longs.find(" 5 ")) << longs;
}

TEST(TfliteQuantized, DepthwiseWeightsKeepAScalePerChannel) {
  const std::string file = file_of_round_trip(R"(  input x: int8[1,2,4,4]
  const s: float32[] = {0.03}
  const z: int8[] = {-3}
  const w: int8[2,1,3,3] = random(1)
  const ws: float32[2] = {0.01, 0.02}
  d = DequantizeLinear(x, s, z)
  dw = DequantizeLinear(w, ws) {axis = 0}
  c = Conv(d, dw) @conv {group = 2}
  y = QuantizeLinear(c, s, z)
  output y
)");
  EXPECT_EQ(codes_of(file), "39 4 39");
  EXPECT_EQ(tensor_of(file, "w")->quantization()->quantized_dimension(), 3);
}

TEST(TfliteQuantized, ScalesThatTheFormatWantsAreBroughtAbout) {
  // A pooling to another scale; a softmax whose own is 1 / 256; parts of a Concat in different ones; Reshape and Pad.
  const std::string file = file_of_round_trip(R"(  input x: int8[1,4,4,4]
  const s: float32[] = {0.03}
  const z: int8[] = {-3}
  const s2: float32[] = {0.0125}
  const z2: int8[] = {9}
  const shape: int64[2] = {1, -1}
  const pads: int64[8] = {0, 0, 1, 1, 0, 0, 1, 1}
  d = DequantizeLinear(x, s, z)
  m = MaxPool(d) @pool {kernel_shape = [2, 2], strides = [2, 2]}
  q = QuantizeLinear(m, s2, z2)
  e = DequantizeLinear(q, s2, z2)
  p = Pad(e, pads)
  p2 = QuantizeLinear(p, s2, z2)
  p3 = DequantizeLinear(p2, s2, z2)
  k = Concat(p3, d) {axis = 1}
  k2 = QuantizeLinear(k, s, z)
  k3 = DequantizeLinear(k2, s, z)
  r0 = Reshape(k3, shape)
  t = Softmax(r0) {axis = 1}
  y = QuantizeLinear(t, s2, z2)
  output y
)");
  // TRANSPOSE MAX_POOL QUANTIZE TRANSPOSE PAD QUANTIZE CONCATENATION RESHAPE SOFTMAX QUANTIZE
  EXPECT_EQ(codes_of(file), "39 17 114 39 34 114 2 22 25 114");
}

TEST(TfliteQuantized, WhatComputesOnRealNumbersStandsBetweenConversions) {
  const std::string file = file_of_round_trip(R"(  input x: int8[2,6]
  const s: float32[] = {0.03}
  const z: int8[] = {-3}
  d = DequantizeLinear(x, s, z)
  e = Exp(d)
  y = QuantizeLinear(e, s, z)
  const one: float32[6] = {1, 2, 3, 4, 5, 6}
  a = Add(d, one)
  v = QuantizeLinear(a, s, z)
  output y
  output v
)");
  // A power may be infinite: MAXIMUM and MINIMUM keep it where QUANTIZE is defined.
  EXPECT_EQ(codes_of(file), "6 47 55 57 114 0 114");
}

TEST(TfliteQuantized, InfinityIsBoundedBehindWhatPassesItOn) {
  const auto codes = [](const std::string& behind) {
    return codes_of(
        file_of_round_trip(cat("  input x: int8[2,6]\n  const s: float32[] = {0.03}\n  const z: int8[] = {-3}\n"
                               "  d = DequantizeLinear(x, s, z)\n  r = Exp(d)\n  a = ",
                               behind, "\n  y = QuantizeLinear(a, s, z)\n  output y\n")));
  };
  EXPECT_EQ(codes("Relu(r)"), "6 47 19 55 57 114");
  EXPECT_EQ(codes("Tanh(r)").find("55 57"), std::string::npos);  // ends within -1..1
}

// Beside int8 kernels that compute otherwise than the graph says stand real numbers. The numbers are what TFLite 2.21 gives for
// the written file: its default kernels (XNNPACK), its own without a delegate, and its reference kernels.
void expect_in_tflite(const std::string& body, const std::string& codes, const std::vector<int8_t>& expected) {
  const Graph graph = graph_of(body);
  const std::string file = bytes_of(graph);
  EXPECT_EQ(codes_of(file), codes);
  const std::vector<int8_t> a = {10, -20, 30, 40, -50, 60}, b = {5, -15, 25, -35, 45, -55};
  const Graph again = read_bytes(file);
  std::vector<dnn::Tensor> inputs;
  for (ValueId v : again.inputs) {
    Shape shape;
    for (const Dim& dim : *again.value(v).type.shape) shape.push_back(dim.size);
    inputs.push_back(dnn::Tensor::of<int8_t>(shape, inputs.empty() ? a : b));
  }
  for (const Graph& each : {graph, again}) {
    const dnn::Tensor y = interpret(each, inputs).at(0);
    EXPECT_EQ(std::vector<int8_t>(y.values<int8_t>().begin(), y.values<int8_t>().end()), expected) << body;
  }
}

// XNNPACK's BATCH_MATMUL takes the second operand's zero point for 0: beside one of 7 it gave the first row's numbers.
TEST(TfliteQuantized, AFactorWithAZeroPointIsMultipliedAsReal) {
  const auto product = [](const char* zero) {
    return cat(R"(  input x: int8[1,2,3]
  input x2: int8[1,3,2]
  const s: float32[] = {0.03}
  const z: int8[] = {-3}
  const zb: int8[] = {)",
               zero, R"(}
  const s2: float32[] = {0.05}
  d = DequantizeLinear(x, s, z)
  e = DequantizeLinear(x2, s, zb)
  m = MatMul(d, e)
  y = QuantizeLinear(m, s2, z)
  output y)");
  };
  expect_in_tflite(product("0"), "126", {17, -28, 31, -47});
  expect_in_tflite(product("7"), "6 6 126 114", {14, -32, 23, -55});
}

// In steps of 1 / 256 the smaller ones of 197 attention weights are all alike.
TEST(TfliteQuantized, WhatAFixedScaleWouldRoundAwayIsReal) {
  const auto softmax = [](const char* scale) {
    return cat(R"(  input x: int8[1,6]
  const s: float32[] = {0.03}
  const z: int8[] = {-3}
  const low: int8[] = {-128}
  const fine: float32[] = {)",
               scale, R"(}
  d = DequantizeLinear(x, s, z)
  t = Softmax(d)
  y = QuantizeLinear(t, fine, low)
  output y)");
  };
  expect_in_tflite(softmax("0.002"), "6 25 114", {-80, -108, -40, -9, -120, 89});
  EXPECT_EQ(codes_of(bytes_of(graph_of(softmax("0.00390625")))), "25");
  EXPECT_EQ(codes_of(bytes_of(graph_of(softmax("0.0045")))), "25 114");
}

// The reference kernel of SUM on integers gives other numbers: -79 here.
TEST(TfliteQuantized, ASumIsOfRealNumbers) {
  expect_in_tflite(R"(  input x: int8[1,6]
  const s: float32[] = {0.03}
  const z: int8[] = {-3}
  const s2: float32[] = {0.1}
  const axes: int64[1] = {1}
  d = DequantizeLinear(x, s, z)
  t = ReduceSum(d, axes) {keepdims = 0}
  y = QuantizeLinear(t, s2, z)
  output y)",
                   "6 74 114", {23});
}

// The format's kernels round a real input that meets int8 weights, so DEQUANTIZE has to stand between where the graph does not.
TEST(TfliteQuantized, WeightsAloneAreDequantizedInFront) {
  const std::string file = file_of_round_trip(R"(  input x: float32[2,6]
  const w: int8[3,6] = random(1)
  const s: float32[] = {0.03}
  const b: float32[3] = {1, 2, 3}
  d = DequantizeLinear(w, s)
  y = Gemm(x, d, b) {transB = 1}
  output y
)");
  EXPECT_EQ(codes_of(file), "6 9");
  EXPECT_EQ(tensor_of(file, "w")->type(), TensorType::INT8);
}

TEST(TfliteQuantized, InputsThatAreRoundedAsTheyComeMeetIntegers) {
  const std::string file = file_of_round_trip(R"(  input x: float32[2,6]
  const w: int8[3,6] = random(1)
  const s: float32[3] = {0.03, 0.02, 0.05}
  const z: int8[3] = {0, 0, 0}
  const b: float32[3] = {1, 2, 3}
  q = dnn::DynamicFakeQuantize(x) {axes = [-1]}
  d = DequantizeLinear(w, s, z) {axis = 0}
  y = Gemm(q, d, b) {transB = 1}
  output y
)");
  EXPECT_EQ(codes_of(file), "9");
  EXPECT_EQ(tensor_of(file, "w")->type(), TensorType::INT8);
}

TEST(TfliteQuantized, AConvolutionRoundsAWholeImage) {
  const std::string file = file_of_round_trip(R"(  input x: float32[2,4,5,5]
  const w: int8[3,4,3,3] = random(1)
  const s: float32[3] = {0.03, 0.02, 0.05}
  const z: int8[3] = {0, 0, 0}
  const b: float32[3] = {1, 2, 3}
  q = dnn::DynamicFakeQuantize(x) {axes = [1,2,3]}
  d = DequantizeLinear(w, s, z) {axis = 0}
  y = Conv(q, d, b)
  output y
)");
  EXPECT_EQ(codes_of(file), "39 3 39");
}

TEST(TfliteQuantized, SixteenBitWeightsAreWidenedInTheFile) {
  const std::string file = file_of_round_trip(R"(  input x: float32[1,2,4,4]
  const w: float16[3,2,3,3] = {0.5, 1, 0.25, 0.5, 1, 0.25, 0.5, 1, 0.25, 0.5, 1, 0.25, 0.5, 1, 0.25, 0.5, 1, 0.25, 0.5, 1, 0.25, 0.5, 1, 0.25, 0.5, 1, 0.25, 0.5, 1, 0.25, 0.5, 1, 0.25, 0.5, 1, 0.25, 0.5, 1, 0.25, 0.5, 1, 0.25, 0.5, 1, 0.25, 0.5, 1, 0.25, 0.5, 1, 0.25, 0.5, 1, 0.25}
  const b: float16[3] = {1, 2, 3}
  dw = Cast(w) {to = 1}
  db = Cast(b) {to = 1}
  y = Conv(x, dw, db)
  output y
)");
  EXPECT_EQ(codes_of(file), "39 6 6 3 39");
  EXPECT_EQ(tensor_of(file, "w")->type(), TensorType::FLOAT16);
}

TEST(TfliteQuantized, ARealBiasIsQuantized) {
  const std::string file = bytes_of(graph_of(R"(  input x: int8[2,6]
  const s: float32[] = {0.5}
  const z: int8[] = {0}
  const w: int8[6,3] = random(1)
  const ws: float32[] = {0.25}
  const b: float32[3] = {1, -2, 3}
  d = DequantizeLinear(x, s, z)
  dw = DequantizeLinear(w, ws)
  g = Gemm(d, dw, b)
  y = QuantizeLinear(g, s, z)
  output y
)"));
  EXPECT_EQ(codes_of(file), "9");
  const Tensor* bias = tensor_of(file, "b");
  EXPECT_EQ(bias->type(), TensorType::INT32);
  EXPECT_EQ(bias->quantization()->scale()->Get(0), 0.125f);
  const auto* data = GetModel(file.data())->buffers()->Get(bias->buffer())->data();
  int32_t stored[3];
  std::memcpy(stored, data->data(), sizeof stored);
  EXPECT_EQ(stored[1], -16);
}

TEST(TfliteQuantized, UnsignedNumbersBesideSignedWeightsBecomeSigned) {
  const std::string file = file_of_round_trip(R"(  input x: uint8[1,2,4,4]
  const s: float32[] = {0.03}
  const z: uint8[] = {120}
  const w: int8[2,2,3,3] = random(1)
  const ws: float32[2] = {0.01, 0.02}
  d = DequantizeLinear(x, s, z)
  dw = DequantizeLinear(w, ws) {axis = 0}
  c = Conv(d, dw) @conv
  q = QuantizeLinear(c, s, z)
  e = DequantizeLinear(q, s, z)
  f = Relu(e)
  y = QuantizeLinear(f, s, z)
  output y
)");
  EXPECT_EQ(codes_of(file), "114 39 3 19 114 39");  // QUANTIZE TRANSPOSE CONV_2D RELU QUANTIZE TRANSPOSE
  EXPECT_EQ(tensor_of(file, "x")->type(), TensorType::UINT8);
  EXPECT_EQ(tensor_of(file, "y")->type(), TensorType::UINT8);
  EXPECT_EQ(tensor_of(file, "q")->type(), TensorType::INT8);
  EXPECT_EQ(tensor_of(file, "q")->quantization()->zero_point()->Get(0), -8);
}

TEST(TfliteQuantized, TwoScalesOfOneValueAreRefused) {
  try {
    bytes_of(graph_of(R"(  input x: int8[2,6]
  const s: float32[] = {0.5}
  const t: float32[] = {0.25}
  a = DequantizeLinear(x, s)
  b = DequantizeLinear(x, t)
  y = Add(a, b)
  output y
)"));
    ADD_FAILURE() << "written";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Unsupported);
    EXPECT_NE(std::string(e.what()).find("value 'x' is quantised in two scales"), std::string::npos) << e.what();
  }
}

// Real files: the same operators in the same number, and the same graph when read again.
TEST(TfliteQuantized, DeployedFilesComeBack) {
  const char* data = std::getenv("DNN_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "DNN_TEST_DATA is not set";
  for (const char* name :
       {"models/mobilenet_v1_0.25_128_tflite/mobilenet_v1_0.25_128_quant.tflite",
        "models/cifar10_resnet8_mlperf/pretrainedResnet_quant.tflite", "models/vww_mlperf/vww_96_int8.tflite",
        "models/mobilenet_v2_1.0_224_quant_tflite/mobilenet_v2_1.0_224_quant.tflite", "format-samples/tiny_int8.tflite",
        "format-samples/tiny_dr.tflite"}) {
    const std::string path = std::string(data) + "/" + name;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
    const std::string file = read_file(path);
    const Graph first = read_bytes(file);
    const std::string written = bytes_of(first);
    const auto count = [](const std::string& bytes) {
      return GetModel(bytes.data())->subgraphs()->Get(0)->operators()->size();
    };
    EXPECT_EQ(count(file), count(written)) << name;
    EXPECT_EQ(join(graph_difference(first, read_bytes(written)), "\n"), "") << name;
  }
}

}  // namespace
}  // namespace dnn::tflite
