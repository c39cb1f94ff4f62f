// Statistics of layers: numbers by hand, of models and of traces, and names that CSV must quote.
#include "localize/layer_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "localize/localize.h"
#include "unit/localize/isolated.h"

namespace dnn {
namespace {

const char* const kDenseNet = R"(graph "net" {
  opset 28
  input x: float32[1,2]
  const w: float32[2,2] = {1, 0, 0, 1}
  const b: float32[2] = {BIAS}
  y = Gemm(x, w, b) @dense
  output y
})";

Graph dense_net(const std::string& bias) {
  std::string text = kDenseNet;
  return typed(text.replace(text.find("BIAS"), 4, bias));
}

Tensor row_of_two(float a, float b) { return Tensor::of<float>({1, 2}, {a, b}); }

std::string csv_of(const Graph& a, const Graph& b, const std::vector<Tensor>& inputs, bool graphs = true) {
  Localizer localizer(graphs ? &a : nullptr, graphs ? &b : nullptr);
  localizer.measure_statistics();
  for (const Tensor& x : inputs) localizer.add(trace_of(a, x), trace_of(b, x));
  return statistics_csv(localizer.finish({}));
}

const std::string kHeader =
    "layer,source,target,source_node,target_node,source_op,target_op,lined_up_by,samples,elements,"
    "source_mean,source_std,source_max_abs,target_mean,target_std,target_max_abs,"
    "difference_max_abs,difference_mean_abs,"
    "source_parameters,source_parameter_mean,source_parameter_std,source_parameter_max_abs,"
    "target_parameters,target_parameter_mean,target_parameter_std,target_parameter_max_abs\n";

// x is 1 3 | 5 7, of mean 4 and deviation sqrt 5; y is 1.5 3.5 | 5.5 7.5, and in the target 1.5 0.5 | 5.5 4.5, of deviation sqrt 4.25.
// Parameters: 1 0 0 1 and the bias.
TEST(LayerStatistics, ByHandOverTwoSamples) {
  const std::string x = "1,x,x,,,,,name,2,4,4,2.23606797749979,7,4,2.23606797749979,7,0,0,";
  const std::string y = "2,y,y,dense,dense,Gemm,Gemm,name,2,4,4.5,2.23606797749979,7.5,3,2.0615528128088303,5.5,3,1.5,";
  const std::string y_parameters = "6,0.5,0.408248290463863,1,6,0,1.1902380714238083,2.5\n";
  const Graph a = dense_net("0.5, 0.5"), b = dense_net("0.5, -2.5");
  const std::vector<Tensor> inputs = {row_of_two(1, 3), row_of_two(5, 7)};
  EXPECT_EQ(csv_of(a, b, inputs), kHeader + x + "0,,,,0,,,\n" + y + y_parameters);
  // A trace has no parameters, nor names of nodes but its own.
  const std::string traced = csv_of(a, b, inputs, false);
  EXPECT_EQ(traced, kHeader + x + ",,,,,,,\n" + "2,y,y,,,,," + y.substr(y.find("name,")) + ",,,,,,,\n");
}

TEST(LayerStatistics, WhatIsNotFiniteIsWrittenAsText) {
  const Graph a = dense_net("0, 0");
  const float inf = std::numeric_limits<float>::infinity();
  const std::string text = csv_of(a, dense_net("0, nan"), {row_of_two(1, -inf)});
  EXPECT_NE(text.find("1,x,x,,,,,name,1,2,-inf,nan,inf,-inf,nan,inf,0,0,"), std::string::npos) << text;
  EXPECT_NE(text.find(",nan,nan,nan,inf,inf,6,"), std::string::npos) << text;
}

TEST(LayerStatistics, NamesAreQuotedWhereTheyMustBe) {
  LocalizeReport report;
  Layer a;
  a.name = "one,two";
  a.node = "say \"x\"";
  a.op = "line\nend";
  report.source = report.target = {a};
  report.target[0].name = "plain name";
  LayerResult r;
  r.statistics.emplace();
  report.layers = {r};
  EXPECT_EQ(statistics_csv(report).substr(kHeader.size()),
            "1,\"one,two\",plain name,\"say \"\"x\"\"\",\"say \"\"x\"\"\",line\\u{A}end,line\\u{A}end,name,0,0,"
            ",,,,,,0,,,,,,,,,\n");
}

// Weights that a network keeps in other types count as the numbers that they stand for; scales alone are no weights.
TEST(LayerStatistics, ParametersOfQuantisedAndConvertedWeights) {
  const Graph graph = typed(R"(graph "net" {
  opset 28
  input x: float32[1,2]
  const q: int8[2,2] = {1, 2, 3, 6}
  const scale: float32[] = {0.5}
  const zero: int8[] = {2}
  const half: float16[2] = {1, 3}
  const shape: int64[2] = {1, 2}
  const point: uint8[] = {0}
  w = DequantizeLinear(q, scale, zero) @dequantise
  bias = Cast(half) @cast {to = 1}
  y = Gemm(x, w, bias) @dense
  z = Reshape(y, shape) @reshape
  r = QuantizeLinear(z, scale, point) @quantise
  s = DequantizeLinear(r, scale, point) @back
  output s
})");
  const Uses uses(graph);
  // -0.5 0 0.5 2 and 1 3: mean 1.
  const Moments dense = parameters_of(graph, uses, "y");
  EXPECT_EQ(dense.count(), 6);
  EXPECT_DOUBLE_EQ(dense.mean(), 1);
  EXPECT_DOUBLE_EQ(dense.deviation(), std::sqrt((2.25 + 1 + 0.25 + 1 + 0 + 4) / 6));
  EXPECT_EQ(dense.largest(), 3);
  for (const char* none : {"x", "w", "z", "r", "s", "no such value"})
    EXPECT_EQ(parameters_of(graph, uses, none).count(), 0) << none;
}

}  // namespace
}  // namespace dnn
