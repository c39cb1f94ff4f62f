// Sampling and detection operators beside the conformance cases: far and undefined coordinates, ties, refusals.
#include <cmath>
#include <limits>

#include "unit/ops/infer_check.h"
#include "unit/ops/lowering_check.h"
#include "unit/ops/reference_check.h"

namespace dnn {
namespace {

using V = std::vector<double>;
using Texts = std::vector<std::string>;

// Samples 10, 20, 30 at normalised positions.
V sampled(const std::vector<float>& positions, Attributes attributes) {
  const Tensor x = Tensor::of<float>({1, 1, 3}, {10, 20, 30}),
               grid = Tensor::of<float>({1, static_cast<int64_t>(positions.size()), 1}, positions);
  return to_doubles(run_reference(test_node("GridSample", {&x, &grid}, std::move(attributes)), {&x, &grid})[0]);
}

TEST(GridSample, OneAxisByHand) {
  const Attributes corners = {{"align_corners", int64_t{1}}};
  EXPECT_EQ(sampled({-1, -0.5f, 0, 1}, corners), (V{10, 15, 20, 30}));
  EXPECT_EQ(sampled({-1, 0, 1}, {}), (V{5, 20, 15}));  // half of the outermost elements lies outside
}

TEST(GridSample, FarAndUndefinedCoordinatesStayInside) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    Attributes attributes = {{"mode", std::string(mode)}, {"padding_mode", std::string("border")}};
    EXPECT_EQ(sampled({inf, -inf, 1e30f, nan}, attributes), (V{30, 10, 30, 10})) << mode;
    attributes["padding_mode"] = std::string("zeros");
    EXPECT_EQ(sampled({inf, -inf, nan}, attributes), (V{0, 0, 0})) << mode;
    attributes["padding_mode"] = std::string("reflection");
    for (double value : sampled({inf, -inf, 1e30f, nan, -77.25f}, attributes)) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(GridSample, ReflectsAnAxisOfOneElement) {
  const Tensor x = Tensor::of<float>({1, 1, 1}, {7}), grid = Tensor::of<float>({1, 1, 1}, {5});
  const Attributes attributes = {{"align_corners", int64_t{1}}, {"padding_mode", std::string("reflection")}};
  EXPECT_EQ(to_doubles(run_reference(test_node("GridSample", {&x, &grid}, attributes), {&x, &grid})[0]), V{7});
}

TEST(GridSample, TypesAndRefusals) {
  const Type x(DType::Float32, {Dim(std::string("N")), 3, 8, 9}),
      grid(DType::Float32, {Dim(std::string("N")), 4, 5, 2});
  EXPECT_EQ(inferred(infer_node("GridSample", 2), {x, grid}), Texts{"float32[N,3,4,5]"});
  EXPECT_EQ(inferred(infer_node("GridSample", 2), {x, Type(DType::Float32, {1, 4, 5, 3})}),
            Texts{"unnamed node (GridSample): grid float32[1,4,5,3] does not fit input float32[N,3,8,9]"});
}

TEST(AffineGrid, IdentityGivesTheGridItself) {
  const Tensor theta = Tensor::of<float>({1, 2, 3}, {1, 0, 0, 0, 1, 0}), size = Tensor::of<int64_t>({4}, {1, 1, 2, 4});
  const Node node = test_node("AffineGrid", {&theta, &size});
  EXPECT_EQ(to_doubles(run_reference(node, {&theta, &size})[0]),
            (V{-0.75, -0.5, -0.25, -0.5, 0.25, -0.5, 0.75, -0.5, -0.75, 0.5, -0.25, 0.5, 0.25, 0.5, 0.75, 0.5}));
  EXPECT_EQ(inferred(node, {Type(theta), size}), Texts{"float32[1,2,4,2]"});
}

// Expected values are those of ONNX Runtime, channel 0.
TEST(MaxRoiPool, AgreesWithOnnxRuntime) {
  Tensor x(DType::Float32, {1, 2, 6, 6});
  for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = static_cast<float>(i * 37 % 101);
  const Tensor rois = Tensor::of<float>({4, 5}, {0, 0, 0, 5, 5, 0, 2, 1, 9, 6, 0, 7, 7, 9, 9, 0, 3, 3, 1, 1});
  const Attributes attributes = {{"pooled_shape", std::vector<int64_t>{2, 3}}, {"spatial_scale", 0.5f}};
  const Tensor y = run_reference(test_node("MaxRoiPool", {&x, &rois}, attributes), {&x, &rois})[0];
  ASSERT_EQ(y.shape(), (Shape{4, 2, 2, 3}));
  const V values = to_doubles(y);
  const std::vector<V> expected = {
      {57, 94, 94, 97, 97, 70}, {94, 94, 87, 97, 87, 87}, {26, 63, 63, 46, 83, 83}, {13, 13, 13, 13, 13, 13}};
  for (size_t r = 0; r < 4; ++r) EXPECT_EQ(V(values.begin() + r * 12, values.begin() + r * 12 + 6), expected[r]) << r;
}

TEST(RoiAlign, RefusesHostileRegions) {
  const Tensor x = random_tensor(DType::Float32, {1, 1, 4, 4}), batch = Tensor::of<int64_t>({1}, {0}),
               other = Tensor::of<int64_t>({1}, {1}), huge = Tensor::of<float>({1, 4}, {0, 0, 1e30f, 1e30f}),
               nan = Tensor::of<float>({1, 4}, {0, 0, std::nanf(""), 1}),
               fine = Tensor::of<float>({1, 4}, {0, 0, 2, 2});
  auto refuse = [&](const Tensor& rois, const Tensor& index) {
    return refusal(test_node("RoiAlign", {&x, &rois, &index}), {&x, &rois, &index});
  };
  EXPECT_EQ(refuse(huge, batch), "unnamed node (RoiAlign): 1e+30 x 1e+30 samples for one output");
  EXPECT_EQ(refuse(nan, batch), "unnamed node (RoiAlign): rois that are not finite");
  EXPECT_EQ(refuse(fine, other), "unnamed node (RoiAlign): batch index 1 of 1");
}

TEST(NonMaxSuppression, TiesNaNsAndDefaults) {
  const Tensor boxes = Tensor::of<float>({1, 4, 4}, {0, 0, 1, 1, 0, 0, 1, 1, 0, 5, 1, 6, 0, 9, 1, 10}),
               scores = Tensor::of<float>({1, 1, 4}, {0.5f, 0.5f, std::nanf(""), 0.5f}),
               most = Tensor::scalar<int64_t>(3), iou = Tensor::scalar<float>(0.5f);
  const Node node = test_node("NonMaxSuppression", {&boxes, &scores, &most, &iou});
  EXPECT_EQ(to_doubles(run_reference(node, {&boxes, &scores, &most, &iou})[0]), (V{0, 0, 0, 0, 0, 3, 0, 0, 2}));
  EXPECT_EQ(run_reference(test_node("NonMaxSuppression", {&boxes, &scores}), {&boxes, &scores})[0].shape(),
            (Shape{0, 3}));
}

}  // namespace
}  // namespace dnn
