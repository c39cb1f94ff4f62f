// Resize: loops against the reference over modes and coordinates, hand-computed values, types, refusals.
#include "unit/ops/infer_check.h"
#include "unit/ops/lowering_check.h"

namespace dnn {
namespace {

using V = std::vector<double>;

Attributes settings(const std::string& mode, const std::string& coordinates = "half_pixel") {
  return {{"mode", mode}, {"coordinate_transformation_mode", coordinates}};
}

// Resizes to `sizes`, loops checked against the reference.
Tensor resized(const Tensor& x, const std::vector<int64_t>& sizes, const Attributes& attributes) {
  const Tensor to = Tensor::of<int64_t>({static_cast<int64_t>(sizes.size())}, sizes);
  return check_lowering(test_node("Resize", {&x, nullptr, nullptr, &to}, attributes), {&x, nullptr, nullptr, &to},
                        true)[0];
}
Tensor scaled(const Tensor& x, const std::vector<float>& scales, const Attributes& attributes) {
  const Tensor by = Tensor::of<float>({static_cast<int64_t>(scales.size())}, scales);
  return check_lowering(test_node("Resize", {&x, nullptr, &by}, attributes), {&x, nullptr, &by}, true)[0];
}

TEST(Resize, LoopsEqualReferenceInEveryMode) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    const Tensor x = random_tensor(dtype, {1, 2, 5, 4});
    for (const char* mode : {"nearest", "linear", "cubic"}) {
      for (const char* coordinates :
           {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"}) {
        Attributes attributes = settings(mode, coordinates);
        resized(x, {1, 2, 10, 7}, attributes);
        resized(x, {1, 2, 3, 1}, attributes);
        EXPECT_EQ(scaled(x, {1, 1, 0.7f, 2.3f}, attributes).shape(), (Shape{1, 2, 3, 9}));
        attributes["exclude_outside"] = int64_t{1};
        resized(x, {1, 2, 6, 3}, attributes);
        if (std::string(mode) == "nearest") continue;
        attributes["antialias"] = int64_t{1};
        resized(x, {1, 2, 2, 9}, attributes);
      }
      for (const char* rounding : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) {
        Attributes attributes = settings(mode, "asymmetric");
        attributes["nearest_mode"] = std::string(rounding);
        resized(x, {1, 2, 7, 6}, attributes);
      }
    }
  }
}

TEST(Resize, NearestMovesIntegers) {
  const Tensor x = random_tensor(DType::UInt8, {2, 3});
  const Tensor y = scaled(x, {2, 3}, settings("nearest", "asymmetric"));
  EXPECT_EQ(y.data<uint8_t>()[9 * 1 + 4], x.data<uint8_t>()[1]);
}

// Whole factors need no table: the index is an integer division.
TEST(Resize, NearestByWholeFactorsIsOneStage) {
  const Tensor x = random_tensor(DType::Float32, {1, 1, 4, 4}), by = Tensor::of<float>({4}, {1, 1, 2, 0.5f});
  for (const char* coordinates : {"half_pixel", "asymmetric"}) {
    const Node node = test_node("Resize", {&x, nullptr, &by}, settings("nearest", coordinates));
    const std::vector<const Tensor*> inputs = {&x, nullptr, &by};
    EXPECT_EQ(run_lowered(node, inputs, run_reference(node, inputs), true).context.stages.size(), 1u) << coordinates;
  }
}

TEST(Resize, LinearByHand) {
  const Tensor x = Tensor::of<double>({2}, {0, 4});
  EXPECT_EQ(to_doubles(resized(x, {4}, settings("linear"))), (V{0, 1, 3, 4}));
  EXPECT_EQ(to_doubles(resized(x, {3}, settings("linear", "align_corners"))), (V{0, 2, 4}));
  EXPECT_EQ(to_doubles(resized(x, {4}, settings("linear", "asymmetric"))), (V{0, 2, 4, 4}));
}

TEST(Resize, AntialiasAveragesWhenItShrinks) {
  Attributes attributes = settings("linear");
  attributes["antialias"] = int64_t{1};
  const Tensor x = Tensor::of<double>({4}, {1, 3, 5, 7});
  // The triangle of half-width 2 around 0.5: weights 0.75, 0.75, 0.25 on elements 0, 1, 2 and 0.25 on the edge.
  const V y = to_doubles(resized(x, {2}, attributes));
  EXPECT_NEAR(y[0], (0.25 * 1 + 0.75 * 1 + 0.75 * 3 + 0.25 * 5) / 2, 1e-15);
  EXPECT_NEAR(y[0] + y[1], 8, 1e-14);
}

TEST(Resize, IntegersRoundToEven) {
  const Tensor x = Tensor::of<uint8_t>({2}, {0, 1}), to = Tensor::of<int64_t>({1}, {3});
  const Node node = test_node("Resize", {&x, nullptr, nullptr, &to}, settings("linear", "align_corners"));
  EXPECT_EQ(to_doubles(run_reference(node, {&x, nullptr, nullptr, &to})[0]), (V{0, 0, 1}));
}

TEST(Resize, TypesFollowScalesSizesAxesAndPolicy) {
  const Dim n(std::string("N"));
  const Type x(DType::Float32, {n, 3, 10, 20});
  const Tensor scales = Tensor::of<float>({4}, {1, 1, 2, 0.5f}), none(DType::Float32, {0}),
               sizes = Tensor::of<int64_t>({2}, {7, 8});
  EXPECT_EQ(inferred(infer_node("Resize", 3), {x, none, scales})[0], "float32[N,3,20,10]");
  const Attributes axes = {{"axes", std::vector<int64_t>{-2, -1}}};
  EXPECT_EQ(inferred(infer_node("Resize", 4, axes), {x, none, none, sizes})[0], "float32[N,3,7,8]");
  EXPECT_EQ(inferred(infer_node("Resize", 4, axes), {x, none, none, Type(DType::Int64, {2})})[0], "float32[N,3,?,?]");
  Attributes larger = axes;
  larger["keep_aspect_ratio_policy"] = std::string("not_larger");
  EXPECT_EQ(inferred(infer_node("Resize", 4, larger), {x, none, none, sizes})[0], "float32[N,3,4,8]");
  larger["keep_aspect_ratio_policy"] = std::string("not_smaller");
  EXPECT_EQ(inferred(infer_node("Resize", 4, larger), {x, none, none, sizes})[0], "float32[N,3,7,14]");
}

TEST(Resize, CropAndResizeExtrapolates) {
  const Tensor x = Tensor::of<float>({2}, {1, 3}), roi = Tensor::of<float>({2}, {-1, 1}),
               to = Tensor::of<int64_t>({1}, {3});
  Attributes attributes = settings("linear", "tf_crop_and_resize");
  attributes["extrapolation_value"] = 10.0f;
  const Node node = test_node("Resize", {&x, &roi, nullptr, &to}, attributes);
  EXPECT_EQ(to_doubles(run_reference(node, {&x, &roi, nullptr, &to})[0]), (V{10, 1, 3}));
}

TEST(Resize, RefusesWhatMakesNoSense) {
  const Tensor x = random_tensor(DType::Float32, {2, 2}), to = Tensor::of<int64_t>({2}, {4, 4}),
               negative = Tensor::of<float>({2}, {1, -2}), huge = Tensor::of<int64_t>({2}, {int64_t{1} << 60, 4}),
               nan = Tensor::of<float>({2}, {1, std::nanf("")}), few = Tensor::of<int64_t>({1}, {4});
  auto refusal = [&](const Tensor* scales, const Tensor* sizes, const Attributes& attributes) {
    try {
      run_reference(test_node("Resize", {&x, nullptr, scales, sizes}, attributes), {&x, nullptr, scales, sizes});
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string node = "unnamed node (Resize): ";
  EXPECT_EQ(refusal(nullptr, &to, settings("lanczos")), node + "mode \"lanczos\"");
  EXPECT_EQ(refusal(nullptr, nullptr, {}), node + "one of scales and sizes must be given");
  EXPECT_EQ(refusal(&negative, nullptr, {}), node + "scale -2 is not positive");
  EXPECT_EQ(refusal(&nan, nullptr, {}), node + "scales that are not finite");
  EXPECT_NE(refusal(nullptr, &huge, {}).find("is too large"), std::string::npos);
  EXPECT_EQ(refusal(nullptr, &few, {}), node + "1 sizes, 2 expected");
}

}  // namespace
}  // namespace dnn
