// TFLite's arithmetic: operators with the numbers that TensorFlow 2.21's reference kernels (BUILTIN_REF) give for them, on numbers and as
// kernels; and what cannot be predicted is refused.
#include <gtest/gtest.h>

#include "cache.h"
#include "compile/arithmetic.h"
#include "compile/compile.h"
#include "devices/device.h"
#include "graph_case.h"
#include "interp/interpreter.h"
#include "passes/pass.h"
#include "target/isa.h"

namespace dnn {
namespace {

struct ArithmeticCase {
  const char* name;
  const char* graph;
  std::vector<int64_t> y;
  std::vector<int64_t> micro = {};  // of TensorFlow Lite Micro, where it gives others
};

// Each in the file that dnn-convert makes of it. The input runs through its range in steps of 37.
const ArithmeticCase kArithmeticCases[] = {
    {"Requantise",
     R"(input x: int8[1,4,4,1]
const s: float32[] = {0.07}
const z: int8[] = {-5}
const t: float32[] = {0.11}
const u: int8[] = {9}
r = DequantizeLinear(x, s, z) @real
y = QuantizeLinear(r, t, u) @end
output y)",
     {-62, -39, -15, 8, 32, 55, 79, -60, -37, -13, 10, 34, 57, 81, -58, -35}},
    {"Relu",
     R"(input x: int8[1,4,4,1]
const s: float32[] = {0.07}
const z: int8[] = {-5}
const t: float32[] = {0.11}
const u: int8[] = {9}
r = DequantizeLinear(x, s, z) @real
f = Relu(r) @op
y = QuantizeLinear(f, t, u) @end
output y)",
     {9, 9, 9, 9, 32, 55, 79, 9, 9, 9, 10, 34, 57, 81, 9, 9}},
    {"Logistic",
     R"(input x: int8[1,4,4,1]
const s: float32[] = {0.07}
const z: int8[] = {-5}
const t: float32[] = {0.00390625}
const u: int8[] = {-128}
r = DequantizeLinear(x, s, z) @real
f = Sigmoid(r) @op
y = QuantizeLinear(f, t, u) @end
output y)",
     {-128, -127, -111, -4, 109, 126, 127, -128, -126, -108, 9, 112, 127, 127, -128, -126}},
    {"Tanh",
     R"(input x: int8[1,4,4,1]
const s: float32[] = {0.07}
const z: int8[] = {-5}
const t: float32[] = {0.0078125}
const u: int8[] = {0}
r = DequantizeLinear(x, s, z) @real
f = Tanh(r) @op
y = QuantizeLinear(f, t, u) @end
output y)",
     {-128, -128, -127, -9, 126, 127, 127, -128, -128, -126, 18, 127, 127, 127, -128, -128}},
    {"HardSwish",
     R"(input x: int8[1,4,4,1]
const s: float32[] = {0.07}
const z: int8[] = {-5}
const t: float32[] = {0.11}
const u: int8[] = {9}
r = DequantizeLinear(x, s, z) @real
f = HardSwish(r) @op
y = QuantizeLinear(f, t, u) @end
output y)",
     {9, 9, 8, 9, 30, 55, 79, 9, 9, 7, 10, 33, 57, 81, 9, 9}},
    {"LeakyRelu",
     R"(input x: int8[1,4,4,1]
const s: float32[] = {0.07}
const z: int8[] = {-5}
const t: float32[] = {0.11}
const u: int8[] = {9}
r = DequantizeLinear(x, s, z) @real
f = LeakyRelu(r) @op {alpha = 0.3}
y = QuantizeLinear(f, t, u) @end
output y)",
     {-13, -5, 2, 9, 32, 55, 79, -12, -5, 2, 10, 34, 57, 81, -11, -4}},
    {"Softmax",
     R"(input x: int8[2,8]
const s: float32[] = {0.07}
const z: int8[] = {-5}
const t: float32[] = {0.00390625}
const u: int8[] = {-128}
r = DequantizeLinear(x, s, z) @real
f = Softmax(r) @op {axis = -1}
y = QuantizeLinear(f, t, u) @end
output y)",
     {-128, -128, -128, -128, -127, -110, 109, -128, -128, -128, -128, -127, -110, 109, -128, -128}},
    {"SoftmaxOfUint8",
     R"(input x: uint8[2,8]
const s: float32[] = {0.07}
const z: uint8[] = {120}
const t: float32[] = {0.00390625}
const u: uint8[] = {0}
r = DequantizeLinear(x, s, z) @real
f = Softmax(r) @op {axis = -1}
y = QuantizeLinear(f, t, u) @end
output y)",
     {0, 0, 0, 0, 1, 18, 237, 0, 0, 0, 0, 1, 18, 237, 0, 0}},
    {"Mean",
     R"(input x: int8[1,4,4,1]
const s: float32[] = {0.07}
const z: int8[] = {-5}
const t: float32[] = {0.11}
const u: int8[] = {9}
r = DequantizeLinear(x, s, z) @real
const a: int64[2] = {1, 2}
f = ReduceMean(r, a) @op {keepdims = 1}
y = QuantizeLinear(f, t, u) @end
output y)",
     {2}},
    {"MeanOfUint8",
     R"(input x: uint8[1,4,4,1]
const s: float32[] = {0.07}
const z: uint8[] = {120}
const t: float32[] = {0.11}
const u: uint8[] = {101}
r = DequantizeLinear(x, s, z) @real
const a: int64[2] = {1, 2}
f = ReduceMean(r, a) @op {keepdims = 1}
y = QuantizeLinear(f, t, u) @end
output y)",
     {96}},
    {"Add",
     R"(input x: int8[1,4,4,1]
const s: float32[] = {0.07}
const z: int8[] = {-5}
const t: float32[] = {0.11}
const u: int8[] = {9}
r = DequantizeLinear(x, s, z) @real
const m: int8[1,4,4,1] = {-125, -109, -93, -77, -61, -45, -29, -13, 3, 19, 35, 51, 67, 83, 99, 115}
mr = DequantizeLinear(m, t, u) @second
const v: float32[] = {0.16}
f = Add(r, mr) @op
y = QuantizeLinear(f, v, z) @end
output y)",
     {-128, -119, -92, -65, -37, -10, 17, -68, -41, -13, 14, 41, 68, 95, 11, 38}},
    {"AddOfUint8",
     R"(input x: uint8[1,4,4,1]
const s: float32[] = {0.07}
const z: uint8[] = {120}
const t: float32[] = {0.11}
const u: uint8[] = {101}
r = DequantizeLinear(x, s, z) @real
const m: uint8[1,4,4,1] = {3, 19, 35, 51, 67, 83, 99, 115, 131, 147, 163, 179, 195, 211, 227, 243}
mr = DequantizeLinear(m, t, u) @second
const v: float32[] = {0.16}
f = Add(r, mr) @op
y = QuantizeLinear(f, v, z) @end
output y)",
     {5, 32, 59, 86, 114, 141, 168, 83, 110, 138, 165, 192, 219, 246, 162, 189}},
    {"Sub",
     R"(input x: int8[1,4,4,1]
const s: float32[] = {0.07}
const z: int8[] = {-5}
const t: float32[] = {0.11}
const u: int8[] = {9}
r = DequantizeLinear(x, s, z) @real
const m: int8[1,4,4,1] = {-125, -109, -93, -77, -61, -45, -29, -13, 3, 19, 35, 51, 67, 83, 99, 115}
mr = DequantizeLinear(m, t, u) @second
const v: float32[] = {0.16}
f = Sub(r, mr) @op
y = QuantizeLinear(f, v, z) @end
output y)",
     {38, 43, 49, 54, 59, 64, 69, -38, -32, -27, -22, -17, -12, -6, -113, -108}},
    {"SubOfUint8",
     R"(input x: uint8[1,4,4,1]
const s: float32[] = {0.07}
const z: uint8[] = {120}
const t: float32[] = {0.11}
const u: uint8[] = {101}
r = DequantizeLinear(x, s, z) @real
const m: uint8[1,4,4,1] = {3, 19, 35, 51, 67, 83, 99, 115, 131, 147, 163, 179, 195, 211, 227, 243}
mr = DequantizeLinear(m, t, u) @second
const v: float32[] = {0.16}
f = Sub(r, mr) @op
y = QuantizeLinear(f, v, z) @end
output y)",
     {140, 145, 150, 155, 160, 166, 171, 64, 69, 74, 80, 85, 90, 95, 0, 0}},
    {"Mul",
     R"(input x: int8[1,4,4,1]
const s: float32[] = {0.07}
const z: int8[] = {-5}
const t: float32[] = {0.11}
const u: int8[] = {9}
r = DequantizeLinear(x, s, z) @real
const m: int8[1,4,4,1] = {-125, -109, -93, -77, -61, -45, -29, -13, 3, 19, 35, 51, 67, 83, 99, 115}
mr = DequantizeLinear(m, t, u) @second
const v: float32[] = {0.5}
f = Mul(r, mr) @op
y = QuantizeLinear(f, v, z) @end
output y)",
     {127, 127, 55, -4, -44, -66, -69, 32, 2, -10, -4, 20, 63, 124, -128, -118}},
    {"MulOfUint8",
     R"(input x: uint8[1,4,4,1]
const s: float32[] = {0.07}
const z: uint8[] = {120}
const t: float32[] = {0.11}
const u: uint8[] = {101}
r = DequantizeLinear(x, s, z) @real
const m: uint8[1,4,4,1] = {3, 19, 35, 51, 67, 83, 99, 115, 131, 147, 163, 179, 195, 211, 227, 243}
mr = DequantizeLinear(m, t, u) @second
const v: float32[] = {0.5}
f = Mul(r, mr) @op
y = QuantizeLinear(f, v, z) @end
output y)",
     {255, 211, 156, 118, 100, 99, 117, 97, 88, 97, 125, 170, 234, 255, 0, 0}},
    {"ConcatOfUint8",
     R"(input x: uint8[1,4,4,1]
const s: float32[] = {0.07}
const z: uint8[] = {120}
const t: float32[] = {0.11}
const u: uint8[] = {101}
r = DequantizeLinear(x, s, z) @real
const m: uint8[1,4,4,1] = {3, 19, 35, 51, 67, 83, 99, 115, 131, 147, 163, 179, 195, 211, 227, 243}
mr = DequantizeLinear(m, t, u) @second
const v: float32[] = {0.09}
f = Concat(r, mr) @op {axis = 3}
y = QuantizeLinear(f, v, z) @end
output y)",
     {35, 0,   64, 20,  93,  39,  122, 59,  150, 78,  179, 98,  208, 118, 38, 137,
      66, 157, 95, 176, 124, 196, 153, 215, 181, 235, 210, 254, 40,  255, 69, 255}},
    {"Conv",
     R"(input x: int8[1,2,4,2]
const s: float32[] = {0.07}
const z: int8[] = {-5}
const t: float32[] = {0.31}
const u: int8[] = {9}
const w: int8[3,2,2,1] = {-120, -67, -14, 39, 92, -110, -57, -4, 49, 102, -100, -47}
const ws: float32[3] = {0.011, 0.023, 0.0007}
const b: int32[3] = {100, -250, 30000}
const bs: float32[3] = {0.00077, 0.00161, 0.000049}
const low: float32[] = {0}
const high: float32[] = {6}
r = DequantizeLinear(x, s, z) @real
wr = DequantizeLinear(w, ws) @weights {axis = 0}
br = DequantizeLinear(b, bs) @bias {axis = 0}
c = Conv(r, wr, br) @conv {pads = [0, 0, 1, 1]}
f = Clip(c, low, high) @clamp
y = QuantizeLinear(f, t, u) @end
output y)",
     {28, 28, 9, 22, 9, 9, 9,  9,  9,  9,  28, 9,  9,  9,  9,  9,  9,  9,
      9,  28, 9, 28, 9, 9, 13, 13, 14, 13, 13, 14, 15, 11, 14, 16, 14, 14}},
    {"DenseOfUint8",
     R"(input x: uint8[2,8]
const s: float32[] = {0.07}
const z: uint8[] = {120}
const t: float32[] = {0.9}
const u: uint8[] = {101}
const w: uint8[3,8] = {7, 60, 113, 166, 219, 16, 69, 122, 175, 228, 25, 78, 131, 184, 237, 34, 87, 140, 193, 246, 43, 96, 149, 202}
const ws: float32[] = {0.013}
const wz: uint8[] = {131}
const b: int32[3] = {100, -2500, 3000}
const bs: float32[] = {0.00091}
r = DequantizeLinear(x, s, z) @real
wr = DequantizeLinear(w, ws, wz) @weights
br = DequantizeLinear(b, bs) @bias
f = Gemm(r, wr, br) @dense {transB = 1}
y = QuantizeLinear(f, t, u) @end
output y)",
     {109, 117, 95, 114, 91, 94}},
    {"DenseByChannel",
     R"(input x: int8[2,8]
const s: float32[] = {0.07}
const z: int8[] = {-5}
const t: float32[] = {0.849}
const u: int8[] = {9}
const w: int8[3,8] = {108, -94, -41, 12, 65, 118, -84, -31, 22, 75, -127, -74, -21, 32, 85, -117, -64, -11, 42, 95, -107, -54, -1, 52}
const ws: float32[3] = {0.01838, 0.023, 0.0071}
const b: int32[3] = {100, -2500, 3000}
const bs: float32[3] = {0.0012866, 0.00161, 0.000497}
r = DequantizeLinear(x, s, z) @real
wr = DequantizeLinear(w, ws) @weights {axis = 0}
br = DequantizeLinear(b, bs) @bias {axis = 0}
f = Gemm(r, wr, br) @dense {transB = 1}
y = QuantizeLinear(f, t, u) @end
output y)",
     {12, 43, 7, 47, -8, 6},
     {12, 43, 6, 47, -8, 6}},
    {"AveragePool",
     R"(input x: int8[1,1,4,4]
const s: float32[] = {0.07}
const z: int8[] = {-5}
const t: float32[] = {0.07}
const u: int8[] = {-5}
r = DequantizeLinear(x, s, z) @real
f = AveragePool(r) @op {kernel_shape = [3, 2], pads = [1, 0, 1, 1], strides = [1, 1]}
y = QuantizeLinear(f, t, u) @end
output y)",
     {-25, 13, -15, -60, -36, 1, -5, -29, 27, 21, -27, -51, 16, -12, -39, -20}},
};

Tensor bytes_for(const Graph& graph) {
  const Type& type = graph.value(graph.inputs[0]).type;
  Tensor wide(DType::Int64, type.fixed_shape());
  for (int64_t i = 0; i < wide.size(); ++i)
    wide.mutable_data<int64_t>()[i] = (i * 37 + 11) % 256 - (type.dtype == DType::Int8 ? 128 : 0);
  return convert(wide, type.dtype);
}

void expect_result(const ArithmeticCase& c, Arithmetic arithmetic, const std::vector<int64_t>& numbers) {
  const Graph graph = typed(c.graph);
  const Tensor x = bytes_for(graph);
  const Graph rewritten = in_arithmetic(graph, arithmetic);
  EXPECT_EQ(ops_of(rewritten).find("QuantizeLinear"), std::string::npos) << c.name << ": " << ops_of(rewritten);
  const Tensor y = interpret(rewritten, {x})[0];
  EXPECT_EQ(to_int64s(y), numbers) << c.name;
  CompileOptions options;
  options.build.cache_folder = test_cache();
  options.pass_changes = with_arithmetic("", arithmetic);
  options.isas = {supported_isas().back()};
  const Package package = compile(graph, options);
  EXPECT_EQ(arithmetic_of(package.info.passes), arithmetic);
  EXPECT_TRUE(open_session("cpu", std::make_shared<Package>(package))->run({x})[0].identical(y)) << c.name;
}

TEST(TfliteArithmetic, IsThatOfItsReferenceKernels) {
  for (const ArithmeticCase& c : kArithmeticCases) expect_result(c, Arithmetic::Tflite, c.y);
}

// Its kernels are the same, but those of FULLY_CONNECTED.
TEST(TfliteArithmetic, OfMicrocontrollersRoundsDenseLayersTwice) {
  for (const ArithmeticCase& c : kArithmeticCases) {
    if (std::string(c.name).find("Dense") != std::string::npos)
      expect_result(c, Arithmetic::TfliteMicro, c.micro.empty() ? c.y : c.micro);
  }
}

// Halves away from zero; ONNX's go to the even number.
TEST(TfliteArithmetic, RoundsRealNumbersAwayFromZero) {
  const Graph graph = typed(R"(
  input x: float32[9]
  const s: float32[] = {0.25}
  const z: int8[] = {-5}
  y = QuantizeLinear(x, s, z) @end
  output y)");
  const Tensor x = Tensor::of<float>({9}, {-0.375f, -0.125f, 0.125f, 0.375f, 0.625f, -0.62f, 100, -100, 0.874f});
  const Tensor y = interpret(in_arithmetic(graph, Arithmetic::Tflite), {x})[0];
  EXPECT_EQ(to_int64s(y), (std::vector<int64_t>{-7, -6, -4, -3, -2, -7, 127, -128, -2}));
  EXPECT_EQ(to_int64s(interpret(graph, {x})[0]), (std::vector<int64_t>{-7, -5, -5, -3, -3, -7, 127, -128, -2}));
  CompileOptions options;
  options.build.cache_folder = test_cache();
  options.pass_changes = with_arithmetic("", Arithmetic::Tflite);
  for (const std::string& isa : supported_isas()) {
    options.isas = {isa};
    EXPECT_TRUE(open_session("cpu", std::make_shared<Package>(compile(graph, options)))->run({x})[0].identical(y));
  }
}

// An operator without a kernel that we know, by name; one on real numbers stays.
TEST(TfliteArithmetic, RefusesWhatItCannotPredict) {
  const char* head = R"(
  input x: int8[1,4]
  const s: float32[] = {0.25}
  const z: int8[] = {-5}
  r = DequantizeLinear(x, s, z) @real
  e = Erf(r) @error_function
)";
  try {
    in_arithmetic(typed(cat(head, "  y = QuantizeLinear(e, s, z) @end\n  output y")), Arithmetic::Tflite);
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
    EXPECT_NE(std::string(error.what()).find("error_function"), std::string::npos) << error.what();
  }
  const Graph real = typed(cat(head, "  output e"));
  EXPECT_EQ(ops_of(in_arithmetic(real, Arithmetic::Tflite)), ops_of(real));
}

TEST(TfliteArithmetic, IsNamedOnTheCommandLine) {
  EXPECT_EQ(arithmetic_named("tflite"), Arithmetic::Tflite);
  EXPECT_EQ(arithmetic_named("tflite-micro"), Arithmetic::TfliteMicro);
  EXPECT_EQ(arithmetic_named("onnx"), Arithmetic::Onnx);
  EXPECT_THROW(arithmetic_named("gemmlowp"), Error);
  EXPECT_EQ(with_arithmetic("-fuse-ops", Arithmetic::Tflite), "+tflite-arithmetic,-fuse-ops");
  EXPECT_EQ(with_arithmetic("-fuse-ops", Arithmetic::TfliteMicro), "+tflite-micro-arithmetic,-fuse-ops");
  EXPECT_EQ(with_arithmetic("only:fuse-ops", Arithmetic::Tflite), "only:fuse-ops,tflite-arithmetic");
  EXPECT_EQ(with_arithmetic("-fuse-ops", Arithmetic::Onnx),
            "+expand-dynamic-quantization,+integer-operands,+integer-arithmetic,+integer-maps,+integer-products,+"
            "integer-functions,-fuse-ops");
  EXPECT_EQ(with_arithmetic("only:fuse-ops", Arithmetic::Onnx), "only:fuse-ops");
  EXPECT_EQ(with_arithmetic("", Arithmetic::Float),
            "-integer-arithmetic,-integer-maps,-integer-products,-integer-functions");
  EXPECT_EQ(arithmetic_of({"fuse-ops"}), Arithmetic::Float);
  EXPECT_EQ(arithmetic_of({"integer-arithmetic"}), Arithmetic::Onnx);
}

}  // namespace
}  // namespace dnn
