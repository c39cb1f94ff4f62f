// Float32 networks at reduced precision: what is rounded, the interpreter's bits on each instruction set at the levels that promise them, at
// any number of threads, and weights that lie in 16 bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "cache.h"
#include "compile/build_c.h"
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
  if (device == "cpu") options.isas = supported_isas(element);
  options.build.cache_folder = test_cache();
  return std::make_shared<Package>(compile(graph, options));
}

// That it has code for, best last.
std::vector<std::string> isas_in(const Package& package) {
  std::vector<std::string> isas;
  for (const Variant& variant : package.variants) isas.push_back(variant.target.isa);
  return isas;
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
          for (const std::string& isa : isas_in(*package)) {
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
        for (const std::string& isa : isas_in(*package)) {
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
    for (const std::string& isa : isas_in(*package)) {
      const Tensor y = open_session("cpu", package, {1, isa})->run({x}).at(0);
      EXPECT_LE(compare(expected, y).relative(), 5e-3) << isa;
    }
    const auto exact = compiled_at(graph, element, 1);
    for (const std::string& isa : isas_in(*exact))
      EXPECT_TRUE(open_session("cpu", exact, {2, isa})->run({x}).at(0).identical(expected)) << isa;
  }
}

// Layers of all shapes that dot products of pairs take: channels in whole, half and no blocks, strides, borders, a residual, parts that
// are joined, one row and several, and layers beside them that have no pairs.
constexpr const char* kNetsOfPairs[] = {
    R"(
  input x: float32[2,3,19,21]
  const w0: float32[40,3,3,3] = random(1)
  const b0: float32[40] = random(2)
  const w1: float32[40,40,3,3] = random(3)
  const b1: float32[40] = random(4)
  const w2: float32[48,40,1,1] = random(5)
  const w3: float32[48,1,3,3] = random(6)
  const w4: float32[24,48,1,1] = random(7)
  const w5: float32[8,24,3,3] = random(8)
  const w6: float32[20,8,3,3] = random(9)
  const w7: float32[36,44] = random(10)
  const b7: float32[36] = random(11)
  const scale: float32[] = {0.05}
  const flat: int64[2] = {2, -1}
  x0 = Mul(x, scale) @s
  c0 = Conv(x0, w0, b0) @c0 {pads = [1, 1, 1, 1]}
  r0 = Relu(c0) @r0
  c1 = Conv(r0, w1, b1) @c1 {pads = [1, 1, 1, 1]}
  a1 = Add(c1, r0) @a1
  r1 = Relu(a1) @r1
  m1 = MaxPool(r1) @m1 {kernel_shape = [2, 2], strides = [2, 2]}
  c2 = Conv(m1, w2) @c2
  s2 = Sigmoid(c2) @s2
  c3 = Conv(s2, w3) @c3 {group = 48, pads = [1, 1, 1, 1]}
  c4 = Conv(c3, w4) @c4
  c5 = Conv(c4, w5) @c5 {pads = [1, 1, 1, 1], strides = [2, 2]}
  c6 = Conv(c5, w6) @c6 {pads = [2, 2, 2, 2], dilations = [2, 2]}
  m4 = MaxPool(c4) @m4 {kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1}
  j = Concat(m4, c6) @j {axis = 1}
  g = GlobalAveragePool(j) @g
  f = Reshape(g, flat) @f
  y = Gemm(f, w7, b7) @y {transB = 1}
  output y
)",
    R"(
  input x: float32[1,9,34]
  const w1: float32[34,64] = random(1)
  const w2: float32[64,48] = random(2)
  const w3: float32[64,18] = random(3)
  const w4: float32[18,50] = random(4)
  const small: float32[] = {0.1}
  a = MatMul(x, w1) @a
  t = Tanh(a) @t
  b = MatMul(t, w2) @b
  c = MatMul(t, w3) @c
  d = Transpose(c) @d {perm = [0, 2, 1]}
  e = MatMul(d, b) @e
  s = Mul(e, small) @s
  g = Transpose(s) @g {perm = [0, 2, 1]}
  h = MatMul(c, w4) @h
  y = Relu(g) @y
  output y
  output h
)",
};

// Dot products are near, the same at each number of threads, and the same without their instruction.
TEST(Precision, DotProductsOfPairs) {
  for (const char* net : kNetsOfPairs) {
    const Graph graph = typed(net);
    const Tensor x = reals_for(graph, false);
    const std::vector<Tensor> expected = interpret(at_element(graph, DType::BFloat16), {x});
    for (const int opt : {3, 4}) {
      const auto package = compiled_at(graph, DType::BFloat16, opt);
      for (const std::string& isa : isas_in(*package)) {
        const std::vector<Tensor> one = open_session("cpu", package, {1, isa})->run({x}),
                                  more = open_session("cpu", package, {3, isa})->run({x});
        for (size_t i = 0; i < one.size(); ++i) {
          EXPECT_LE(compare(expected[i], one[i]).relative(), 8e-3) << isa << " -O" << opt << net;
          EXPECT_TRUE(more[i].identical(one[i])) << isa << net;
        }
      }
      if (supported_isas(DType::BFloat16).back() != "avx512-bf16") continue;
      Variant variant = package->variants.back();
      ASSERT_EQ(variant.target.isa, "avx512-bf16");
      EXPECT_NE(variant.code.source.find("dot2_bf16_f32x16("), std::string::npos);
      auto without = std::make_shared<Package>(*package);
      variant.target.isa = "avx512";
      BuildOptions build;
      build.contract = true;
      build.cache_folder = test_cache();
      build_code(variant, build);
      without->variants = {variant};
      const std::vector<Tensor> by_instruction = open_session("cpu", package, {1, "avx512-bf16"})->run({x}),
                                by_hand = open_session("cpu", without, {1, "avx512"})->run({x});
      for (size_t i = 0; i < by_hand.size(); ++i) EXPECT_TRUE(by_hand[i].identical(by_instruction[i])) << opt << net;
    }
  }
}

// Memory has them in 16 bits; who asks for a value gets what the model has there.
TEST(Precision, ValuesIn16BitsAreSeenInFloat32) {
  if (supported_isas(DType::BFloat16).back() != "avx512-bf16") GTEST_SKIP() << "this processor has no AVX512-BF16";
  const Graph graph = typed(kNetsOfPairs[0]);
  const Tensor x = reals_for(graph, false);
  const auto package = compiled_at(graph, DType::BFloat16, 3);
  const Variant& variant = package->variants.back();
  int64_t narrow = 0, seen = 0;
  for (const Placement& place : variant.values) narrow += place.dtype == DType::BFloat16 ? 1 : 0;
  EXPECT_GE(narrow, 8);
  open_session("cpu", package, {1, "avx512-bf16"})->trace({x}, [&](const Graph&, ValueId id, const Tensor& value) {
    if (id >= static_cast<ValueId>(variant.values.size()) ||
        variant.values[static_cast<size_t>(id)].dtype != DType::BFloat16)
      return;
    ++seen;
    EXPECT_EQ(value.dtype(), DType::Float32);
    EXPECT_TRUE(value.identical(convert(convert(value, DType::BFloat16), DType::Float32)));
    EXPECT_GT(compare(Tensor(DType::Float32, value.shape()), value).max_abs, 0) << variant.graph->value(id).name;
  });
  EXPECT_GE(seen, 8);
}

// It is for networks in bfloat16 at levels that may reorder sums, and is not spoken of elsewhere.
TEST(Precision, OnlyNetworksInBFloat16HaveCodeForDotProducts) {
  const Graph graph = typed(kNetsOfPairs[1]);
  for (const DType element : {DType::Float32, DType::Float16}) {
    const auto package = compiled_at(graph, element, 3);
    for (const std::string& isa : isas_in(*package)) EXPECT_NE(isa, "avx512-bf16");
  }
  const auto exact = compiled_at(graph, DType::BFloat16, 2);
  for (const Variant& variant : exact->variants) {
    EXPECT_NE(variant.target.isa, "avx512-bf16") << "its code is that of avx512";
    for (const Placement& place : variant.values) EXPECT_EQ(place.dtype, DType::Undefined);
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
