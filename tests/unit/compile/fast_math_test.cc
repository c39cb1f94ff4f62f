// exp, tanh, erf and softmax of compiled code against libm in double precision: close to rounding at -O3, to 2e-5 at -O4.
#include <gtest/gtest.h>

#include <cmath>

#include "compile/compile.h"
#include "devices/device.h"
#include "graph/text.h"

namespace dnn {
namespace {

Tensor run(const std::string& op, const Tensor& x, int opt) {
  const Graph graph = parse_graph(cat("graph \"g\" {\n opset 28\n input x: float32[", join(x.shape(), ","),
                                      "]\n y = ", op, "(x) @y\n output y\n}"));
  CompileOptions options;
  options.opt = opt;
  options.build.cache_folder = DNN_TEST_CACHE;
  return open_session("cpu", std::make_shared<Package>(compile(graph, options)))->run({x})[0];
}

// Largest error relative to the value, over -60 to 60 with dense steps near 0.
double error_of(const std::string& op, double (*exact)(double), int opt) {
  constexpr int64_t kCount = 4003;  // no multiple of a vector
  Tensor x(DType::Float32, {kCount});
  for (int64_t i = 0; i < kCount; ++i) {
    const double t = static_cast<double>(i - kCount / 2) / (kCount / 2.0);
    x.mutable_data<float>()[i] = static_cast<float>(60 * t * t * t);
  }
  const Tensor y = run(op, x, opt);
  double worst = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    const double expected = exact(static_cast<double>(x.data<float>()[i]));
    if (expected == 0) continue;
    worst = std::max(worst, std::abs(static_cast<double>(y.data<float>()[i]) - expected) / std::abs(expected));
  }
  return worst;
}

TEST(FastMath, ElementFunctions) {
  const struct {
    const char* op;
    double (*exact)(double);
  } rows[] = {{"Exp", std::exp}, {"Tanh", std::tanh}, {"Erf", std::erf}};
  for (const auto& row : rows) {
    const double exact = error_of(row.op, row.exact, 3), fast = error_of(row.op, row.exact, 4);
    EXPECT_LT(exact, 4e-7) << row.op;
    EXPECT_LT(fast, 2.5e-5) << row.op;
    EXPECT_GT(fast, exact) << row.op << ": -O4 does not approximate";
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

}  // namespace
}  // namespace dnn
