// Random quantised networks, their numbers at the ends of their ranges: the interpreter's bits at each level that computes on integers,
// on each instruction set of this machine, at 1 to 64 threads and on an OpenCL device, in ONNX's arithmetic and in TFLite's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "cache.h"
#include "compile/arithmetic.h"
#include "compile/compile.h"
#include "devices/device.h"
#include "graph/text.h"
#include "interp/interpreter.h"
#include "ops/lowering.h"
#include "ops/op.h"
#include "passes/pass.h"
#include "target/isa.h"

namespace dnn {
namespace {

// How constants and inputs are drawn: anything, or from the ends of the range alone.
enum class Draw { Any, Ends, Least, Most };

class Network {
 public:
  Network(uint32_t seed, Draw draw, Arithmetic arithmetic) : random_(seed), draw_(draw), arithmetic_(arithmetic) {}

  Graph make(int depth) {
    channels_ = between(1, 24);
    height_ = between(5, 13);
    width_ = between(5, 13);
    text_ = cat("graph \"g\" {\n  opset 21\n  input x0: uint8[2,", channels_, ",", height_, ",", width_, "]\n");
    scale_ = 0.05f;
    zero_ = 128;
    grid("x0");
    for (int i = 0; i < depth; ++i) step();
    end();
    Graph graph = parse_graph(text_ + "}\n");
    for (ValueId v = 0; v < graph.value_count(); ++v) {
      const std::string& name = graph.value(v).name;
      if (!graph.value(v).constant || (name[0] != 'w' && name[0] != 'b') || name.find('.') != std::string::npos)
        continue;
      fill(*graph.value(v).constant);
    }
    infer_types(graph);
    return graph;
  }

  Tensor input(const Graph& graph) {
    Tensor x(DType::UInt8, graph.value(graph.inputs[0]).type.fixed_shape());
    for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(drawn(0, 255));
    return x;
  }

 private:
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }

  int64_t drawn(int64_t low, int64_t high) {
    switch (draw_) {
      case Draw::Any: return between(low, high);
      case Draw::Ends: {
        const int64_t ends[] = {low, low + 1, high};
        return ends[random_() % 3];
      }
      case Draw::Least: return low;
      default: return high;
    }
  }

  void fill(Tensor& tensor) {
    for (int64_t i = 0; i < tensor.size(); ++i) {
      if (tensor.dtype() == DType::Int8) tensor.mutable_data<int8_t>()[i] = static_cast<int8_t>(drawn(-128, 127));
      if (tensor.dtype() == DType::Int32)
        tensor.mutable_data<int32_t>()[i] = static_cast<int32_t>(between(-20000, 20000));
    }
  }

  void line(const std::string& text) { text_ += "  " + text + "\n"; }

  // x<n>.real, of the integers x<n>, on the current grid.
  void grid(const std::string& x) {
    line(cat("const ", x, ".s: float32[] = {", scale_, "}"));
    line(cat("const ", x, ".z: uint8[] = {", zero_, "}"));
    line(cat(x, ".real = DequantizeLinear(", x, ", ", x, ".s, ", x, ".z) @", x, "_real"));
    real_ = x + ".real";
  }

  // The next integers, of real numbers of that name; on the grid of the last where `same`.
  void quantise(const std::string& from, float scale, bool same = false) {
    if (!same) {
      scale_ = scale;
      zero_ = between(0, 255);
    }
    const std::string x = cat("x", ++count_);
    line(cat("const ", x, ".ys: float32[] = {", scale_, "}"));
    line(cat("const ", x, ".yz: uint8[] = {", zero_, "}"));
    line(cat(x, " = QuantizeLinear(", from, ", ", x, ".ys, ", x, ".yz) @", x, "_quantise"));
    grid(x);
  }

  // A layer's operands; its real numbers' scale is the result.
  float operands(int64_t units, const std::string& shape, int64_t depth) {
    const std::string n = std::to_string(count_);
    const float w = 0.01f;
    line(cat("const w", n, ": int8[", units, ",", shape, "] = random(1)"));
    line(cat("const w", n, ".s: float32[", units, "] = random(2)"));
    scales_of(units, w, "w" + n + ".s", 1);
    line(cat("const b", n, ": int32[", units, "] = random(3)"));
    scales_of(units, w, "b" + n + ".s", scale_);
    line(cat("w", n, ".real = DequantizeLinear(w", n, ", w", n, ".s) @w", n, "_real {axis = 0}"));
    line(cat("b", n, ".real = DequantizeLinear(b", n, ", b", n, ".s) @b", n, "_real {axis = 0}"));
    return scale_ * w * std::sqrt(static_cast<float>(depth)) * 60;
  }

  // Scales of channels, spelled out so that a bias has the product of two.
  void scales_of(int64_t units, float scale, const std::string& name, float times) {
    const std::string declared = cat("  const ", name, ": float32[", units, "] = random(2)\n");
    if (const size_t at = text_.find(declared); at != std::string::npos) text_.erase(at, declared.size());
    std::vector<std::string> numbers;
    for (int64_t m = 0; m < units; ++m) numbers.push_back(cat(scale * (1 + static_cast<float>(m % 7) / 3) * times));
    line(cat("const ", name, ": float32[", units, "] = {", join(numbers), "}"));
  }

  std::string named() const { return std::to_string(count_); }

  void convolve() {
    const std::string n = named();
    const int64_t kind = between(0, 3), kernel = kind == 0 ? 1 : between(2, 5);
    const int64_t stride = kind == 0 || std::min(height_, width_) < 4 ? 1 : between(1, 2);
    const bool depthwise = kind == 1;
    const int64_t units = depthwise ? channels_ : between(1, 40), pad = kernel / 2;
    const float scale = operands(units, cat(depthwise ? 1 : channels_, ",", kernel, ",", kernel),
                                 kernel * kernel * (depthwise ? 1 : channels_));
    line(cat("c", n, " = Conv(", real_, ", w", n, ".real, b", n, ".real) @conv", n, " {pads = [", pad, ", ", pad, ", ",
             pad, ", ", pad, "], strides = [", stride, ", ", stride, "], group = ", depthwise ? channels_ : 1, "}"));
    channels_ = units;
    height_ = (height_ + 2 * pad - kernel) / stride + 1;
    width_ = (width_ + 2 * pad - kernel) / stride + 1;
    std::string last = "c" + n;
    const int64_t behind = between(0, arithmetic_ == Arithmetic::Onnx ? 4 : 1);
    if (behind == 0 || behind > 2)
      line(cat("r", n, " = ", behind == 0 ? "Relu" : behind == 3 ? "Tanh" : "Sigmoid", "(c", n, ") @function", n));
    if (behind == 4) line(cat("m", n, " = Mul(c", n, ", r", n, ") @swish", n));
    if (behind == 0 || behind > 2) last = (behind == 4 ? "m" : "r") + n;
    quantise(last, behind == 3 ? 1.0f / 128 : scale);
  }

  void step() {
    const std::string n = named(), x = real_;
    const float scale = scale_;
    switch (between(0, 5)) {
      case 0: {  // beside what it is made of, on two grids
        line(cat("a", n, " = Relu(", x, ") @other", n));
        quantise("a" + n, scale * 1.7f);
        line(cat("s", n, " = ", between(0, 1) == 0 ? "Add" : "Sub", "(", x, ", ", real_, ") @sum", n));
        return quantise("s" + n, scale * 2.3f);
      }
      case 1: {
        line(cat("p", n, " = MaxPool(", x, ") @pool", n, " {kernel_shape = [3, 3], pads = [1, 1, 1, 1]}"));
        return quantise("p" + n, scale, true);
      }
      case 2: {
        line(cat("p", n, " = AveragePool(", x, ") @pool", n, " {kernel_shape = [3, 2], pads = [1, 1, 1, 0]}"));
        return quantise("p" + n, scale, true);
      }
      case 3: {  // a product with itself on another grid, and both side by side
        line(cat("m", n, " = Mul(", x, ", ", x, ") @product", n));
        quantise("m" + n, scale * scale * 100);
        line(cat("j", n, " = Concat(", x, ", ", real_, ") @join", n, " {axis = 1}"));
        channels_ *= 2;
        return quantise("j" + n, scale * 1.3f);
      }
      default: return convolve();
    }
  }

  void end() {
    line("const axes: int64[2] = {2, 3}");
    line(cat("mean = ", arithmetic_ == Arithmetic::Tflite ? cat("ReduceMean(", real_, ", axes) @mean {keepdims = 1}")
                                                          : cat("GlobalAveragePool(", real_, ") @mean")));
    quantise("mean", scale_ / 2);
    line("const shape: int64[2] = {2, -1}");
    line(cat("flat = Reshape(", real_, ", shape) @flat"));
    real_ = "flat";
    const std::string n = named();
    const float scale = operands(21, std::to_string(channels_), channels_);
    line(cat("g = Gemm(flat, w", n, ".real, b", n, ".real) @dense {transB = 1}"));
    quantise("g", scale);
    if (arithmetic_ == Arithmetic::Tflite) {  // its exponentials are a table
      line(cat("soft = Softmax(", real_, ") @softmax"));
      zero_ = 0;
      scale_ = 1.0f / 256;
      quantise("soft", scale_, true);
      line(cat("gate = Sigmoid(", real_, ") @gate"));
      quantise("gate", scale_, true);
    }
    line(cat("output x", count_));
    for (int i = std::max(1, count_ - 4); i < count_; ++i) line(cat("output x", i));
  }

  std::mt19937 random_;
  Draw draw_;
  Arithmetic arithmetic_;
  std::string text_, real_;
  int64_t channels_ = 1, height_ = 1, width_ = 1, zero_ = 0;
  float scale_ = 1;
  int count_ = 0;
};

void expect_same_outputs(const std::vector<Tensor>& got, const std::vector<Tensor>& expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(got[i].identical(expected[i])) << what << ", output " << i;
}

// At -O0 too: an arithmetic is no optimisation.
void expect_bits(const Graph& graph, const std::vector<Tensor>& inputs, Arithmetic arithmetic, const std::string& what,
                 const std::vector<int>& levels) {
  Graph rewritten = in_arithmetic(graph, arithmetic);
  PassOptions passes;
  passes.target = any_target(1);
  if (arithmetic == Arithmetic::Onnx) run_passes(rewritten, passes);
  const std::vector<Tensor> expected = interpret(rewritten, inputs);
  std::set<double> seen;
  for (const Tensor& y : expected) {
    for (double number : to_doubles(y)) seen.insert(number);
  }
  EXPECT_GT(seen.size(), 1U) << what;  // a network of one number says nothing
  CompileOptions options;
  options.build.cache_folder = test_cache();
  options.pass_changes = with_arithmetic("", arithmetic);
  for (const int opt : levels) {
    options.opt = opt;
    options.isas = supported_isas();
    const auto package = std::make_shared<Package>(compile(graph, options));
    for (const std::string& isa : supported_isas()) {
      for (const int threads : opt == 3 ? std::vector<int>{1, 3, 64} : std::vector<int>{2})
        expect_same_outputs(open_session("cpu", package, {threads, isa})->run(inputs), expected,
                            cat(what, " -O", opt, " ", isa, " ", threads, " threads"));
    }
  }
  if (DeviceSpec("opencl").device().list({}).empty()) return;
  options.opt = 3;
  options.device = "opencl";
  options.isas.clear();
  expect_same_outputs(open_session("opencl:0", std::make_shared<Package>(compile(graph, options)))->run(inputs),
                      expected, what + " opencl");
}

// One network in both arithmetics; weights at one end of their range, or at both, change no text of a kernel.
void expect_network(uint32_t seed, const std::vector<Draw>& draws) {
  for (const Arithmetic arithmetic : {Arithmetic::Onnx, Arithmetic::Tflite}) {
    for (const Draw draw : draws) {
      const Graph graph = Network(seed, draw, arithmetic).make(4);
      const Tensor x = Network(seed + 1, draw == Draw::Any ? Draw::Any : Draw::Ends, arithmetic).input(graph);
      expect_bits(
          graph, {x}, arithmetic,
          cat("seed ", seed, arithmetic == Arithmetic::Onnx ? " onnx" : " tflite", " draw ", static_cast<int>(draw)),
          draw == draws[0] ? std::vector<int>{0, 1, 2, 3, 4} : std::vector<int>{3});
    }
  }
}

TEST(QuantizedNetworks, HaveTheInterpretersBitsEverywhere) { expect_network(1, {Draw::Any, Draw::Ends}); }

TEST(QuantizedNetworks, HaveThemAtTheEndsOfTheRange) { expect_network(2, {Draw::Ends, Draw::Least, Draw::Most}); }

// Functions that follow one another share what they are made of, and 16 bits keep more of them than 8.
TEST(QuantizedNetworks, FollowFunctionsByFunctions) {
  for (const char* to : {"uint8", "int16"}) {
    Graph graph = parse_graph(cat(R"(graph "g" {
  opset 21
  input x: uint8[1,8,64,64]
  const s: float32[] = {0.037}
  const z: uint8[] = {100}
  const t: float32[] = {0.00007}
  const u: )",
                                  to, R"([] = {3}
  a = DequantizeLinear(x, s, z) @a
  b = Swish(a) @b
  c = Swish(b) @c
  d = Sigmoid(c) @d
  e = Tanh(a) @e
  f = Mul(d, e) @f
  g = Tanh(f) @g
  h = Swish(g) @h
  y = QuantizeLinear(h, t, u) @end
  output y
}
)"));
    infer_types(graph);
    Tensor x(DType::UInt8, {1, 8, 64, 64});
    for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i * 71 % 256);
    expect_bits(graph, {x}, Arithmetic::Onnx, to, {0, 1, 3, 4});
  }
}

// Numbers of the constants of a text graph, other than the few that it spells out.
void fill_weights(Graph* graph) {
  for (ValueId v = 0; v < graph->value_count(); ++v) {
    if (!graph->value(v).constant || graph->value(v).constant->dtype() != DType::Int8 ||
        graph->value(v).constant->size() == 1)
      continue;
    Tensor& w = *graph->value(v).constant;
    for (int64_t i = 0; i < w.size(); ++i) w.mutable_data<int8_t>()[i] = static_cast<int8_t>(i * 37 % 256 - 128);
  }
}

// A block of a transformer: norms of a real sum, attention with a mask, Gelu as one operator and decomposed, and a factor per channel in front of the sum.
TEST(QuantizedNetworks, AttendAndNormalise) {
  const auto quantised = [](const std::string& x, const std::string& of, const char* scale, const char* zero = "z") {
    return cat("  ", x, ".q = QuantizeLinear(", of, ", ", scale, ", ", zero, ") @", x, "_q\n  ", x,
               " = DequantizeLinear(", x, ".q, ", scale, ", ", zero, ") @", x, "_real\n");
  };
  const auto layer = [](const std::string& y, const std::string& x, const char* weights) {
    return cat("  const ", y, ".w: int8[", weights, "] = random(1)\n  ", y, ".v = DequantizeLinear(", y, ".w, ws) @", y,
               "_w\n  ", y, " = MatMul(", x, ", ", y, ".v) @", y, "\n");
  };
  Graph graph = parse_graph(cat(R"(graph "g" {
  opset 21
  input x: uint8[2,37,24]
  const s: float32[] = {0.031}
  const h: float32[] = {0.0078125}
  const z: uint8[] = {120}
  const zero: uint8[] = {0}
  const ws: float32[] = {0.004}
  const place: float32[37,24] = random(7)
  const mask: float32[37] = random(8)
  const scale: float32[24] = random(9)
  const bias: float32[24] = random(10)
  const share: float32[] = {0.3535}
  const half: float32[] = {0.5}
  const one: float32[] = {1}
  const root: float32[] = {0.70710677}
  const tokens: int64[1] = {1}
  x.real = DequantizeLinear(x, s, z) @x_real
  r0 = Add(x.real, place) @placed
  n0 = LayerNormalization(r0, scale, bias) @norm0
)",
                                quantised("a", "n0", "s"), layer("q", "a", "24,24"), layer("k", "a", "24,24"),
                                layer("v", "a", "24,24"), quantised("qq", "q", "s"), quantised("kk", "k", "s"),
                                quantised("vv", "v", "s"), R"(
  kt = Transpose(kk) @turned {perm = [0, 2, 1]}
  raw = MatMul(qq, kt) @scores
  shared = Mul(raw, share) @shared
  masked = Add(shared, mask) @masked
  p = Softmax(masked) @softmax
  p1 = Softmax(shared) @softmax1
)",
                                quantised("pq", "p", "h", "zero"), quantised("pr", "p1", "h", "zero"), R"(
  mixed = MatMul(pq, vv) @mixed
  mixed1 = MatMul(pr, vv) @mixed1
  both = Add(mixed, mixed1) @both
)",
                                quantised("m", "both", "s"), layer("o", "m", "24,24"), R"(
  weighted = Mul(o, scale) @weighted
  r1 = Add(r0, weighted) @sum1
  n1 = LayerNormalization(r1, scale) @norm1
)",
                                quantised("b", "n1", "s"), layer("f", "b", "24,50"), R"(
  g = Gelu(f) @gelu
  e0 = Mul(f, root) @e0
  e1 = Erf(e0) @e1
  e2 = Add(e1, one) @e2
  e3 = Mul(f, e2) @e3
  e = Mul(e3, half) @e
  wide = Concat(g, e) @wide {axis = 2}
)",
                                quantised("w", "wide", "s"), layer("d", "w", "100,24"), R"(
  r2 = Add(r1, d) @sum2
  mean = ReduceMean(r2, tokens) @mean {keepdims = 0}
  n2 = LayerNormalization(mean, scale, bias) @norm2
  y = QuantizeLinear(n2, s, z) @end
  output y
  output m.q
  output w.q
  output pr.q
}
)"));
  fill_weights(&graph);
  infer_types(graph);
  Tensor x(DType::UInt8, {2, 37, 24});
  for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i * 71 % 256);
  expect_bits(graph, {x}, Arithmetic::Onnx, "block", {0, 1, 2, 3, 4});
}

// The stated forms of float32 outputs are near what the operators compute.
void expect_stated(const Graph& graph, const Tensor& x, double tolerance) {
  const std::vector<Tensor> got = interpret(graph, {x});
  Graph rewritten = graph;
  PassOptions passes;
  passes.target = any_target(1);
  run_passes(rewritten, passes);
  const std::vector<Tensor> stated = interpret(rewritten, {x});
  for (size_t o = 0; o < got.size(); ++o) {
    for (int64_t i = 0; got[o].dtype() == DType::Float32 && i < got[o].size(); ++i)
      ASSERT_NEAR(got[o].data<float>()[i], stated[o].data<float>()[i], tolerance) << o << ", " << i;
  }
}

// Means over other axes than the last ones, of a plane, and of less than a vector.
TEST(QuantizedNetworks, AverageRealNumbers) {
  Graph graph = parse_graph(R"(graph "g" {
  opset 21
  input x: uint8[2,19,7,5]
  const s: float32[] = {0.031}
  const z: uint8[] = {120}
  const t: float32[] = {0.003}
  const c: float32[19,1,1] = random(7)
  const channels: int64[1] = {1}
  const rows: int64[2] = {0, 2}
  x.real = DequantizeLinear(x, s, z) @x_real
  r = Mul(x.real, c) @real
  a = GlobalAveragePool(r) @plane
  b = ReduceMean(r, channels) @channels {keepdims = 1}
  d = Sub(r, b) @off
  e = ReduceMean(d, rows) @rows {keepdims = 0}
  f = ReduceMean(r) @all {keepdims = 0}
  a.q = QuantizeLinear(a, t, z) @a_q
  d.q = QuantizeLinear(d, t, z) @d_q
  e.q = QuantizeLinear(e, t, z) @e_q
  f.q = QuantizeLinear(f, t, z) @f_q
  output a.q
  output d.q
  output e.q
  output f.q
}
)");
  infer_types(graph);
  Tensor x(DType::UInt8, {2, 19, 7, 5});
  for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i * 71 % 256);
  expect_bits(graph, {x}, Arithmetic::Onnx, "means", {0, 1, 2, 3, 4});
}

// Norms whose scale is one number, or has axes of 1 in front, and over several axes.
TEST(QuantizedNetworks, NormaliseRowsOfAllKinds) {
  Graph graph = parse_graph(R"(graph "g" {
  opset 21
  input x: uint8[2,3,7,768]
  const s: float32[] = {0.031}
  const z: uint8[] = {120}
  const one: float32[1] = {1.3}
  const wide: float32[1,1,1,768] = random(1)
  const long: float32[7,768] = random(2)
  const tall: float32[7,1] = random(3)
  x.real = DequantizeLinear(x, s, z) @x_real
  a = LayerNormalization(x.real, one) @a
  b = LayerNormalization(x.real, wide, one) @b
  c = LayerNormalization(x.real, long, tall) @c {axis = 2}
  d = LayerNormalization(x.real, tall, wide) @d {axis = -2}
  e = LayerNormalization(x.real, one) @e {axis = 0}
  y = QuantizeLinear(e, s, z) @end
  output a
  output b
  output c
  output d
  output y
}
)");
  infer_types(graph);
  Tensor x(DType::UInt8, {2, 3, 7, 768});
  for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i * i % 251);
  expect_bits(graph, {x}, Arithmetic::Onnx, "norms", {0, 1, 3, 4});
  expect_stated(graph, x, 2e-5);
}

TEST(QuantizedNetworks, NormaliseChannelsAndAddUp) {
  Graph graph = parse_graph(R"(graph "g" {
  opset 23
  input x: uint8[2,6,5,7]
  const s: float32[] = {0.031}
  const z: uint8[] = {120}
  const scale: float32[6] = random(1)
  const bias: float32[6] = random(2)
  const row: float32[7] = random(3)
  const plane: float32[6,5,7] = random(4)
  const axes: int64[2] = {1, 3}
  x.real = DequantizeLinear(x, s, z) @x_real
  a = InstanceNormalization(x.real, scale, bias) @instance {epsilon = 0.01}
  b = GroupNormalization(x.real, scale, bias) @group {num_groups = 3}
  c = RMSNormalization(x.real, row) @rms
  d = RMSNormalization(b, plane) @rms_of_all {axis = 1, epsilon = 0.1}
  e = ReduceSum(a, axes) @sum {keepdims = 0}
  f = ReduceSum(d) @whole {keepdims = 0}
  y = QuantizeLinear(c, s, z) @end
  output a
  output b
  output c
  output d
  output e
  output f
  output y
}
)");
  infer_types(graph);
  Tensor x(DType::UInt8, {2, 6, 5, 7});
  for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i * i % 251);
  expect_bits(graph, {x}, Arithmetic::Onnx, "channel norms", {0, 1, 3, 4});
  expect_stated(graph, x, 2e-5);
}

// 1,000 products of 255 and 255 need 26 bits, and float32 has 24: the sum is cut into parts.
TEST(QuantizedNetworks, MultiplyLongRows) {
  Graph graph = parse_graph(R"(graph "g" {
  opset 21
  input a: uint8[2,3,1000]
  input b: uint8[1000,21]
  const s: float32[] = {0.031}
  const u: float32[] = {0.0017}
  const z: uint8[] = {0}
  const t: float32[] = {11.3}
  a.real = DequantizeLinear(a, s, z) @a_real
  b.real = DequantizeLinear(b, u, z) @b_real
  p = MatMul(a.real, b.real) @product
  e = Einsum(a.real, b.real) @einsum {equation = "bij,jk->kbi"}
  y = QuantizeLinear(p, t, z) @end
  output y
  output p
  output e
}
)");
  infer_types(graph);
  Tensor a(DType::UInt8, {2, 3, 1000}), b(DType::UInt8, {1000, 21});
  for (int64_t i = 0; i < a.size(); ++i) a.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(255 - i % 7);
  for (int64_t i = 0; i < b.size(); ++i) b.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(255 - i % 11);
  expect_bits(graph, {a, b}, Arithmetic::Onnx, "long rows", {0, 1, 2, 3, 4});
}

// A vector has one axis only, a row may need more than 16 parts, and a sum of nothing is 0.
TEST(QuantizedNetworks, MultiplyVectorsAndEmptyRows) {
  const auto product = [](const std::string& a, const std::string& b) {
    return cat("graph \"g\" {\n  opset 21\n  input a: uint8[", a, "]\n  input b: int8[", b, R"(]
  const s: float32[] = {0.031}
  const u: float32[] = {0.0017}
  const z: uint8[] = {0}
  const e: int8[] = {-128}
  a.real = DequantizeLinear(a, s, z) @a_real
  b.real = DequantizeLinear(b, u, e) @b_real
  p = MatMul(a.real, b.real) @product
  rest = ReduceMax(b.real) @rest {keepdims = 0}
  output p
  output rest
}
)");
  };
  const std::pair<Shape, Shape> shapes[] = {
      {{40}, {40, 21}}, {{3, 40}, {40}}, {{1000}, {1000}}, {{3, 4200}, {4200, 4}}, {{5, 0}, {0, 3}}};
  for (const auto& [left, right] : shapes) {
    const bool empty = left.back() == 0;
    std::string text = product(join(left), join(right));
    if (empty)
      text = text.replace(text.find("  rest"), text.find("  output p") - text.find("  rest"), "  rest = Neg(s)\n");
    Graph graph = parse_graph(text);
    infer_types(graph);
    Tensor a(DType::UInt8, left), b(DType::Int8, right);
    for (int64_t i = 0; i < a.size(); ++i) a.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(255 - i % 7);
    for (int64_t i = 0; i < b.size(); ++i) b.mutable_data<int8_t>()[i] = static_cast<int8_t>(127 - i % 11);
    expect_bits(graph, {a, b}, Arithmetic::Onnx, cat(join(left), " by ", join(right)), {0, 3});
  }
}

// Levels that compute a quotient by its reciprocal, a decomposed function as one operator, a square by a product, and a norm as a scale and a shift, do
// so for real numbers alone: each of these rounds otherwise.
TEST(QuantizedNetworks, RoundAsOftenAtEachLevel) {
  for (const char* type : {"uint8", "int16"}) {
    Graph graph = parse_graph(cat("graph \"g\" {\n  opset 21\n  input x: ", type, R"([2,37,24]
  input real: float32[2,37,24]
  const s: float32[] = {0.00031}
  const z: )",
                                  type, R"([] = {20}
  const third: float32[24] = random(3)
  const c: float32[] = {3.7}
  const zero: float32[] = {0}
  const two: float32[] = {2}
  const three: float32[] = {3}
  const six: float32[] = {6}
  const n.scale: float32[37] = random(4)
  const n.bias: float32[37] = random(5)
  const n.mean: float32[37] = random(6)
  const n.root: float32[37] = random(7)
  n.var = Mul(n.root, n.root) @n_var
  x.real = DequantizeLinear(x, s, z) @x_real
  d = Div(x.real, c) @quotient
  e = Div(x.real, third) @quotients
  h0 = Add(x.real, three) @h0
  h1 = Max(h0, zero) @h1
  h2 = Min(h1, six) @h2
  h3 = Mul(x.real, h2) @h3
  h = Div(h3, six) @h
  p = Pow(x.real, two) @square
  n = BatchNormalization(x.real, n.scale, n.bias, n.mean, n.var) @norm
  m0 = Mul(x.real, third) @m0
  m = Add(m0, c) @m
  r0 = Mul(real, third) @r0
  r = Add(r0, c) @r
  y = QuantizeLinear(r, s, z) @end
  output d
  output e
  output h
  output p
  output n
  output m
  output r
  output y
}
)"));
    Tensor root(DType::Float32, {37});
    for (int64_t i = 0; i < 37; ++i) root.mutable_data<float>()[i] = 0.3f + 0.05f * static_cast<float>(i);
    graph.value(graph.find_value("n.root")).constant = root;
    infer_types(graph);
    Tensor x(graph.value(graph.inputs[0]).type.dtype, {2, 37, 24}), real(DType::Float32, {2, 37, 24});
    for (int64_t i = 0; i < x.size(); ++i) {
      if (x.dtype() == DType::UInt8) x.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i * 71 % 256);
      if (x.dtype() == DType::Int16) x.mutable_data<int16_t>()[i] = static_cast<int16_t>(i * 7177 % 65536 - 32768);
      real.mutable_data<float>()[i] = 0.013f * static_cast<float>(i * 71 % 701) - 3.5f;
    }
    expect_bits(graph, {x, real}, Arithmetic::Onnx, type, {0, 1, 2, 3, 4});
  }
}

// Masks out of truths, of counts, and of real numbers that the network is given; one row is masked wholly, and 16 bits keep more of a Softmax than 8.
TEST(QuantizedNetworks, AttendWithMasksThatAreInputs) {
  Graph graph = parse_graph(R"(graph "g" {
  opset 21
  input x: uint8[20,370,24]
  input truths: bool[370,24]
  input counts: int64[370,24]
  input real: float32[370,24]
  const s: float32[] = {0.031}
  const z: uint8[] = {120}
  const fine: float32[] = {0.00006}
  const whole: int16[] = {0}
  const zero: float32[] = {0}
  const one: float32[] = {1}
  const far: float32[] = {-10000}
  const none: float32[] = {-inf}
  x.real = DequantizeLinear(x, s, z) @x_real
  a0 = Where(truths, zero, none) @a0
  a1 = Add(x.real, a0) @a1
  a2 = Softmax(a1) @a2
  a = QuantizeLinear(a2, fine, whole) @a
  b0 = Cast(counts) @b0 {to = 1}
  b1 = Sub(one, b0) @b1
  b2 = Mul(b1, far) @b2
  b3 = Add(x.real, b2) @b3
  b4 = Softmax(b3) @b4
  b = QuantizeLinear(b4, fine, whole) @b
  c0 = Add(x.real, real) @c0
  c1 = Softmax(c0) @c1
  c = QuantizeLinear(c1, fine, whole) @c
  output a
  output b
  output c
}
)");
  infer_types(graph);
  Tensor x(DType::UInt8, {20, 370, 24}), truths(DType::Bool, {370, 24}), counts(DType::Int64, {370, 24}),
      real(DType::Float32, {370, 24});
  for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i * i % 251);
  for (int64_t i = 0; i < truths.size(); ++i) {
    truths.mutable_data<bool>()[i] = i % 5 != 0;
    counts.mutable_data<int64_t>()[i] = i % 7 != 0 && i >= 24;
    real.mutable_data<float>()[i] = 0.013f * static_cast<float>(i * 71 % 701) - 3.5f;
  }
  expect_bits(graph, {x, truths, counts, real}, Arithmetic::Onnx, "masks", {0, 1, 3, 4});
}

// Real pixels of few channels, which are stored side by side as words; some are beyond the range, or no number.
TEST(QuantizedNetworks, RoundPixelsOfFewChannels) {
  for (const int64_t channels : {1, 2, 3, 4}) {
    const std::string byte = channels % 2 == 0 ? "int8" : "uint8";
    Graph graph = parse_graph(cat("graph \"g\" {\n  opset 21\n  input x: float32[2,", channels, R"(,5,37]
  const s: float32[] = {0.02}
  const z: )",
                                  byte, R"([] = {3}
  const ws: float32[] = {0.01}
  const t: float32[] = {0.05}
  const w: int8[9,)",
                                  channels, R"(,3,3] = random(1)
  q = QuantizeLinear(x, s, z) @quantise
  q.real = DequantizeLinear(q, s, z) @q_real
  w.real = DequantizeLinear(w, ws) @w_real
  c = Conv(q.real, w.real) @conv {pads = [1, 1, 1, 1], strides = [2, 2]}
  y = QuantizeLinear(c, t, z) @end
  output y
}
)"));
    Tensor& w = *graph.value(graph.find_value("w")).constant;
    for (int64_t i = 0; i < w.size(); ++i) w.mutable_data<int8_t>()[i] = static_cast<int8_t>(i * 37 % 256 - 128);
    infer_types(graph);
    Tensor x(DType::Float32, {2, channels, 5, 37});
    for (int64_t i = 0; i < x.size(); ++i)
      x.mutable_data<float>()[i] = i % 61 == 7   ? INFINITY
                                   : i % 53 == 9 ? NAN
                                                 : 0.01f * static_cast<float>(i * 71 % 701) - 3.5f;
    expect_bits(graph, {x}, Arithmetic::Onnx, cat(channels, " channels"), {3});
  }
}

// Channels that come one after the other, as of a Concat, are no word; a layer of one channel has no loop over them.
TEST(QuantizedNetworks, JoinAndDivideFewChannels) {
  struct Case {
    const char* inputs;
    const char* weights;
    int groups;
  };
  const Case cases[] = {{R"(input x: uint8[2,2,5,37]
  input z: uint8[2,1,5,37]
  real = DequantizeLinear(x, s, u) @x_real
  other = DequantizeLinear(z, s, u) @z_real
  joined = Concat(real, other) @joined {axis = 1}
  q = QuantizeLinear(joined, s, u) @q)",
                         "9,3,3,3", 1},
                        {"input x: uint8[2,8,5,37]\n  q = Identity(x)", "128,1,3,3", 8},
                        {"input x: uint8[2,1,5,37]\n  q = Identity(x)", "19,1,3,3", 1}};
  for (const Case& c : cases) {
    Graph graph = parse_graph(cat(R"(graph "g" {
  opset 21
  const s: float32[] = {0.02}
  const u: uint8[] = {3}
  const ws: float32[] = {0.01}
  const t: float32[] = {0.05}
  )",
                                  c.inputs, "\n  const w: int8[", c.weights, R"(] = random(1)
  r = DequantizeLinear(q, s, u) @r
  v = DequantizeLinear(w, ws) @v
  c = Conv(r, v) @conv {pads = [1, 1, 1, 1], group = )",
                                  c.groups, "}\n  y = QuantizeLinear(c, t, u) @end\n  output y\n}\n"));
    Tensor& w = *graph.value(graph.find_value("w")).constant;
    for (int64_t i = 0; i < w.size(); ++i) w.mutable_data<int8_t>()[i] = static_cast<int8_t>(i * 37 % 256 - 128);
    infer_types(graph);
    std::vector<Tensor> inputs;
    for (ValueId v : graph.inputs) {
      Tensor x(DType::UInt8, graph.value(v).type.fixed_shape());
      for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i * 71 % 256);
      inputs.push_back(std::move(x));
    }
    expect_bits(graph, inputs, Arithmetic::Onnx, c.weights, {3, 4});
  }
}

// A sum of 66,400 products of 255 and -128 is below -2^31: it wraps, everywhere alike.
TEST(QuantizedNetworks, SumsWrapAtThirtyTwoBits) {
  constexpr int64_t kDepth = 66400;
  for (const Arithmetic arithmetic : {Arithmetic::Onnx, Arithmetic::Tflite}) {
    Graph graph = parse_graph(cat("graph \"g\" {\n  opset 21\n  input x: uint8[1,", kDepth, R"(]
  const s: float32[] = {0.5}
  const z: uint8[] = {0}
  const t: float32[] = {9000000}
  const u: uint8[] = {100}
  const w: int8[17,)",
                                  kDepth, R"(] = random(1)
  const ws: float32[] = {0.25}
  x.real = DequantizeLinear(x, s, z) @x_real
  w.real = DequantizeLinear(w, ws) @w_real
  g = Gemm(x.real, w.real) @dense {transB = 1}
  y = QuantizeLinear(g, t, u) @end
  output y
}
)"));
    Tensor& w = *graph.value(graph.find_value("w")).constant;
    for (int64_t i = 0; i < w.size(); ++i)
      w.mutable_data<int8_t>()[i] = i / kDepth == 0 ? int8_t{-128} : static_cast<int8_t>(i % 2 == 0 ? 127 : -128);
    infer_types(graph);
    Tensor x(DType::UInt8, {1, kDepth});
    for (int64_t i = 0; i < kDepth; ++i) x.mutable_data<uint8_t>()[i] = 255;
    expect_bits(graph, {x}, arithmetic, "wrapping", {3});
    const std::vector<Tensor> y = interpret(in_arithmetic(graph, arithmetic), {x});
    if (arithmetic == Arithmetic::Onnx) continue;
    EXPECT_GT(y[0].data<uint8_t>()[0], 100);  // 2^32 above what it is in real numbers
  }
}

}  // namespace
}  // namespace dnn
