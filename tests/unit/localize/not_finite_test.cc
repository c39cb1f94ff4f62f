// Where NaN and infinities begin: the layer that makes them, not those that pass them on; parameters and inputs that hold them.
#include "localize/not_finite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "localize/localize.h"
#include "localize/present.h"
#include "special_floats.h"
#include "unit/localize/isolated.h"

namespace dnn {
namespace {

// 1 / relu(x), and what follows.
const char* const kInverseNet = R"(graph "net" {
  opset 28
  input x: float32[1,3]
  const one: float32[1] = {1}
  const b: float32[3] = {BIAS}
  r = Relu(x) @relu
  d = Div(one, r) @inverse
  s = Sub(d, d) @difference
  y = Add(s, b) @bias
  output y
})";

Graph inverse_net(const std::string& bias) {
  std::string text = kInverseNet;
  return typed(text.replace(text.find("BIAS"), 4, bias));
}

Tensor row_of_three(float a, float b, float c) { return Tensor::of<float>({1, 3}, {a, b, c}); }

LocalizeReport compared(const Graph& a, const Graph& b, const std::vector<Tensor>& inputs) {
  ThreadPool pool(3);
  Localizer localizer(&a, &b);
  localizer.share(&pool);
  int64_t n = 0;
  for (const Tensor& x : inputs) localizer.add(trace_of(a, x), trace_of(b, x), cat("sample ", n++));
  return localizer.finish({});
}

TEST(NotFinite, BeginsInTheLayerWhoseInputsAreFinite) {
  const Graph a = inverse_net("0, 0, 0");
  const LocalizeReport report = compared(a, a, {row_of_three(1, 2, 3), row_of_three(1, -2, -3), row_of_three(0, 2, 3)});
  ASSERT_EQ(report.source_not_finite.size(), 1u);  // the Sub makes NaN of infinities that it is given
  const NotFiniteOrigin& origin = report.source_not_finite[0];
  EXPECT_EQ(report.source[origin.layer].node, "inverse");
  EXPECT_EQ(origin.n_samples, 2);
  EXPECT_EQ(origin.n_nan, 0);
  EXPECT_EQ(origin.n_infinite, 3);
  EXPECT_EQ(origin.sample, "sample 1");
  EXPECT_EQ(origin.element, (Shape{0, 1}));
  EXPECT_EQ(origin.parameter, "");
  const std::string text = localize_table(report, {"a.onnx", "b.onnx"});
  const std::string line =
      "inverse (Div) makes 3 infinities in 2 of 3 samples, first at [0,1] of sample 1; what it is computed "
      "from is finite";
  EXPECT_NE(text.find("not finite in the source: " + line), std::string::npos) << text;
  EXPECT_NE(text.find("not finite in the target: " + line), std::string::npos) << text;
}

TEST(NotFinite, NamesTheParameterThatIsNotFinite) {
  const LocalizeReport report = compared(inverse_net("0, 0, 0"), inverse_net("0, nan, -inf"), {row_of_three(1, 2, 3)});
  EXPECT_TRUE(report.source_not_finite.empty());
  ASSERT_EQ(report.target_not_finite.size(), 1u);
  const NotFiniteOrigin& origin = report.target_not_finite[0];
  EXPECT_EQ(report.target[origin.layer].node, "bias");
  EXPECT_EQ(origin.n_nan, 1);
  EXPECT_EQ(origin.n_infinite, 1);
  EXPECT_EQ(origin.parameter, "b");
  EXPECT_NE(localize_table(report, {"a.onnx", "b.onnx"}).find("its parameter b is not finite"), std::string::npos);
}

TEST(NotFinite, AnInputMayHoldThem) {
  const Graph a = inverse_net("0, 0, 0");
  const LocalizeReport report = compared(a, a, {row_of_three(kInf, 2, std::nanf(""))});
  ASSERT_EQ(report.target_not_finite.size(), 1u);
  EXPECT_EQ(report.target[report.target_not_finite[0].layer].name, "x");
  EXPECT_EQ(report.target_not_finite[0].n_nan, 1);
  EXPECT_EQ(report.target_not_finite[0].n_infinite, 1);
  EXPECT_NE(
      localize_table(report, {"a.onnx", "b.onnx"}).find("not finite in the target: x is given 1 NaN and 1 infinity"),
      std::string::npos);
}

TEST(NotFinite, HalfPrecisionOverflows) {
  const Graph graph = typed(R"(graph "net" {
    opset 28
    input x: float32[1,3]
    h = Cast(x) @narrow {to = 10}
    n = Neg(h) @negative
    y = Cast(n) @wide {to = 1}
    output y
  })");
  const LocalizeReport report = compared(graph, graph, {row_of_three(1, 65504, -70000)});
  ASSERT_EQ(report.source_not_finite.size(), 1u);
  EXPECT_EQ(report.source[report.source_not_finite[0].layer].node, "narrow");
  EXPECT_EQ(report.source_not_finite[0].n_infinite, 1);
  EXPECT_EQ(report.source_not_finite[0].element, (Shape{0, 2}));
}

}  // namespace
}  // namespace dnn
