// What -O4 approximates: exp, tanh, erf, silu and softmax against libm in double precision (close to rounding at -O3, to 2e-5 at
// -O4), convolutions by Winograd's algorithm.
#include <gtest/gtest.h>

#include <cmath>

#include "cache.h"
#include "compile/compile.h"
#include "devices/device.h"
#include "graph/text.h"
#include "interp/interpreter.h"
#include "target/isa.h"

namespace dnn {
namespace {

// `isa`: empty for this processor's best.
Tensor run(const std::string& op, const Tensor& x, int opt, const std::string& isa = "") {
  const Graph graph = parse_graph(cat("graph \"g\" {\n opset 28\n input x: float32[", join(x.shape(), ","),
                                      "]\n y = ", op, "(x) @y\n output y\n}"));
  CompileOptions options;
  options.opt = opt;
  if (!isa.empty()) options.isas = {isa};
  options.build.cache_folder = test_cache();
  return open_session("cpu", std::make_shared<Package>(compile(graph, options)))->run({x})[0];
}

// Largest error relative to the value, over -60 to 60 with dense steps near 0.
double error_of(const std::string& op, double (*exact)(double), int opt, const std::string& isa) {
  constexpr int64_t kCount = 4003;  // no multiple of a vector
  Tensor x(DType::Float32, {kCount});
  for (int64_t i = 0; i < kCount; ++i) {
    const double t = 2.0 * static_cast<double>(i) / kCount - 1;
    x.mutable_data<float>()[i] = static_cast<float>(60 * t * t * t);
  }
  const Tensor y = run(op, x, opt, isa);
  double worst = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    const double expected = exact(static_cast<double>(x.data<float>()[i]));
    if (expected == 0) continue;
    worst = std::max(worst, std::abs(static_cast<double>(y.data<float>()[i]) - expected) / std::abs(expected));
  }
  return worst;
}

double silu(double x) { return x / (1 + std::exp(-x)); }

TEST(FastMath, ElementFunctions) {
  const struct {
    const char* op;
    double (*exact)(double);
    double with_tables = 2.4e-7;  // at -O3 with AVX-512
  } rows[] = {{"Exp", std::exp}, {"Tanh", std::tanh}, {"Erf", std::erf}, {"Swish", silu, 5e-7}};
  for (const auto& row : rows) {
    for (const std::string& isa : default_isas()) {
      const double exact = error_of(row.op, row.exact, 3, isa), fast = error_of(row.op, row.exact, 4, isa);
      EXPECT_LT(exact, isa == "avx512" ? row.with_tables : 4e-7) << row.op << " " << isa;
      EXPECT_LT(fast, 2.5e-5) << row.op << " " << isa;
      // With AVX-512's tables, exp, erf and silu are as fast to rounding.
      const bool same = isa == "avx512" && std::string(row.op) != "Tanh";
      EXPECT_TRUE(same ? fast == exact : fast > exact) << row.op << " " << isa << ": -O4 does not approximate";
    }
  }
}

// Where the polynomials and tables end, and what is no number.
TEST(FastMath, EndsOfTheRange) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> ends = {0.0f,   -0.0f,   inf,   -inf,   nan,  88.7f, 88.75f,
                                   -87.0f, -200.0f, 1e30f, 1e-30f, 3.9f, -4.2f};
  for (const std::string& isa : default_isas()) {
    for (const int opt : {3, 4}) {
      const Tensor x = Tensor::of<float>({static_cast<int64_t>(ends.size())}, ends);
      const Tensor power = run("Exp", x, opt, isa), error = run("Erf", x, opt, isa), tangent = run("Tanh", x, opt, isa),
                   swish = run("Swish", x, opt, isa);
      for (size_t i = 0; i < ends.size(); ++i) {
        const auto is_near = [&](const Tensor& y, float expected) {
          const float found = y.data<float>()[i];
          if (std::isnan(expected)) return std::isnan(found);
          return found == expected || std::abs(found - expected) <= 2.5e-5f * std::abs(expected) + 0x1p-125f;
        };
        EXPECT_TRUE(is_near(power, std::exp(ends[i])))
            << isa << " O" << opt << " exp " << ends[i] << ": " << power.data<float>()[i];
        EXPECT_TRUE(is_near(error, std::erf(ends[i])))
            << isa << " O" << opt << " erf " << ends[i] << ": " << error.data<float>()[i];
        EXPECT_TRUE(is_near(tangent, std::tanh(ends[i])))
            << isa << " O" << opt << " tanh " << ends[i] << ": " << tangent.data<float>()[i];
        EXPECT_TRUE(is_near(swish, static_cast<float>(silu(static_cast<double>(ends[i])))))
            << isa << " O" << opt << " swish " << ends[i] << ": " << swish.data<float>()[i];
        EXPECT_EQ(std::signbit(error.data<float>()[i]), std::signbit(ends[i])) << ends[i];
      }
    }
  }
}

TEST(FastMath, SoftmaxOfLongRows) {
  Tensor x(DType::Float32, {3, 197});
  for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = static_cast<float>((i * 37 + 11) % 101) / 9.0f;
  for (const auto& [opt, bound] : {std::pair(0, 1e-6), std::pair(3, 1e-6), std::pair(4, 3e-5)}) {
    const Tensor y = run("Softmax", x, opt);
    for (int64_t row = 0; row < 3; ++row) {
      double sum = 0;
      for (int64_t i = 0; i < 197; ++i) sum += std::exp(static_cast<double>(x.data<float>()[row * 197 + i]));
      for (int64_t i = 0; i < 197; ++i) {
        const int64_t at = row * 197 + i;
        const double expected = std::exp(static_cast<double>(x.data<float>()[at])) / sum;
        EXPECT_NEAR(y.data<float>()[at], expected, bound * expected) << "O" << opt << " at " << at;
      }
    }
  }
}

// A convolution that -O4 computes by Winograd's algorithm, with an element-wise end that reads it twice and a second one behind it.
TEST(FastMath, WinogradOnEveryInstructionSet) {
  const struct {
    int64_t channels, height, width, high = 3, wide = 3, stride = 1;
    double bound = 1e-5;  // of the largest output; 16x16 gets F(4x4, 3x3) and, behind it, F(5x5, 3x3)
  } rows[] = {{48, 17, 30},      {48, 16, 16, 3, 3, 1, 2e-5}, {512, 7, 7},          {32, 27, 26, 5, 5},
              {64, 17, 9, 1, 7}, {64, 9, 17, 7, 1},           {64, 57, 56, 3, 3, 2}};
  for (const auto& [channels, height, width, high, wide, stride, bound] : rows) {
    const Graph graph =
        parse_graph(cat("graph \"g\" {\n opset 28\n input x: float32[2,", channels, ",", height, ",", width,
                        "]\n const w: float32[", channels + 4, ",", channels, ",", high, ",", wide, R"(] = random(1)
      const b: float32[)",
                        channels + 4, R"(] = random(2)
      const v: float32[34,)",
                        channels + 4, R"(,3,3] = random(3)
      c = Conv(x, w, b) @first {auto_pad = "SAME_LOWER", strides = [)",
                        stride, ", ", stride, R"(]}
      s = Sigmoid(c)
      r = Mul(c, s)
      y = Conv(r, v) @second {pads = [0, 1, 0, 0]}
      output y
    })"));
    Tensor x(DType::Float32, {2, channels, height, width});
    for (int64_t i = 0; i < x.size(); ++i)
      x.mutable_data<float>()[i] = static_cast<float>((i * 37 + 11) % 101) / 50.0f - 1;
    const std::vector<double> expected = to_doubles(interpret(graph, {x})[0]);
    CompileOptions options;
    options.opt = 4;
    options.processor = "zen5";
    options.isas = known_isas();  // so that the forms are the same on each processor
    options.build.cache_folder = test_cache();
    auto package = std::make_shared<Package>(compile(graph, options));
    const std::string text = to_text(package->graph());
    EXPECT_NE(text.find(" w.winograd"), std::string::npos) << text;
    double largest = 0;
    for (double y : expected) largest = std::max(largest, std::abs(y));
    for (const std::string& isa : supported_isas()) {
      const std::vector<double> actual = to_doubles(open_session("cpu", package, {2, isa})->run({x})[0]);
      ASSERT_EQ(actual.size(), expected.size());
      for (size_t i = 0; i < actual.size(); ++i)
        ASSERT_NEAR(actual[i], expected[i], bound * largest) << isa << " " << i;
    }
  }
}

}  // namespace
}  // namespace dnn
