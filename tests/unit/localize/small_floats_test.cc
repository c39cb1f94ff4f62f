// Networks in float16 and bfloat16 beside their float32 sources: what is rounded is no fault, and what is wrong is named.
#include "localize/small_floats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/file.h"
#include "cache.h"
#include "convert/convert.h"
#include "convert/surgery.h"
#include "faults/fault.h"
#include "formats/format.h"
#include "localize/repair_model.h"
#include "quant/storage.h"
#include "unit/localize/isolated.h"

namespace dnn {
namespace {

// How a network in a smaller type is made: batch norms stay, or are folded; float16 computes, bfloat16 is of weights.
struct SmallForm {
  DType dtype;
  bool folded;
};
constexpr std::array<SmallForm, 4> kSmallForms = {
    {{DType::Float16, false}, {DType::Float16, true}, {DType::BFloat16, false}, {DType::BFloat16, true}}};

Graph in_small_floats(Graph graph, const SmallForm& form) {
  infer_types(graph);
  if (form.folded) fold_batch_norms(graph);
  if (form.dtype == DType::Float16) {
    to_dtype(graph, form.dtype, DType::Float32);
  } else {
    quant::store_weights(graph, form.dtype);
  }
  infer_types(graph);
  return graph;
}

LocalizeRequest small_request(const Graph& source, const Graph& target, const std::string& name) {
  const std::string folder = ::testing::TempDir() + "/";
  write_model(source, folder + name + "_source.onnx");
  write_model(target, folder + name + "_target.onnx");
  LocalizeRequest request;
  request.source = folder + name + "_source.onnx";
  request.target = folder + name + "_target.onnx";
  request.fill = "random";
  request.network.device = "reference";
  request.folders.compile.build.cache_folder = test_cache();
  return request;
}

Graph sample_network() { return read_model(open_model("sample/shapes.onnx")); }

TEST(SmallFloats, WhatIsRoundedIsNoFault) {
  const Graph source = sample_network();
  for (const SmallForm& form : kSmallForms) {
    SCOPED_TRACE(cat(dtype_name(form.dtype), form.folded ? ", folded" : ""));
    const LocalizeReport report =
        ModelComparison(small_request(source, in_small_floats(source, form), "small_healthy")).run();
    EXPECT_TRUE(report.agree()) << findings_text(report.findings, *report.residual, 3);
    ASSERT_TRUE(report.small_floats);
    EXPECT_EQ(report.small_floats->dtype, form.dtype);
    EXPECT_EQ(report.small_floats->activations, form.dtype == DType::Float16);
    EXPECT_GT(report.small_floats->n_constants, 10);
    EXPECT_EQ(report.small_floats->n_rounded, report.small_floats->n_constants);
  }
}

TEST(SmallFloats, WhatIsWrongIsNamedFirstAndAlone) {
  const Graph source = sample_network();
  const std::string pointwise = "/pointwise/pointwise.0/Conv";
  for (const char* fault : {"kernel-layout", "filters-shuffled", "filter-zeroed", "signs-flipped", "weights-scaled"}) {
    for (const SmallForm& form : kSmallForms) {
      SCOPED_TRACE(cat(fault, ", ", dtype_name(form.dtype), form.folded ? ", folded" : ""));
      Graph wrong = source;
      infer_types(wrong);
      inject(wrong, cat(fault, "@", fault == std::string("kernel-layout") ? "/top/top.0/Conv" : pointwise), 1);
      const LocalizeReport report =
          ModelComparison(small_request(source, in_small_floats(wrong, form), "small_wrong")).run();
      ASSERT_EQ(report.findings.size(), 1u) << findings_text(report.findings, *report.residual, 3);
      const std::vector<std::string>& nodes = report.findings[0].target.nodes;
      EXPECT_NE(
          std::find(nodes.begin(), nodes.end(), fault == std::string("kernel-layout") ? "/top/top.0/Conv" : pointwise),
          nodes.end())
          << join(nodes);
    }
  }
}

// TFLite has channels last, so that a dense layer behind an image reads its inputs in another order.
TEST(SmallFloats, ADenseLayerBehindChannelsLastIsRoundedToo) {
  const Graph source = typed(R"(graph "net" {
  opset 28
  input x: float32[1,4,6,6]
  const w: float32[8,4,3,3] = random(1)
  const v: float32[10,128] = random(2)
  a = Conv(x, w) @first
  b = Flatten(a) @flat
  y = Gemm(b, v) @dense {transB = 1}
  output y
}
)");
  LocalizeRequest request = small_request(source, source, "small_dense");
  request.target = ::testing::TempDir() + "/small_dense.tflite";
  ConvertOptions options;
  options.dtype = DType::Float16;
  convert_model(source, request.target, options);
  const LocalizeReport report = ModelComparison(request).run();
  EXPECT_TRUE(report.agree()) << findings_text(report.findings, *report.residual, 3);
  ASSERT_TRUE(report.small_floats);
  EXPECT_EQ(report.small_floats->n_rounded, 2);
}

// Another layer's weights are numbers of the source, rounded, and not this layer's.
TEST(SmallFloats, WeightsOfAnotherLayerAreWrong) {
  const char* const net = R"(graph "net" {
  opset 28
  input x: float32[1,4,9,9]
  const w: float32[4,4,3,3] = random(1)
  const v: float32[4,4,3,3] = random(2)
  const u: float32[4,4,3,3] = random(3)
  a = Conv(x, FIRST) @first
  b = Conv(a, SECOND) @second
  y = Conv(b, u) @third
  output y
}
)";
  const Graph source = typed(with_text(with_text(net, "FIRST", "w"), "SECOND", "v"));
  const Graph twice = typed(with_text(with_text(net, "FIRST", "w"), "SECOND", "w"));
  for (const SmallForm& form : kSmallForms) {
    const LocalizeReport report =
        ModelComparison(small_request(source, in_small_floats(twice, form), "small_swapped")).run();
    ASSERT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(report.findings[0].target.nodes, std::vector<std::string>{"second"});
  }
}

// A unit in the last place is twice what rounding leaves.
TEST(SmallFloats, AUnitInTheLastPlaceIsNotRounding) {
  const Graph source = sample_network();
  for (const SmallForm& form : kSmallForms) {
    Graph target = in_small_floats(source, form);
    SmallFloats before = *small_floats(source, target), after = before;
    widened(source, target, &before);
    for (ValueId v = 0; v < target.value_count(); ++v) {
      std::optional<Tensor>& constant = target.value(v).constant;
      if (!constant || constant->dtype() != form.dtype || constant->size() < 1000) continue;
      std::vector<double> numbers = to_doubles(*constant);
      const int digits = form.dtype == DType::Float16 ? 10 : 7;
      const auto largest = std::max_element(numbers.begin(), numbers.end());
      *largest += std::ldexp(1.0, std::ilogb(*largest) - digits);
      constant = convert(Tensor::of<double>(constant->shape(), numbers), form.dtype);
      break;
    }
    widened(source, target, &after);
    EXPECT_EQ(before.n_rounded, before.n_constants);
    EXPECT_EQ(after.n_rounded + 1, after.n_constants);
  }
}

TEST(SmallFloats, WhatRunsOverIsComparedAsItIs) {
  const Graph source = typed(R"(graph "net" {
  opset 28
  input x: float32[1,4]
  const w: float32[4,4] = {300000, 0, 0, 0, 0, 300000, 0, 0, 0, 0, 3, 0, 0, 0, 0, 3}
  const v: float32[4,4] = {0.001, 0, 0, 0, 0, 0.001, 0, 0, 0, 0, 3, 0, 0, 0, 0, 3}
  a = MatMul(x, w) @first
  y = MatMul(a, v) @second
  output y
})");
  const LocalizeReport report =
      ModelComparison(small_request(source, in_small_floats(source, {DType::Float16, false}), "small_over")).run();
  EXPECT_FALSE(report.agree());
  EXPECT_FALSE(report.small_floats);
}

TEST(SmallFloats, AFaultIsMendedInTheSmallerType) {
  const Graph source = sample_network();
  for (const SmallForm& form : kSmallForms) {
    SCOPED_TRACE(cat(dtype_name(form.dtype), form.folded ? ", folded" : ""));
    Graph wrong = source;
    infer_types(wrong);
    inject(wrong, "signs-flipped@/pointwise/pointwise.0/Conv", 1);
    RepairRequest request;
    static_cast<LocalizeRequest&>(request) = small_request(source, in_small_floats(wrong, form), "small_repaired");
    request.output = ::testing::TempDir() + "/small_repaired.onnx";
    const RepairReport report = repair_model(request);
    EXPECT_EQ(report.verdict, RepairReport::Verdict::Repaired) << repair_text(report);
    const Graph mended = read_model(open_model(request.output));
    const auto kept = small_floats(source, mended);
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->dtype, form.dtype);
    SmallFloats rounded = *kept;
    widened(source, mended, &rounded);
    EXPECT_EQ(rounded.n_rounded, rounded.n_constants);
  }
}

}  // namespace
}  // namespace dnn
