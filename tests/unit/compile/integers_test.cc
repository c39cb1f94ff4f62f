// Quantised networks: the bits of the interpreter at each level that computes on integers, on each instruction set, at any number
// of threads, with numbers at the ends of their ranges; and within a step of what the same file computes in real numbers.
#include <gtest/gtest.h>

#include <random>

#include "cache.h"
#include "compile/compile.h"
#include "devices/device.h"
#include "graph/bind.h"
#include "graph/text.h"
#include "graph_case.h"
#include "interp/interpreter.h"
#include "ops/lowering.h"
#include "ops/op.h"
#include "passes/pass.h"
#include "target/isa.h"
#include "tensor/compare.h"
#include "unit/compile/small_nets.h"

namespace dnn {
namespace {

// One layer with its surroundings, of which numbers are drawn.
struct LayerCase {
  const char* name;
  const char* x;  // extents of the input, after the batch
  const char* w;
  int64_t channels;
  const char* layer;  // with x.real, w.real and b.real as operands
  const char* clamp = "";
};

const LayerCase kLayerCases[] = {
    {"image", "3,13,11", "19,3,3,3", 19, "Conv(x.real, w.real, b.real) @conv {pads = [1, 1, 1, 1], strides = [2, 2]}",
     "Relu"},
    {"pointwise", "32,9,10", "48,32,1,1", 48, "Conv(x.real, w.real, b.real) @conv"},
    {"wide", "64,7,7", "128,64,1,1", 128, "Conv(x.real, w.real, b.real) @conv", "Clip"},
    {"square", "20,8,15", "35,20,3,3", 35,
     "Conv(x.real, w.real, b.real) @conv {pads = [1, 2, 0, 1], dilations = [1, 2]}", "Clip"},
    {"deep", "512,3,4", "16,512,3,3", 16, "Conv(x.real, w.real, b.real) @conv {pads = [1, 1, 1, 1]}"},
    {"depthwise", "24,9,11", "24,1,3,3", 24, "Conv(x.real, w.real, b.real) @conv {pads = [1, 1, 1, 1], group = 24}",
     "Clip"},
    {"depthwise 5x5", "19,12,9", "19,1,5,5", 19,
     "Conv(x.real, w.real, b.real) @conv {pads = [2, 2, 2, 2], strides = [2, 2], group = 19}"},
    {"depthwise 7x7", "32,9,17", "32,1,7,7", 32,
     "Conv(x.real, w.real, b.real) @conv {pads = [3, 3, 3, 3], group = 32}"},
    {"depthwise 2x3", "16,9,17", "16,1,2,3", 16, "Conv(x.real, w.real, b.real) @conv {dilations = [2, 1], group = 16}",
     "Relu"},
    {"groups", "12,6,5", "18,4,3,3", 18, "Conv(x.real, w.real, b.real) @conv {group = 3}"},
    {"line", "16,23", "24,16,5", 24, "Conv(x.real, w.real, b.real) @conv {pads = [2, 2]}"},
    {"dense", "40", "37,40", 37, "Gemm(x.real, w.real, b.real) @gemm {transB = 1}", "Relu"},
    {"dense of odd depth", "37", "64,37", 64, "Gemm(x.real, w.real, b.real) @gemm {transB = 1}"},
    {"groups of blocks", "64,6,5", "32,32,3,3", 32,
     "Conv(x.real, w.real, b.real) @conv {group = 2, pads = [1, 1, 1, 1]}"},
};

enum class Numbers { Random, Highest, Lowest, Alternating };

std::string network(const LayerCase& c, const std::string& type, int64_t x_zero, int64_t y_zero, const char* last) {
  std::string text = cat(R"(graph "g" {
  opset 21
  input x: float32[N,)",
                         c.x, R"(]
  const xs: float32[] = {0.5}
  const xz: )",
                         type, "[] = {", x_zero, R"(}
  const ys: float32[] = {)",
                         c.channels == 16 ? 900 : 37.3, R"(}
  const yz: )",
                         type, "[] = {", y_zero, R"(}
  const w: int8[)",
                         c.w, R"(] = random(1)
  const ws: float32[)",
                         c.channels, R"(] = random(2)
  const b: int32[)",
                         c.channels, R"(] = random(3)
  const bs: float32[)",
                         c.channels, R"(] = random(4)
  const low: float32[] = {-200}
  const high: float32[] = {2000}
  x.q: )",
                         type, "[N,", c.x, R"(] = QuantizeLinear(x, xs, xz) @quantize
  x.real: float32[N,)",
                         c.x, R"(] = DequantizeLinear(x.q, xs, xz) @dequantize
  w.real: float32[)",
                         c.w, R"(] = DequantizeLinear(w, ws) @weights {axis = 0}
  b.real: float32[)",
                         c.channels, R"(] = DequantizeLinear(b, bs) @bias {axis = 0}
  l = )",
                         c.layer);
  const std::string clamp = c.clamp;
  if (clamp == "Relu") text += "\n  r = Relu(l) @clamp";
  if (clamp == "Clip") text += "\n  r = Clip(l, low, high) @clamp";
  if (clamp == "LeakyRelu") text += "\n  r = LeakyRelu(l) @bend {alpha = 0.1}";
  if (clamp == "HardSwish") text += "\n  r = HardSwish(l) @bend";
  if (clamp == "Swish") text += "\n  s = Sigmoid(l) @gate\n  r = Mul(l, s) @bend";
  return text + "\n  y = QuantizeLinear(" + (clamp.empty() ? "l" : "r") + ", ys, yz) @end\n" + last + "}\n";
}

// Weights, scales and biases as a quantiser leaves them; the extremes in place of drawn weights.
void draw(Graph& graph, Numbers numbers, std::mt19937& random) {
  const auto of = [&](const char* name) -> Tensor& { return *graph.value(graph.find_value(name)).constant; };
  Tensor& w = of("w");
  int8_t* weights = w.mutable_data<int8_t>();
  for (int64_t i = 0; i < w.size(); ++i) {
    const auto drawn = static_cast<int8_t>(static_cast<int>(random() % 256) - 128);
    weights[i] = numbers == Numbers::Random    ? drawn
                 : numbers == Numbers::Highest ? int8_t{127}
                 : numbers == Numbers::Lowest  ? int8_t{-128}
                                               : (i % 2 == 0 ? int8_t{-128} : int8_t{127});
  }
  Tensor &ws = of("ws"), &bs = of("bs"), &b = of("b");
  for (int64_t m = 0; m < ws.size(); ++m) {
    const float scale = 0.01f + static_cast<float>(random() % 1000) / 3000.0f;
    ws.mutable_data<float>()[m] = scale;
    bs.mutable_data<float>()[m] = 0.5f * scale;
    b.mutable_data<int32_t>()[m] = static_cast<int32_t>(random() % 20000) - 10000;
  }
}

// Between and beyond what the input's scale reaches.
Tensor numbers_for(const Graph& graph, Numbers numbers, std::mt19937& random) {
  Tensor x(DType::Float32, graph.value(graph.inputs[0]).type.fixed_shape());
  for (int64_t i = 0; i < x.size(); ++i) {
    const float drawn = static_cast<float>(random() % 1600) / 10.0f - 80.0f;
    x.mutable_data<float>()[i] = numbers == Numbers::Random ? drawn : numbers == Numbers::Lowest ? -1000.0f : 1000.0f;
  }
  return x;
}

// The interpreter's outputs of the graph on integers.
std::vector<Tensor> expected_of(const Graph& graph, const Tensor& x, std::string* ops) {
  Graph rewritten = graph;
  PassOptions options;
  options.target = any_target(1);
  run_passes(rewritten, options);
  for (NodeId id : rewritten.order()) *ops += head_of(rewritten.node(id)).node->op + " ";
  return interpret(rewritten, {x});
}

// The largest distance between the numbers of two tensors.
double apart(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = to_doubles(a), y = to_doubles(b);
  double most = 0;
  for (size_t i = 0; i < x.size(); ++i) most = std::max(most, std::abs(x[i] - y[i]));
  return most;
}

// `within`: compiled functions such as exp are not the interpreter's to the bit, but each machine's of a level are the same.
void expect_same_bits(const Graph& graph, const Tensor& x, const std::vector<Tensor>& interpreted,
                      const std::string& what, const std::vector<int>& levels, double within = 0) {
  for (int opt : levels) {
    SCOPED_TRACE(cat(what, " -O", opt));
    std::vector<Tensor> expected = interpreted;
    bool near = within > 0;
    CompileOptions options;
    options.opt = opt;
    options.isas = supported_isas();
    options.build.cache_folder = test_cache();
    const auto package = std::make_shared<Package>(compile(graph, options));
    for (const std::string& isa : supported_isas()) {
      for (int threads : {1, 3}) {
        const std::vector<Tensor> got = open_session("cpu", package, {threads, isa})->run({x});
        ASSERT_EQ(got.size(), expected.size());
        if (near) {
          EXPECT_LE(apart(got[0], expected[0]), within) << what << " -O" << opt;
          expected = got;
          near = false;
        }
        for (size_t i = 0; i < got.size(); ++i)
          EXPECT_TRUE(got[i].identical(expected[i]))
              << what << " -O" << opt << " " << isa << " " << threads << ", output " << i;
      }
    }
  }
}

void expect_integers(const LayerCase& c, Numbers numbers, const std::string& type, const char* last) {
  std::mt19937 random(7);
  const bool is_signed = type == "int8";
  Graph graph = parse_graph(network(c, type, is_signed ? -3 : 131, is_signed ? 9 : 101, last));
  bind_symbol(graph, "N", 2);
  draw(graph, numbers, random);
  infer_types(graph);
  const std::string what = cat(c.name, " ", type, " ", static_cast<int>(numbers), " ", last);
  const Tensor x = numbers_for(graph, numbers, random);
  std::string ops;
  const std::vector<Tensor> expected = expected_of(graph, x, &ops);
  EXPECT_NE(ops.find("QuantizedConv"), std::string::npos) << what << ": " << ops;
  EXPECT_EQ(ops.find("Relu"), std::string::npos) << what << ": " << ops;
  // In real numbers as the file spells it: a sum that lies half way between two integers may round to either.
  const double step = std::string(last).find("output z") == std::string::npos ? 1 : c.channels == 16 ? 900 : 37.3;
  EXPECT_LE(apart(interpret(graph, {x}).at(0), expected.at(0)), step * 1.001) << what;
  expect_same_bits(graph, x, expected, what,
                   numbers == Numbers::Random && !is_signed ? std::vector<int>{1, 3} : std::vector<int>{3},
                   std::string(c.clamp) == "Swish" ? step : 0);
}

TEST(Integers, EveryMachineGivesTheInterpretersBits) {
  for (const LayerCase& c : kLayerCases) expect_integers(c, Numbers::Random, "uint8", "  output y\n");
}

TEST(Integers, OfSignedNumbersToo) {
  for (const LayerCase& c : {kLayerCases[0], kLayerCases[3], kLayerCases[5], kLayerCases[11]})
    expect_integers(c, Numbers::Random, "int8", "  z = DequantizeLinear(y, ys, yz) @back\n  output z\n");
}

// An activation of a layer comes between the sums and the rounding, in one kernel.
TEST(Integers, ReachAcrossActivations) {
  for (LayerCase c : {kLayerCases[0], kLayerCases[3], kLayerCases[5], kLayerCases[9], kLayerCases[11]}) {
    for (const char* bend : {"LeakyRelu", "HardSwish", "Swish"}) {
      c.clamp = bend;
      expect_integers(c, Numbers::Random, "uint8", "  output y\n");
    }
  }
}

// A graph whose layer computes on integers at the levels, to the interpreter's bits; `within` of the same file in real numbers.
void expect_layer(const std::string& text, double within) {
  std::mt19937 random(3);
  Graph graph = parse_graph(text);
  draw(graph, Numbers::Random, random);
  infer_types(graph);
  const Tensor x = numbers_for(graph, Numbers::Random, random);
  std::string ops;
  const std::vector<Tensor> expected = expected_of(graph, x, &ops);
  EXPECT_NE(ops.find("QuantizedConv"), std::string::npos) << ops;
  EXPECT_EQ(ops.find("MatMul"), std::string::npos) << ops;
  EXPECT_LE(apart(interpret(graph, {x}).at(0), expected.at(0)), within) << text;
  expect_same_bits(graph, x, expected, text, {1, 3});
}

// A graph of an input with these extents, a layer's operands, quantised, and `lines`.
std::string layer_text(const char* x, const char* w, int channels, int axis, const char* lines) {
  return cat("graph \"g\" {\n  opset 21\n  input x: float32[", x, R"(]
  const xs: float32[] = {0.5}
  const xz: uint8[] = {131}
  const ys: float32[] = {40}
  const yz: uint8[] = {120}
  const w: int8[)",
             w, "] = random(1)\n  const ws: float32[", channels, "] = random(2)\n  const b: int32[", channels,
             "] = random(3)\n  const bs: float32[", channels, R"(] = random(4)
  x.q = QuantizeLinear(x, xs, xz) @quantize
  x.real = DequantizeLinear(x.q, xs, xz) @dequantize
  w.real = DequantizeLinear(w, ws) @weights {axis = )",
             axis, "}\n  b.real = DequantizeLinear(b, bs) @bias {axis = 0}\n  ", lines, "\n}\n");
}

// A layer whose result nothing quantises: its sums are integers, and each has one rounding.
TEST(Integers, ResultsMayStayReal) {
  for (const char* lines : {"y = Conv(x.real, w.real, b.real) @last {pads = [1, 1, 1, 1]}\n  output y",
                            "c = Conv(x.real, w.real, b.real) @conv\n  y = LeakyRelu(c) @last\n  output y"})
    expect_layer(layer_text("2,20,8,9", "35,20,3,3", 35, 0, lines), 0.05);
}

// Probabilities at the end of a network, by exponentials that are the same everywhere.
TEST(Integers, ProbabilitiesAtTheEnd) {
  for (const char* lines : {"c = Conv(x.real, w.real, b.real) @conv\n  y = Softmax(c) @last\n  output y",
                            "c = Conv(x.real, w.real, b.real) @conv\n  y = Sigmoid(c) @last\n  output y"})
    expect_layer(layer_text("2,20,8,37", "35,20,1,1", 35, 0, lines), 0.05);
}

// A MatMul of more than two axes is a layer of as many rows, quantised behind it or not.
TEST(Integers, RowsOfAMatMul) {
  const std::string sum = "p = MatMul(x.real, w.real) @product\n  s = Add(b.real, p) @sum\n  ";
  for (const char* end : {"output s", "y = QuantizeLinear(s, ys, yz) @end\n  output y"})
    expect_layer(layer_text("2,7,48", "48,37", 37, 1, (sum + end).c_str()), 1);
}

// Squeeze and excitation: one number a channel times all of it, whichever operand comes first.
TEST(Integers, AGateForEachChannel) {
  for (const char* product : {"Mul(x.real, g.real)", "Mul(g.real, x.real)"}) {
    std::mt19937 random(3);
    Graph graph = parse_graph(cat(R"(graph "g" {
  opset 21
  input x: uint8[2,20,5,6]
  input g: uint8[2,20,1,1]
  const s: float32[] = {0.02}
  const z: uint8[] = {10}
  const t: float32[] = {0.005}
  x.real = DequantizeLinear(x, s, z) @dequantize
  g.real = DequantizeLinear(g, t) @gate
  m = )",
                                  product, " @product\n  y = QuantizeLinear(m, s, z) @end\n  output y\n}\n"));
    infer_types(graph);
    std::vector<Tensor> inputs;
    for (ValueId v : graph.inputs) {
      Tensor tensor(DType::UInt8, graph.value(v).type.fixed_shape());
      for (int64_t i = 0; i < tensor.size(); ++i) tensor.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(random());
      inputs.push_back(std::move(tensor));
    }
    CompileOptions options;
    options.opt = 3;
    options.build.cache_folder = test_cache();
    const auto package = std::make_shared<Package>(compile(graph, options));
    for (const Variant& variant : package->variants) {
      for (const Step& step : variant.steps) EXPECT_GE(step.kernel, 0) << product << ": interpreted";
    }
    EXPECT_TRUE(open_session("cpu", package)->run(inputs)[0].identical(interpret(graph, inputs)[0])) << product;
  }
}

// Sums that 16 bits do not hold, of bytes of which none is zero.
TEST(Integers, NothingSaturatesBetween) {
  for (const LayerCase& c : {kLayerCases[0], kLayerCases[1], kLayerCases[4], kLayerCases[5], kLayerCases[11]}) {
    for (const Numbers numbers : {Numbers::Highest, Numbers::Lowest, Numbers::Alternating})
      expect_integers(c, numbers, "uint8", "  output y\n");
  }
}

// Weights of uint8 whose zero point leaves more than 8 bits.
TEST(Integers, OfWeightsWithAZeroPoint) {
  for (const LayerCase& c : {kLayerCases[0], kLayerCases[1], kLayerCases[3], kLayerCases[5], kLayerCases[11]}) {
    std::mt19937 random(5);
    std::string text = network(c, "uint8", 131, 101, "  output y\n");
    const auto change = [&](const std::string& from, const std::string& to) {
      ASSERT_NE(text.find(from), std::string::npos) << from;
      text.replace(text.find(from), from.size(), to);
    };
    change("  const w: int8", "  const wz: uint8[] = {151}\n  const w: uint8");
    change("DequantizeLinear(w, ws) @weights {axis = 0}", "DequantizeLinear(w, xs, wz) @weights");
    Graph graph = parse_graph(text);
    bind_symbol(graph, "N", 2);
    const auto fill = [&](const char* name, auto value) {
      Tensor& tensor = *graph.value(graph.find_value(name)).constant;
      using T = decltype(value());
      for (int64_t i = 0; i < tensor.size(); ++i) tensor.mutable_data<T>()[i] = value();
    };
    fill("w", [&] { return static_cast<uint8_t>(random() % 256); });
    fill("b", [&] { return static_cast<int32_t>(random() % 2000); });
    fill("bs", [] { return 0.25f; });
    infer_types(graph);
    const Tensor x = numbers_for(graph, Numbers::Random, random);
    std::string ops;
    const std::vector<Tensor> expected = expected_of(graph, x, &ops);
    EXPECT_NE(ops.find("QuantizedConv"), std::string::npos) << ops;
    EXPECT_LE(apart(interpret(graph, {x}).at(0), expected.at(0)), 1) << c.name;
    expect_same_bits(graph, x, expected, c.name, {3});
  }
}

// A residual, a pool with a border, parts on grids of their own joined, and what only moves numbers: nothing real in between.
TEST(Integers, StayIntegersBetweenLayers) {
  Graph graph = parse_graph(R"(graph "g" {
  opset 21
  input x: float32[2,20,9,11]
  const s: float32[] = {0.25}
  const z: int8[] = {-7}
  const t: float32[] = {0.4}
  const u: uint8[] = {90}
  const w: int8[20,20,1,1] = random(1)
  const ws: float32[20] = random(2)
  const b: int32[20] = random(3)
  const bs: float32[20] = random(4)
  const flat: int64[2] = {2, -1}
  x.q = QuantizeLinear(x, s, z) @quantize
  x.real = DequantizeLinear(x.q, s, z) @dequantize
  w.real = DequantizeLinear(w, ws) @weights {axis = 0}
  b.real = DequantizeLinear(b, bs) @bias {axis = 0}
  c = Conv(x.real, w.real, b.real) @conv
  c.q = QuantizeLinear(c, t, u) @conv_end
  c.real = DequantizeLinear(c.q, t, u) @conv_real
  a = Add(c.real, x.real) @add
  r = Relu(a) @relu
  r.q = QuantizeLinear(r, t, u) @add_end
  r.real = DequantizeLinear(r.q, t, u) @add_real
  p = MaxPool(r.real) @pool {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]}
  p.q = QuantizeLinear(p, t, u) @pool_end
  p.real = DequantizeLinear(p.q, t, u) @pool_real
  m = MaxPool(x.real) @pool2 {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]}
  m.q = QuantizeLinear(m, s, z) @pool2_end
  m.real = DequantizeLinear(m.q, s, z) @pool2_real
  j = Concat(p.real, m.real) @join {axis = 1}
  j.q = QuantizeLinear(j, t, u) @join_end
  j.real = DequantizeLinear(j.q, t, u) @join_real
  o = Transpose(j.real) @turn {perm = [0, 2, 3, 1]}
  o.q = QuantizeLinear(o, t, u) @turn_end
  o.real = DequantizeLinear(o.q, t, u) @turn_real
  f = Reshape(o.real, flat) @flat
  f.q = QuantizeLinear(f, s, z) @flat_end
  y = DequantizeLinear(f.q, s, z) @back
  output y
})");
  std::mt19937 random(11);
  draw(graph, Numbers::Random, random);
  infer_types(graph);
  const Tensor x = numbers_for(graph, Numbers::Random, random);
  std::string ops;
  const std::vector<Tensor> expected = expected_of(graph, x, &ops);
  for (const char* real : {"QuantizeLinear", "Relu", "Add "}) EXPECT_EQ(ops.find(real), std::string::npos) << ops;
  // A step of the sum, and half of one of the result.
  EXPECT_LE(apart(interpret(graph, {x}).at(0), expected.at(0)), 0.4 + 0.25);
  expect_same_bits(graph, x, expected, "residual", {1, 3, 4});
}

// Means of windows and planes, with and without their padding, and what moves numbers with no rounding behind it: nothing real up to the end.
TEST(Integers, AveragesAndWhatMovesNumbers) {
  Graph graph = parse_graph(R"(graph "g" {
  opset 21
  input x: float32[2,20,9,11]
  const s: float32[] = {0.25}
  const z: int8[] = {-7}
  const t: float32[] = {0.4}
  const u: uint8[] = {90}
  const w: int8[24,20,3,3] = random(1)
  const ws: float32[24] = random(2)
  const b: int32[24] = random(3)
  const bs: float32[24] = random(4)
  const pads: int64[8] = {0, 0, 1, 2, 0, 0, 3, 0}
  const fill: float32[] = {1.5}
  const none: float32[0] = {}
  const scales: float32[4] = {1, 1, 2, 1}
  x.q = QuantizeLinear(x, s, z) @quantize
  x.real = DequantizeLinear(x.q, s, z) @dequantize
  w.real = DequantizeLinear(w, ws) @weights {axis = 0}
  b.real = DequantizeLinear(b, bs) @bias {axis = 0}
  p = Pad(x.real, pads, fill) @pad
  i = Pad(p, pads) @border
  n = Resize(i, none, scales) @resize {mode = "nearest"}
  c = Conv(n, w.real, b.real) @conv {strides = [2, 1]}
  c.q = QuantizeLinear(c, t, u) @conv_end
  c.real = DequantizeLinear(c.q, t, u) @conv_real
  a = AveragePool(c.real) @average {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]}
  r = Relu(a) @relu
  a.q = QuantizeLinear(r, s, z) @average_end
  a.real = DequantizeLinear(a.q, s, z) @average_real
  e = AveragePool(a.real) @padded {kernel_shape = [2, 3], pads = [1, 0, 0, 2], count_include_pad = 1}
  e.q = QuantizeLinear(e, t, u) @padded_end
  e.real = DequantizeLinear(e.q, t, u) @padded_real
  g = GlobalAveragePool(e.real) @global
  g.q = QuantizeLinear(g, s, z) @global_end
  y = DequantizeLinear(g.q, s, z) @back
  output y
  output c.q
  output e.q
})");
  for (const Numbers numbers : {Numbers::Random, Numbers::Highest, Numbers::Lowest}) {
    std::mt19937 random(11);
    draw(graph, numbers, random);
    infer_types(graph);
    const Tensor x = numbers_for(graph, numbers, random);
    std::string ops;
    const std::vector<Tensor> expected = expected_of(graph, x, &ops);
    for (const char* real : {"QuantizeLinear", "Relu", "Clip", " AveragePool", "GlobalAveragePool"})
      EXPECT_EQ(ops.find(real), std::string::npos) << ops;
    // ToReal is the network's own end, ToInteger its beginning.
    EXPECT_EQ(ops.find("ToReal"), ops.rfind("ToReal")) << ops;
    EXPECT_LE(apart(interpret(graph, {x}).at(0), expected.at(0)), 3 * 0.4) << ops;
    expect_same_bits(graph, x, expected, "averages", {1, 3, 4});
  }
}

// ONNX Runtime 1.31.1 gives these; of the second mean the float32 sum lies below the middle of two integers, and gives 245.
TEST(Integers, AveragesAreThoseOfOnnxRuntime) {
  Graph graph = typed(R"(
  input x: uint8[1,8,2,5]
  const s: float32[] = {0.05}
  const z: uint8[] = {45}
  const u: uint8[] = {164}
  x.real = DequantizeLinear(x, s, z) @dequantize
  a = GlobalAveragePool(x.real) @average
  y = QuantizeLinear(a, s, u) @quantize
  output y
)");
  const Tensor x = Tensor::of<uint8_t>(
      {1, 8, 2, 5},
      {233, 109, 244, 194, 83,  224, 98,  26,  151, 217, 168, 100, 230, 122, 98,  37,  54,  178, 204, 74,
       160, 223, 37,  70,  134, 143, 101, 102, 33,  156, 238, 50,  204, 46,  11,  191, 46,  192, 84,  145,
       240, 235, 121, 52,  64,  217, 150, 43,  226, 246, 248, 159, 249, 155, 128, 248, 154, 201, 86,  202,
       249, 13,  137, 94,  13,  21,  68,  49,  183, 54,  160, 219, 126, 32,  17,  75,  105, 126, 78,  217});
  std::string ops;
  const std::vector<Tensor> y = expected_of(graph, x, &ops);
  EXPECT_TRUE(y.at(0).identical(Tensor::of<uint8_t>({1, 8, 1, 1}, {255, 246, 235, 240, 255, 255, 207, 234}))) << ops;
  EXPECT_EQ(to_int64s(interpret(graph, {x}).at(0))[1], 245);
  expect_same_bits(graph, x, y, "mean", {1, 3});
}

void expect_products(const char* rows, const char* columns, const std::string& type, const std::vector<int>& levels) {
  Graph graph = parse_graph(attention_text(rows, columns, type, type == "int8" ? -3 : 131, type));
  infer_types(graph);
  std::mt19937 random(5);
  const Tensor x = numbers_for(graph, Numbers::Random, random);
  Graph level3 = graph;
  PassOptions options;
  options.target = any_target(3);
  run_passes(level3, options);
  std::string ops, at3;
  const std::vector<Tensor> expected = expected_of(graph, x, &ops);
  for (NodeId id : level3.order()) at3 += head_of(level3.node(id)).node->op + " ";
  EXPECT_EQ(ops.find("QuantizedMatMul"), std::string::npos) << ops;
  EXPECT_NE(at3.find("QuantizedMatMul"), std::string::npos) << at3;
  expect_same_bits(graph, x, expected, cat(rows, "x", columns, " ", type), levels);
}

TEST(Integers, ProductsOfActivationsByDotProductsOfBytes) {
  expect_products("21", "37", "uint8", {1, 4});
  expect_products("37", "20", "int8", {3});
  expect_products("32", "48", "uint8", {3});
  expect_products("197", "64", "uint8", {3});
}

// Bounds of their factors put these numbers within a byte's reach, and they are none: infinity times 0.
TEST(Integers, NoNumbersAreTheLowestByte) {
  for (const char* z : {"uint8[] = {0}", "int8[] = {-100}"}) {
    Graph graph = parse_graph(
        cat("graph \"g\" {\n  opset 21\n  input x: float32[1,32]\n  const s: float32[] = {0.5}\n  const z: ", z, R"(
  const none: float32[32] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
  const most: float32[] = {3e38}
  x.q = QuantizeLinear(x, s, z) @quantize
  r = DequantizeLinear(x.q, s, z) @real
  a = Mul(r, most)
  b = Mul(a, most)
  y = Mul(b, none)
  y.q = QuantizeLinear(y, s, z) @end
  output y.q
}
)"));
    infer_types(graph);
    std::mt19937 random(7);
    const Tensor x = numbers_for(graph, Numbers::Random, random);
    std::string ops;
    expect_same_bits(graph, x, expected_of(graph, x, &ops), z, {1, 3});
  }
}

// One product of matrices of which each broadcasts, in all pairs of types, with zero points at the ends of their ranges: the interpreter's bits.
TEST(Integers, MatricesOfBytesThatBroadcast) {
  for (const char* a : {"uint8", "int8"}) {
    for (const char* b : {"uint8", "int8"}) {
      const auto zero = [](const char* type, bool high) {
        return type == std::string("int8") ? (high ? 127 : -128) : (high ? 255 : 0);
      };
      Graph graph = parse_graph(
          cat("graph \"g\" {\n  opset 21\n  input x: ", a, "[2,1,17,19]\n  const w: ", b,
              "[3,19,33] = random(2)\n  y = dnn::QuantizedMatMul(x, w) @product {a_zero_point = ", zero(a, true),
              ", b_zero_point = ", zero(b, b == std::string("int8")), "}\n  output y\n}\n"));
      infer_types(graph);
      std::mt19937 random(3);
      Tensor x(graph.value(graph.inputs[0]).type.dtype, {2, 1, 17, 19});
      for (int64_t i = 0; i < x.size(); ++i) x.mutable_bytes()[i] = static_cast<std::byte>(random() % 256);
      expect_same_bits(graph, x, interpret(graph, {x}), cat(a, " ", b), {3});
    }
  }
}

}  // namespace
}  // namespace dnn
