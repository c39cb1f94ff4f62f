// Numbers that quantisers stumble over: masks, NaN and infinity, numbers near 0, indices beyond a table, other types.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cases.h"
#include "interp/interpreter.h"
#include "quant/storage.h"
#include "refused.h"

namespace dnn::quant {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The norm of what quantising changes in the outputs, over theirs.
double error_of(const Graph& before, const Graph& after, const std::vector<Tensor>& samples) {
  double difference = 0, whole = 0;
  for (const Tensor& sample : samples) {
    const std::vector<double> a = to_doubles(interpret(before, {sample})[0]),
                              b = to_doubles(interpret(after, {sample})[0]);
    for (size_t i = 0; i < a.size(); ++i) {
      difference += (a[i] - b[i]) * (a[i] - b[i]);
      whole += a[i] * a[i];
    }
  }
  return std::sqrt(difference / whole);
}

struct QuantisedOn {
  Graph before, after;
  QuantizeReport report;
  std::string warnings;
};

QuantisedOn quantised_on(const std::string& body, const std::vector<Tensor>& samples, const char* scheme = "int8") {
  QuantisedOn result;
  result.before = prepare(parsed(body));
  QuantizeOptions o = options();
  o.scheme = scheme_named(scheme);
  o.real_results = false;  // as for TFLite, whose sums are all rounded
  o.calibrate.warn = [&](const std::string& line) { result.warnings += line + "\n"; };
  Given given(samples);
  result.after = quantize(result.before, given, o, &result.report);
  return result;
}

// Attention, each place over those before it, as `mask` says of the rest; `end` stands behind the sum.
std::string attention(const std::string& mask, const std::string& end = "") {
  return cat(
      "  input x: float32[1,3,8]\n  const wq: float32[8,8] = random(1)\n  const wk: float32[8,8] = random(2)\n",
      "  const wv: float32[8,8] = random(3)\n  const wo: float32[8,8] = random(4)\n  const mask: float32[3,3] = {0, ",
      mask, ", ", mask, ", 0, 0, ", mask, ", 0, 0, 0}\n", R"(  q = MatMul(x, wq) @q
  k = MatMul(x, wk) @k
  kt = Transpose(k) @kt {perm = [0, 2, 1]}
  s = MatMul(q, kt) @s
  m = Add(s, mask) @m
)",
      end.empty() ? "" : "  n = " + end + "(m) @n\n", "  p = Softmax(", end.empty() ? "m" : "n", R"() @p {axis = -1}
  v = MatMul(x, wv) @v
  c = MatMul(p, v) @c
  y = MatMul(c, wo) @y
  output y
)");
}

TEST(Masks, SumsThatIntegersWouldLoseStayInFloat32) {
  const std::vector<Tensor> samples = random_samples({1, 3, 8}, 12);
  for (const char* mask : {"-1e4", "-1e9", "-3.4028235e38"}) {
    for (const char* scheme : {"int8", "uint8", "int16x8"}) {
      const QuantisedOn q = quantised_on(attention(mask), samples, scheme);
      ASSERT_EQ(q.report.left_float.size(), 1U) << mask << scheme;
      EXPECT_EQ(q.report.left_float[0].node, "m");
      EXPECT_EQ(q.report.left_float[0].reason, "its result's step is too large for an operand");
      EXPECT_LT(error_of(q.before, q.after, samples), 0.06) << mask << scheme;
    }
  }
  // A mask that the grid holds stays on it.
  EXPECT_TRUE(quantised_on(attention("-5"), samples).report.left_float.empty());
}

TEST(Masks, TheEndOfSuchASumGoesWithIt) {
  const std::vector<Tensor> samples = random_samples({1, 3, 8}, 12);
  const QuantisedOn q = quantised_on(attention("-1e9", "LeakyRelu"), samples);
  EXPECT_EQ(q.report.left_float.size(), 2U);
  EXPECT_LT(error_of(q.before, q.after, samples), 0.06);
}

TEST(Masks, InfiniteConstantsStayInFloat32) {
  const std::vector<Tensor> samples = random_samples({1, 3, 8}, 12);
  const QuantisedOn q = quantised_on(attention("-inf"), samples);
  ASSERT_EQ(q.report.left_float.size(), 1U);
  EXPECT_EQ(q.report.left_float[0].reason, "a constant operand is NaN or infinite");
  EXPECT_LT(error_of(q.before, q.after, samples), 0.06);
}

constexpr const char* kConvolution = R"(
  input x: float32[1,3,6,6]
  const w: float32[4,3,3,3] = random(1)
  y = Conv(x, w) @conv
  output y
)";

TEST(SpecialNumbers, OfOneInputAreLeftOut) {
  const std::vector<Tensor> samples = random_samples({1, 3, 6, 6}, 12);
  for (const float special : {kNan, kInfinity, -kInfinity}) {
    std::vector<Tensor> with = samples;
    with.push_back(samples[0]);
    with.back().mutable_data<float>()[5] = special;
    const QuantisedOn q = quantised_on(kConvolution, with);
    EXPECT_NE(q.warnings.find("NaN or infinite"), std::string::npos);
    EXPECT_LT(error_of(q.before, q.after, samples), 0.03) << special;
  }
}

TEST(SpecialNumbers, OfABiasAreRefused) {
  EXPECT_EQ(refused([] {
              quantised_on(R"(
  input x: float32[1,2,4,4]
  const w: float32[2,2,1,1] = random(1)
  const b: float32[2] = {1, nan}
  y = Conv(x, w, b) @conv
  output y
)",
                           random_samples({1, 2, 4, 4}, 12));
            }),
            "4 node 'conv' (Conv): a bias is NaN or infinite, which int32 cannot hold");
}

TEST(SmallNumbers, KeepTheirBits) {
  const std::vector<Tensor> samples = random_samples({1, 2, 4, 4}, 12);
  // The first layer's scales are near 1e-35.
  const QuantisedOn q = quantised_on(R"(
  input x: float32[1,2,4,4]
  const w: float32[2,2,1,1] = {1e-33, 2e-33, -3e-33, 1e-33}
  const b: float32[2] = {1e-33, -1e-33}
  const v: float32[2,2,1,1] = {1e30, 2e30, -1e30, 3e30}
  a = Conv(x, w, b) @first
  r = Relu(a) @relu
  y = Conv(r, v) @second
  output y
)",
                                     samples);
  EXPECT_LT(error_of(q.before, q.after, samples), 0.03);
  for (const bool symmetric : {false, true}) {
    // A scale is a normal number, also of numbers that are none.
    const Affine least = affine_of(-1e-42, 1e-42, DType::Int16, symmetric);
    EXPECT_EQ(least.scale, std::numeric_limits<float>::min());
  }
}

TEST(SmallNumbers, BiasesHaveAScale) {
  // The product of both scales is 0 in float32.
  std::vector<Tensor> samples = random_samples({1, 2, 4, 4}, 12);
  for (Tensor& sample : samples) {
    for (int64_t i = 0; i < sample.size(); ++i) sample.mutable_data<float>()[i] *= 1e-20F;
  }
  const QuantisedOn q = quantised_on(R"(
  input x: float32[1,2,4,4]
  const w: float32[2,2,1,1] = {1e-20, 2e-20, 1, 1}
  const b: float32[2] = {0, 1e-20}
  y = Conv(x, w, b) @conv
  output y
)",
                                     samples);
  for (const Tensor& sample : samples) {
    for (const double y : to_doubles(interpret(q.after, {sample})[0])) EXPECT_TRUE(std::isfinite(y));
  }
  EXPECT_LT(error_of(q.before, q.after, samples), 0.03);
}

TEST(Calibrate, AnIndexBeyondTheTableIsTheInputsFault) {
  std::vector<Tensor> samples;
  for (int64_t i = 0; i < 40; ++i) samples.push_back(Tensor::of<int64_t>({1, 2}, {i % 9, i == 0 ? 3 : 10 + i}));
  for (const int threads : {1, 3}) {
    const Graph graph = prepare(parsed(R"(
  input x: int64[1,2]
  const e: float32[10,4] = random(1)
  const w: float32[4,3] = random(2)
  g = Gather(e, x) @table
  y = MatMul(g, w) @head
  output y
)"));
    EXPECT_NE(refused([&] {
                Given given(samples);
                QuantizeReport report;
                quantize(graph, given, options(threads), &report);
              }).find("is out of range for an extent of 10"),
              std::string::npos);
  }
}

// One number for each channel is a flat input; few numbers, or only two kinds of them, are none.
TEST(Calibrate, KnowsFlatInputs) {
  const auto says_flat = [](const Shape& shape, const std::function<float(int64_t i, int64_t sample)>& number) {
    std::vector<Tensor> samples;
    for (int64_t s = 0; s < 12; ++s) {
      Tensor sample(DType::Float32, shape);
      for (int64_t i = 0; i < sample.size(); ++i) sample.mutable_data<float>()[i] = number(i, s);
      samples.push_back(std::move(sample));
    }
    const std::string body = cat("  input x: ", Type(samples[0]).text(), "\n  const k: float32[1] = {2}\n",
                                 "  y = Mul(x, k) @mul\n  output y\n");
    return quantised_on(body, samples).warnings.find("is constant") != std::string::npos;
  };
  EXPECT_TRUE(says_flat({1, 3, 4, 4}, [](int64_t i, int64_t s) { return static_cast<float>((i >> 4) + s); }));
  EXPECT_TRUE(says_flat({1, 4, 4, 3}, [](int64_t i, int64_t s) { return static_cast<float>(i % 3 + s); }));
  EXPECT_FALSE(says_flat({1, 4}, [](int64_t i, int64_t s) { return static_cast<float>(i * i + s); }));
  EXPECT_FALSE(says_flat({1, 10}, [](int64_t i, int64_t s) { return i == s % 10 ? 1.0F : 0.0F; }));
  EXPECT_FALSE(says_flat({1, 1, 8, 8}, [](int64_t i, int64_t s) { return static_cast<float>(i * 7 % 5 > 2 + s % 2); }));
}

TEST(Types, OtherFloatsAreRefusedByName) {
  const auto of = [](const std::string& type) {
    return refused([&] {
      quantised_on(
          cat("  input x: ", type, "[1,2]\n  const w: ", type, "[2,2] = random(1)\n  y = MatMul(x, w)\n  output y\n"),
          random_samples({1, 2}, 1));
    });
  };
  EXPECT_EQ(of("float64"), "4 the network computes in float64; give it in float32");
  EXPECT_EQ(of("float16"),
            "4 the network computes in float16; give it in float32, as dnn-convert --dtype float32 writes it");
}

// Rounding to bfloat16 would lead beyond its range: rows of a mask would hold infinities alone.
TEST(Storage, NoNumberBecomesInfinite) {
  Graph graph = parsed(R"(
  input x: float32[1,2]
  const w: float32[2,3] = {1, -3.4028235e38, 3.4028235e38, 0.5, -inf, 2}
  y = MatMul(x, w)
  output y
)");
  EXPECT_EQ(store_weights(graph, DType::BFloat16), 1);
  const Tensor* stored = graph.constant(graph.find_value("w.bfloat16"));
  ASSERT_NE(stored, nullptr);
  const std::vector<double> numbers = to_doubles(*stored);
  EXPECT_EQ(numbers[1], -0x1.FEp127);
  EXPECT_EQ(numbers[2], 0x1.FEp127);
  EXPECT_EQ(numbers[4], -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace dnn::quant
