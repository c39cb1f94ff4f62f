// Activation maps: which channels are shown, how they are made smaller, what is not finite, and which layers a report has them of.
#include "localize/activation_maps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "cache.h"
#include "localize/localize.h"
#include "localize/localize_models.h"
#include "special_floats.h"
#include "tensor/compare.h"
#include "unit/localize/isolated.h"
#include "unit/localize/questions.h"

namespace dnn {
namespace {

TEST(ActivationMaps, TheChannelsThatDifferMostFirst) {
  Tensor a(DType::Float32, {1, 6, 2, 3}), b(DType::Float32, {1, 6, 2, 3});
  b.mutable_data<float>()[2 * 6 + 4] = -1;  // channel 2, row 1, column 1
  b.mutable_data<float>()[5 * 6] = 3;
  b.mutable_data<float>()[5 * 6 + 5] = -4;
  const auto maps = activation_maps(a, b);
  ASSERT_TRUE(maps.has_value());
  EXPECT_EQ(maps->n_channels, 6);
  EXPECT_EQ(maps->rows, 2);
  EXPECT_EQ(maps->columns, 3);
  ASSERT_EQ(maps->channels.size(), 2u);  // the others are the same
  EXPECT_EQ(maps->channels[0].channel, 5);
  EXPECT_EQ(maps->channels[0].max_abs, 4);
  EXPECT_EQ(maps->channels[0].difference, (std::vector<float>{-3, 0, 0, 0, 0, 4}));
  EXPECT_EQ(maps->channels[1].channel, 2);
  EXPECT_EQ(maps->channels[1].target, (std::vector<float>{0, 0, 0, 0, -1, 0}));
  EXPECT_FALSE(activation_maps(a, a).has_value());
}

TEST(ActivationMaps, BlocksKeepTheirLargestMagnitude) {
  Tensor a(DType::Float32, {1, 1, 112, 112}), b(DType::Float32, {1, 1, 112, 112});
  a.mutable_data<float>()[3 * 112 + 5] = -7;  // in block (1, 2)
  a.mutable_data<float>()[2 * 112 + 4] = 2;
  const auto maps = activation_maps(a, b);
  ASSERT_TRUE(maps.has_value());
  EXPECT_EQ(maps->height, 112);
  EXPECT_EQ(maps->rows, kMostMapExtent);
  ASSERT_EQ(maps->channels[0].source.size(), 56u * 56u);
  EXPECT_EQ(maps->channels[0].source[56 + 2], -7);
  EXPECT_EQ(maps->channels[0].difference[56 + 2], -7);
  EXPECT_EQ(maps->channels[0].source[56 + 3], 0);
}

TEST(ActivationMaps, ChannelsMayComeLast) {
  Tensor a(DType::Float32, {1, 4, 4, 3}), b(DType::Float32, {1, 4, 4, 3});
  b.mutable_data<float>()[(1 * 4 + 2) * 3 + 2] = 1;
  const auto maps = activation_maps(a, b);
  ASSERT_TRUE(maps.has_value());
  EXPECT_EQ(maps->n_channels, 3);
  EXPECT_EQ(maps->channels[0].channel, 2);
  EXPECT_EQ(maps->channels[0].target[1 * 4 + 2], 1);
}

TEST(ActivationMaps, NoneOfWhatIsNoPicture) {
  for (const Shape& shape : {Shape{1, 10}, Shape{10}, Shape{}, Shape{2, 3, 4, 4}, Shape{1, 3, 1, 1}}) {
    Tensor a(DType::Float32, shape), b(DType::Float32, shape);
    b.mutable_data<float>()[0] = 1;
    EXPECT_FALSE(activation_maps(a, b).has_value()) << shape_text(shape);
  }
  EXPECT_FALSE(activation_maps(Tensor(DType::Float32, {1, 2, 4, 4}), Tensor(DType::Float32, {1, 4, 4, 2})).has_value());
}

TEST(ActivationMaps, WhatIsNotFiniteIsNullAndMost) {
  Tensor a(DType::Float32, {1, 2, 2, 2}), b(DType::Float32, {1, 2, 2, 2});
  a.mutable_data<float>()[0] = 100;
  a.mutable_data<float>()[4] = NAN;
  a.mutable_data<float>()[5] = b.mutable_data<float>()[5] = kInf;  // the same on both sides
  const auto maps = activation_maps(a, b);
  ASSERT_TRUE(maps.has_value());
  EXPECT_EQ(maps->channels[0].channel, 1);
  EXPECT_TRUE(std::isinf(maps->channels[0].max_abs));
  const auto json = shown_maps_json({1, "layer", "x.png", *maps});
  EXPECT_EQ(json_text(json["channels"][0]["source"]), "[[null,null],[0,0]]");
  EXPECT_EQ(json_text(json["channels"][0]["target"]), "[[0,null],[0,0]]");
  EXPECT_EQ(json_text(json["channels"][0]["difference"]), "[[null,0],[0,0]]");
  EXPECT_EQ(json["channels"][0]["max_abs"], "inf");
  EXPECT_EQ(json_text(json["channels"][1]["source"]), "[[127,0],[0,0]]");
  EXPECT_EQ(json["channels"][1]["largest"], 100);
}

const char* const kMapsNet = R"(graph "net" {
  opset 28
  input x: float32[1,2,3,3]
  const two: float32[] = {NUMBER}
  a = Relu(x) @relu
  b = Mul(a, two) @scale
  y = GlobalAveragePool(b) @mean
  output y
})";

// Of traces, where no layer can be run by itself.
TEST(ActivationMaps, OfTheFirstLayerThatDiverges) {
  const auto net = [](const std::string& number) {
    std::string text = kMapsNet;
    return typed(text.replace(text.find("NUMBER"), 6, number));
  };
  const Graph a = net("2"), b = net("2.5");
  const Tensor x = Tensor::of<float>({1, 2, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  const auto report_of = [&](const Graph& target, const ParameterTolerance& tolerance, bool asked) {
    Localizer localizer(nullptr, nullptr);
    if (asked) localizer.show_first(tolerance);
    localizer.add(trace_of(a, x), trace_of(target, x), "x.png");
    return localizer.finish(tolerance);
  };
  const LocalizeReport report = report_of(b, {}, true);
  ASSERT_EQ(report.maps.size(), 1u);
  EXPECT_EQ(report.maps[0].finding, std::nullopt);
  EXPECT_EQ(report.maps[0].layer, "b");
  EXPECT_EQ(report.maps[0].sample, "x.png");
  EXPECT_EQ(report.maps[0].maps.channels[0].channel, 0);
  EXPECT_FLOAT_EQ(report.maps[0].maps.channels[0].difference[8], -4.5F);
  EXPECT_TRUE(report_of(a, {}, true).maps.empty());
  EXPECT_TRUE(report_of(b, {}, false).maps.empty());
  EXPECT_TRUE(report_of(b, {.atol = 100, .rtol = 0}, true).maps.empty());
}

// The last questions of the time are for them; without them nothing is unknown.
TEST(ActivationMaps, LeftOutForWantOfTimeTheReportIsWhole) {
  LocalizeRequest request;
  request.source = "sample/shapes.onnx";
  request.target = "sample/shapes_wrong.onnx";
  request.inputs = {"sample/images/star/00.png"};
  request.preprocess = "imagenet-torch";
  request.network.device = "reference";
  request.folders.compile.build.cache_folder = test_cache();
  std::atomic<int> asked = 0;
  request.deadline = counted_questions(&asked);
  ModelComparison(request).run();
  request.maps = true;
  request.deadline = after_questions(asked);
  const LocalizeReport report = ModelComparison(request).run();
  EXPECT_FALSE(report.findings.empty());
  EXPECT_TRUE(report.maps.empty());
  EXPECT_EQ(report.ran_out, false);
}

}  // namespace
}  // namespace dnn
