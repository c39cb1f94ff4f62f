// Float32 networks at reduced precision: what is rounded, the interpreter's bits on each instruction set at the levels that promise them, at
// any number of threads, and weights that lie in 16 bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "cache.h"
#include "compile/compile.h"
#include "compile/precision.h"
#include "devices/device.h"
#include "graph_case.h"
#include "target/isa.h"

namespace dnn {
namespace {

constexpr DType kElements[] = {DType::BFloat16, DType::Float16};

// Each has one input, and computes with + - * / sqrt and comparisons alone.
constexpr const char* kPrecisionNets[] = {
    // Normalisation behind a layer, a residual whose sum two read, grouped and depthwise layers.
    R"(
  input x: float32[3,5,7,9]
  const w1: float32[19,5,3,3] = random(1)
  const s: float32[19] = random(2)
  const b: float32[19] = random(3)
  const m: float32[19] = random(4)
  const v: float32[19] = {1, 2, 0.5, 0.75, 1.25, 1, 3, 0.9, 1.1, 2, 1, 0.6, 0.7, 0.8, 2.5, 1, 1, 4, 0.3}
  const w2: float32[19,19,1,1] = random(5)
  const w3: float32[19,1,3,3] = random(6)
  const w4: float32[21,19,1,1] = random(7)
  c = Conv(x, w1) @c {pads = [1, 1, 1, 1]}
  n = BatchNormalization(c, s, b, m, v) @n
  r = Relu(n) @r
  d = Conv(r, w2) @d
  a = Add(d, r) @a
  g = Conv(a, w3) @g {group = 19, pads = [1, 1, 1, 1]}
  h = Relu(g) @h
  y = Conv(h, w4) @y
  output y
)",
    // Parts that are joined and pooled before a layer reads them, and a fully connected end.
    R"(
  input x: float32[2,3,9,11]
  const w1: float32[16,3,3,3] = random(1)
  const w2: float32[24,3,1,1] = random(2)
  const w3: float32[33,40,3,3] = random(3)
  const w4: float32[33,50] = random(4)
  const b4: float32[50] = random(5)
  const flat: int64[2] = {2, -1}
  p = Conv(x, w1) @p {pads = [1, 1, 1, 1]}
  q = Conv(x, w2) @q
  j = Concat(p, q) @j {axis = 1}
  k = MaxPool(j) @k {kernel_shape = [2, 2], strides = [2, 2]}
  l = Conv(k, w3) @l {pads = [1, 1, 1, 1]}
  g = GlobalAveragePool(l) @g
  f = Reshape(g, flat) @f
  y = Gemm(f, w4, b4) @y
  output y
)",
    // Products of computed matrices, and weights that are many and used once.
    R"(
  input x: float32[1,6,40]
  const w1: float32[40,128] = random(1)
  const w2: float32[40,6] = random(2)
  const w3: float32[128,256] = random(3)
  const half: float32[] = {0.5}
  a = MatMul(x, w1) @a
  b = MatMul(x, w2) @b
  c = Mul(b, half) @c
  d = MatMul(c, a) @d
  y = MatMul(d, w3) @y
  output y
)"};

// Numbers between -2 and 2, or of all sizes.
Tensor reals_for(const Graph& graph, bool extreme) {
  std::mt19937 engine(3);
  std::uniform_real_distribution<float> uniform(-2, 2);
  Tensor x(DType::Float32, graph.value(graph.inputs.at(0)).type.fixed_shape());
  for (int64_t i = 0; i < x.size(); ++i)
    x.mutable_data<float>()[i] =
        extreme ? std::ldexp(uniform(engine), static_cast<int>(engine() % 50) - 45) : uniform(engine);
  return x;
}

std::shared_ptr<const Package> compiled_at(const Graph& graph, DType element, int opt,
                                           const std::string& device = "cpu") {
  CompileOptions options;
  options.opt = opt;
  options.element = element;
  options.device = device;
  if (device == "cpu") options.isas = supported_isas();
  options.build.cache_folder = test_cache();
  return std::make_shared<Package>(compile(graph, options));
}

TEST(Precision, EveryInstructionSetGivesTheInterpretersBits) {
  for (const char* net : kPrecisionNets) {
    const Graph graph = typed(net);
    for (const DType element : kElements) {
      const Graph reduced = at_element(graph, element);
      for (const bool extreme : {false, true}) {
        const Tensor x = reals_for(graph, extreme);
        const std::vector<Tensor> expected = interpret(reduced, {x});
        for (const int opt : {0, 1, 2}) {
          const auto package = compiled_at(graph, element, opt);
          EXPECT_EQ(package->info.dtype, dtype_name(element));
          for (const std::string& isa : supported_isas()) {
            for (const int threads : {1, 3}) {
              const std::vector<Tensor> y = open_session("cpu", package, {threads, isa})->run({x});
              EXPECT_TRUE(y.at(0).identical(expected.at(0)))
                  << dtype_name(element) << " -O" << opt << " " << isa << " " << threads << net;
            }
          }
        }
        const std::vector<Tensor> y = open_session("reference", compiled_at(graph, element, 0, "reference"))->run({x});
        EXPECT_TRUE(y.at(0).identical(expected.at(0)));
      }
    }
  }
}

// Other orders of sums round otherwise here and there, and no further.
TEST(Precision, LevelsThatReassociateStayNear) {
  for (const char* net : kPrecisionNets) {
    const Graph graph = typed(net);
    const Tensor x = reals_for(graph, false);
    for (const DType element : kElements) {
      const std::vector<Tensor> expected = interpret(at_element(graph, element), {x});
      for (const int opt : {3, 4}) {
        const auto package = compiled_at(graph, element, opt);
        for (const std::string& isa : supported_isas()) {
          const std::vector<Tensor> one = open_session("cpu", package, {1, isa})->run({x});
          EXPECT_LE(compare(expected.at(0), one.at(0)).relative(), element == DType::BFloat16 ? 4e-3 : 5e-4)
              << isa << net;
          EXPECT_TRUE(open_session("cpu", package, {3, isa})->run({x}).at(0).identical(one.at(0))) << isa << net;
        }
      }
    }
  }
}

// It is another network: in float32 the outputs differ by what the type rounds.
TEST(Precision, Rounds) {
  for (const char* net : kPrecisionNets) {
    const Graph graph = typed(net);
    const Tensor x = reals_for(graph, false), y = interpret(graph, {x}).at(0);
    const double brain = compare(y, interpret(at_element(graph, DType::BFloat16), {x}).at(0)).relative(),
                 half = compare(y, interpret(at_element(graph, DType::Float16), {x}).at(0)).relative();
    EXPECT_GT(brain, 1e-4) << net;
    EXPECT_LT(brain, 3e-2) << net;
    EXPECT_GT(half, 1e-5) << net;
    EXPECT_LT(half, brain / 2) << net;
  }
}

TEST(Precision, RoundsWhatLayersMultiply) {
  const Graph residual = at_element(typed(kPrecisionNets[0]), DType::BFloat16);
  // A layer and the sum read the first layer's result; layers read the sum and the depthwise layer's result.
  EXPECT_EQ(ops_of(residual), "Conv Relu RoundTo Conv Add RoundTo Conv Relu RoundTo Conv");
  const Graph joined = at_element(typed(kPrecisionNets[1]), DType::BFloat16);
  EXPECT_EQ(ops_of(joined), "Conv RoundTo Conv RoundTo Concat MaxPool Conv GlobalAveragePool RoundTo Reshape Gemm");
  for (const Graph* graph : {&residual, &joined}) {
    for (NodeId id : graph->order()) {
      if (!has_trait(graph->node(id), Trait::Weighted)) continue;
      const Tensor& w = *graph->constant(graph->node(id).inputs[1]);
      EXPECT_TRUE(w.identical(convert(convert(w, DType::BFloat16), DType::Float32)));
      if (graph->node(id).op == "Gemm") {
        const Tensor& b = *graph->constant(graph->node(id).inputs[2]);
        EXPECT_FALSE(b.identical(convert(convert(b, DType::BFloat16), DType::Float32)));
      }
    }
  }
}

// All numbers near which rounding decides, and NaN, in vectors and alone, as the library's own types round.
TEST(Precision, CompiledRoundingIsTheLibrarys) {
  std::vector<float> numbers;
  for (uint32_t high = 0; high < 0x10000; high += 1) {
    for (const uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu, 0x1000u, 0x0fffu, 0x3000u}) {
      const uint32_t bits = high << 16 | low;
      float x = 0;
      std::memcpy(&x, &bits, 4);
      numbers.push_back(x);
    }
  }
  numbers.resize(numbers.size() / 2 * 2 + 1);  // with a tail
  const Tensor x = Tensor::of<float>({static_cast<int64_t>(numbers.size())}, numbers);
  for (const DType element : kElements) {
    const Graph graph = typed(cat("  input x: float32[", numbers.size(),
                                  "]\n  y = dnn::RoundTo(x) @y {to = ", static_cast<int>(element), "}\n  output y"));
    const Tensor expected = convert(convert(x, element), DType::Float32);
    EXPECT_TRUE(interpret(graph, {x}).at(0).identical(expected));
    for (const int opt : {0, 3}) {
      const auto package = compiled_at(graph, DType::Float32, opt);
      for (const std::string& isa : supported_isas()) {
        const Tensor y = open_session("cpu", package, {1, isa})->run({x}).at(0);
        for (int64_t i = 0; i < x.size(); ++i) {
          ASSERT_EQ(std::memcmp(y.data<float>() + i, expected.data<float>() + i, 4), 0)
              << dtype_name(element) << " " << isa << " -O" << opt << ": " << x.data<float>()[i] << " to "
              << y.data<float>()[i] << " and not " << expected.data<float>()[i];
        }
      }
    }
  }
}

// The weights of a layer that uses each a few times lie in 16 bits where the instruction set reads them so.
TEST(Precision, WeightsLieIn16Bits) {
  const Graph graph = typed(R"(
  input x: float32[1,64]
  const w1: float32[512,64] = random(1)
  const w2: float32[300,512] = random(2)
  const b: float32[300] = random(3)
  h = Gemm(x, w1) @h {transB = 1}
  r = Relu(h) @r
  y = Gemm(r, w2, b) @y {transB = 1}
  output y
)");
  const Tensor x = reals_for(graph, false);
  for (const DType element : kElements) {
    const auto package = compiled_at(graph, element, 3);
    bool narrow = false;
    for (const Tensor& constant : package->constants.all()) narrow = narrow || constant.dtype() == element;
    EXPECT_EQ(narrow, element == DType::BFloat16 || supported_isas().back() == "avx512");
    const Tensor expected = interpret(at_element(graph, element), {x}).at(0);
    for (const std::string& isa : supported_isas()) {
      const Tensor y = open_session("cpu", package, {1, isa})->run({x}).at(0);
      EXPECT_LE(compare(expected, y).relative(), 5e-3) << isa;
    }
    const auto exact = compiled_at(graph, element, 1);
    for (const std::string& isa : supported_isas())
      EXPECT_TRUE(open_session("cpu", exact, {2, isa})->run({x}).at(0).identical(expected)) << isa;
  }
}

std::string refused_element(const Graph& graph, DType element) {
  try {
    at_element(graph, element);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Unsupported);
    return e.what();
  }
  return "";
}

TEST(Precision, RefusesWhatItCannotRun) {
  const Graph no_layer = typed("  input x: float32[4]\n  y = Relu(x) @y\n  output y");
  EXPECT_NE(refused_element(no_layer, DType::BFloat16).find("no layer in float32"), std::string::npos);
  const Graph large =
      typed("  input x: float32[1,2]\n  const w: float32[2,2] = {1, 70000, 3, 4}\n  y = MatMul(x, w) @y\n  output y");
  EXPECT_NE(refused_element(large, DType::Float16).find("the weight 70000 in 'w' is beyond"), std::string::npos);
  EXPECT_EQ(refused_element(large, DType::BFloat16), "");
}

}  // namespace
}  // namespace dnn
