// Resize and GridSample as ONNX Runtime computes them: odd extents and fractional factors in every coordinate mode.
#include "unit/ops/lowering_check.h"

namespace dnn {
namespace {

// x[i] = (7 i mod 11) / 4 - 1
Tensor staircase(int64_t height, int64_t width) {
  std::vector<float> values;
  for (int64_t i = 0; i < height * width; ++i) values.push_back(static_cast<float>(i * 7 % 11) / 4 - 1);
  return Tensor::of<float>({1, 1, height, width}, values);
}

struct ResizeCase {
  const char *mode, *coordinates;
  Attributes more;
  int64_t height, width;
  std::vector<float> scales;
  std::vector<int64_t> sizes;
  Shape made;
  std::vector<float> expected;  // of ONNX Runtime 1.31.1, CPU
};

const std::vector<ResizeCase>& resize_cases() {
  static const std::vector<ResizeCase> cases = {
      {"linear",
       "half_pixel",
       {},
       4,
       3,
       {0.5174134F, 0.9292111F},
       {},
       {2, 2},
       {0.183673, 0.519141, 1.11215, 0.0359684}},
      {"cubic", "half_pixel", {}, 4, 4, {0.506594F, 0.51094717F}, {}, {2, 2}, {-0.132153, 0.830697, 0.177934, 0.12847}},
      {"nearest",
       "half_pixel",
       {{"nearest_mode", std::string("round_prefer_ceil")}},
       3,
       4,
       {1.6677327F, 1.5720971F},
       {},
       {5, 6},
       {-1,   -1,   0.75, -0.25, -0.25, 1.5, -1, -1, 0.75, -0.25, -0.25, 1.5, 0.5, 0.5, -0.5,
        1.25, 1.25, 0.25, -0.75, -0.75, 1,   0,  0,  -1,   -0.75, -0.75, 1,   0,   0,   -1}},
      {"linear",
       "half_pixel",
       {{"antialias", int64_t{1}}},
       5,
       3,
       {1.549564F, 0.5302681F},
       {},
       {7, 1},
       {-0.274164, 0.293819, 0.911098, 0.749762, 0.588426, 0.439691, 0.443014}},
      {"cubic",
       "half_pixel",
       {{"exclude_outside", int64_t{1}}},
       4,
       5,
       {1.5376107F, 0.73414814F},
       {},
       {6, 3},
       {-0.781664, 0.0914828, 1.64799, -0.518175, 0.587085, 0.42944, -0.192658, 0.899539, -0.891603, -0.223043,
        0.142954, -0.497894, 0.058506, 0.110831, 0.0901001, 0.349646, 0.50224, 0.430792}},
      {"linear",
       "half_pixel_symmetric",
       {},
       4,
       5,
       {1.5402443F, 0.47314653F},
       {},
       {6, 2},
       {0.650679, 1.44324, 0.913743, 0.341572, 0.783454, -0.56299, -0.576021, -0.238366, -0.706309, 0.012297, -0.443245,
        0.193245}},
      {"cubic",
       "half_pixel_symmetric",
       {},
       4,
       4,
       {0.70406604F, 0.8561783F},
       {},
       {2, 3},
       {0.022694, 0.314095, 0.841862, -0.0790711, 0.770738, -0.572261}},
      {"nearest",
       "half_pixel_symmetric",
       {{"nearest_mode", std::string("round_prefer_ceil")}},
       3,
       5,
       {0.8455651F, 0.63629824F},
       {},
       {2, 3},
       {-1, -0.25, 0.5, 0, 0.75, 1.5}},
      {"linear",
       "half_pixel_symmetric",
       {{"antialias", int64_t{1}}},
       5,
       3,
       {0.8497308F, 1.4498494F},
       {},
       {4, 4},
       {-0.239894, 0.358824, 0.329126, -0.326011, 1.39133, 0.736193, 0.0464663, -0.60867, 1.10867, 0.453534, -0.236193,
        -0.89133, 0.826011, 0.170874, 0.141176, 0.739894}},
      {"cubic",
       "half_pixel_symmetric",
       {{"exclude_outside", int64_t{1}}},
       5,
       3,
       {1.6165298F, 0.5572822F},
       {},
       {8, 1},
       {0.775154, 0.667523, 0.474823, 0.337511, 0.162489, 0.0251776, -0.167523, -0.275154}},
      {"linear",
       "pytorch_half_pixel",
       {},
       5,
       5,
       {0.9098509F, 1.6387787F},
       {},
       {4, 8},
       {-0.97523,  -0.248427, 0.749244,  0.139033, 0.171671,  1.15641,   0.985702,   0.52477,
        -0.425689, 0.13137,   0.900508,  0.539696, 0.0783635, -0.531847, 0.140456,   1.07431,
        0.123852,  -0.291464, -0.831477, 0.236391, 0.627904,  0.0176938, 0.372314,   0.942668,
        0.673392,  0.258076,  -0.30628,  0.179657, 0.458338,  0.430058,  -0.0429764, -0.576608}},
      {"cubic",
       "pytorch_half_pixel",
       {},
       4,
       4,
       {0.5838619F, 1.3152778F},
       {},
       {2, 5},
       {-0.45856, -0.000319218, 0.284295, 0.457877, 1.10051, -0.843156, 0.51461, 0.878534, -0.194008, -0.91403}},
      {"nearest",
       "pytorch_half_pixel",
       {{"nearest_mode", std::string("floor")}},
       5,
       4,
       {0.92064065F, 1.4481542F},
       {},
       {4, 5},
       {-1, -1, 0.75, 0.75, -0.25, 0.5, 0.5, -0.5, -0.5, 1.25, -0.75, -0.75, 1, 1, 0, 0.75, 0.75, -0.25, -0.25, 1.5}},
      {"linear",
       "pytorch_half_pixel",
       {{"antialias", int64_t{1}}},
       3,
       3,
       {0.93807364F, 1.4474174F},
       {},
       {2, 4},
       {-0.787514, 0.0257025, 0.501537, -0.189349, 1.46355, 0.927225, 0.236339, -0.454547}},
      {"cubic",
       "pytorch_half_pixel",
       {{"exclude_outside", int64_t{1}}},
       3,
       5,
       {1.6895959F, 1.3545953F},
       {},
       {5, 6},
       {-1.20491, 0.0564065, 0.435385,  -0.214747, 1.54561,  1.11284,   -1.02235,  0.369819, 0.839739,  -0.118035,
        0.565865, 0.726171,  -0.664398, 0.6277,    1.18847,  0.106764,  -0.748152, 0.245829, -0.158042, -0.200048,
        0.196803, 0.542395,  -0.577263, 0.495293,  0.156038, -0.894004, -0.6431,   0.830413, -0.164013, 0.790654}},
      {"linear",
       "align_corners",
       {},
       4,
       5,
       {0.6410813F, 1.3411129F},
       {},
       {2, 6},
       {-1, 0.4, 0.15, 0.45, 1.3, 0.5, 0.5, -0.3, 0.55, 0.85, 0.05, -0.75}},
      {"cubic",
       "align_corners",
       {},
       4,
       4,
       {1.6481538F, 0.8465973F},
       {},
       {6, 3},
       {-1, 0.25, 1.5, 0.0530003, 0.285156, 0.87, 0.388, 0.457563, -0.126, -0.638, 0.706188, -0.953999, -0.303,
        0.747625, -0.553, 0.75, 0.625, 0.5}},
      {"nearest",
       "align_corners",
       {{"nearest_mode", std::string("floor")}},
       4,
       4,
       {0.45114973F, 0.9752307F},
       {},
       {1, 3},
       {-1, 0.75, 1.5}},
      {"linear",
       "align_corners",
       {{"antialias", int64_t{1}}},
       4,
       4,
       {1.6187013F, 1.6045958F},
       {},
       {6, 6},
       {-1,    0.05,  0.55,      -0.05, 0.45, 1.5,          -0.1, -0.04, 0.13, 0.52, 0.69,  0.75,
        0.25,  -0.02, 0.0400001, 0.76,  0.6,  -5.96046e-08, -0.5, 0.22,  0.61, 0.34, -0.15, -0.75,
        -0.15, 0.24,  0.52,      0.58,  0.2,  -0.4,         0.75, 0.15,  0.1,  1.15, 1.1,   0.5}},
      {"cubic",
       "align_corners",
       {{"exclude_outside", int64_t{1}}},
       4,
       3,
       {1.6860763F, 0.6845937F},
       {},
       {6, 2},
       {-1, -0.25, 0.452425, -0.367537, 1.702, -0.562, 1.378, -0.688, 1.11754, -0.882463, 1, -1}},
      {"linear",
       "asymmetric",
       {},
       5,
       5,
       {0.6465744F, 0.95637333F},
       {},
       {3, 4},
       {-1, 0.704383, -0.0903414, 1.36315, -0.226694, 0.0430756, 0.432073, -0.237206, 0.546613, -0.385253, 0.9724,
        0.159762}},
      {"cubic", "asymmetric", {}, 4, 3, {1.5225487F, 1.4859976F}, {}, {6, 4}, {-1,        0.322047,   0.615776,
                                                                               -0.263607, 0.713923,   0.752499,
                                                                               0.26905,   -0.404463,  1.71631,
                                                                               0.924537,  -0.0617094, -0.602035,
                                                                               1.26254,   0.680427,   -0.178867,
                                                                               -0.752822, 1.07314,    0.492245,
                                                                               -0.366314, -0.940463,  0.972702,
                                                                               0.391803,  -0.466756,  -1.04091}},
      {"nearest",
       "asymmetric",
       {{"nearest_mode", std::string("floor")}},
       3,
       3,
       {0.45343152F, 0.6939494F},
       {},
       {1, 2},
       {-1, 0.75}},
      {"linear",
       "asymmetric",
       {{"antialias", int64_t{1}}},
       4,
       4,
       {1.6101418F, 1.5621604F},
       {},
       {6, 6},
       {-1,        0.120243, 0.469722, -0.170417, 0.730974,   1.5,       -0.068405,  -0.0414706, 0.172087,
        0.625257,  0.705181, 0.723671, 0.197342,  -0.0165619, 0.167054,  0.861062,   0.386785,   -0.0526584,
        -0.578987, 0.300418, 0.619955, 0.220654,  -0.389544,  -0.828987, -0.0236199, 0.244152,   0.487651,
        0.699983,  0.165823, -0.27362, 0.75,      0.109861,   0.240487,  1.36073,    0.939443,   0.5}},
      {"cubic",
       "asymmetric",
       {{"exclude_outside", int64_t{1}}},
       4,
       5,
       {0.8716219F, 1.4420682F},
       {},
       {3, 7},
       {-1,        0.296701,  0.446942,  -0.18304, 1.21796,   1.15386,   0.401532,
        -0.404208, 0.621958,  0.994089,  0.224257, -0.851731, 0.0302672, 1.33177,
        0.205122,  -0.887328, -0.394162, 0.990147, 0.125387,  0.324767,  0.955709}},
      {"linear", "tf_crop_and_resize", {}, 4, 4, {1.3134698F, 1.3216418F}, {}, {5, 5}, {0.101562,  0.285156, 0.296875,
                                                                                        0.308594,  0.492188, -0.214844,
                                                                                        -0.224609, 0.367188, 0.958984,
                                                                                        0.949219,  0.15625,  0.296875,
                                                                                        0.4375,    0.578125, 0.375,
                                                                                        0.527344,  0.818359, 0.507812,
                                                                                        0.197266,  -0.15625, 0.210938,
                                                                                        0.308594,  0.578125, 0.847656,
                                                                                        0.6875}},
      {"cubic", "tf_crop_and_resize", {}, 4, 3, {0.49883193F, 0.6362979F}, {}, {1, 1}, {0.375}},
      {"nearest",
       "tf_crop_and_resize",
       {{"nearest_mode", std::string("floor")}},
       3,
       3,
       {0.70401824F, 0.511207F},
       {},
       {2, 1},
       {0.75, 0.5}},
      {"linear",
       "tf_crop_and_resize",
       {{"antialias", int64_t{1}}},
       5,
       3,
       {1.2011842F, 1.557594F},
       {},
       {6, 4},
       {0.4375, 0.5625,   0.458333,   0.125,  0.975, 0.641667, 0.308333,  -0.025, 0.825, 0.491667,  0.158333, -0.175,
        0.675,  0.341667, 0.00833327, -0.325, 0.525, 0.191667, -0.141667, -0.475, 0.375, 0.0416666, -0.0625,  0.0625}},
      {"cubic",
       "tf_crop_and_resize",
       {{"exclude_outside", int64_t{1}}},
       5,
       4,
       {0.908006F, 0.9709272F},
       {},
       {4, 3},
       {-0.0652291, 0.27433, 0.717682, 0.116981, 0.590576, 0.345195, 0.241981, 0.691406, 0.535377, 0.341914, 0.821429,
        0.747385}},
      {"linear",
       "half_pixel",
       {{"keep_aspect_ratio_policy", std::string("not_larger")}},
       3,
       5,
       {},
       {3, 3},
       {2, 3},
       {-0.25, -0.0833333, 0.694444, -0.333333, 0.75, 0.916666}},
      {"linear",
       "half_pixel",
       {{"keep_aspect_ratio_policy", std::string("not_smaller")}},
       5,
       5,
       {},
       {3, 2},
       {3, 3},
       {-0.25, -0.0833333, 0.694444, -0.333333, 0.75, 0.916666, 0.5, -0.25, -0.0833333}},
      {"cubic",
       "pytorch_half_pixel",
       {{"antialias", int64_t{1}}, {"cubic_coeff_a", -0.5F}},
       4,
       4,
       {1.4914217F, 0.47515327F},
       {},
       {5, 1},
       {-0.628799, -0.137435, 0.214717, -0.214715, 0.113008}}};
  return cases;
}

void expect_near(const Tensor& found, const std::vector<float>& expected, const std::string& what) {
  ASSERT_EQ(found.size(), static_cast<int64_t>(expected.size())) << what;
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(found.data<float>()[i], expected[i], 1e-5) << what << " " << i;
}

TEST(ResizeInRuntimes, OddExtentsAndFractionalFactors) {
  for (const ResizeCase& test : resize_cases()) {
    const bool crops = std::string(test.coordinates) == "tf_crop_and_resize";
    Attributes attributes = test.more;
    attributes["mode"] = std::string(test.mode);
    attributes["coordinate_transformation_mode"] = std::string(test.coordinates);
    attributes["axes"] = std::vector<int64_t>{2, 3};
    if (crops) attributes["extrapolation_value"] = 7.0F;
    const Tensor x = staircase(test.height, test.width), roi = Tensor::of<float>({4}, {0.125F, 0.25F, 0.875F, 0.75F}),
                 none(DType::Float32, {0});
    const Tensor scales = Tensor::of<float>({static_cast<int64_t>(test.scales.size())}, test.scales),
                 sizes = Tensor::of<int64_t>({static_cast<int64_t>(test.sizes.size())}, test.sizes);
    const std::vector<const Tensor*> inputs = {&x, crops ? &roi : nullptr, test.scales.empty() ? nullptr : &scales,
                                               test.sizes.empty() ? nullptr : &sizes};
    std::string what = cat(test.mode, " ", test.coordinates);
    for (const auto& [key, value] : test.more) what += " " + key;
    const Tensor y = run_reference(test_node("Resize", inputs, attributes), inputs)[0];
    EXPECT_EQ(y.shape(), (Shape{1, 1, test.made[0], test.made[1]})) << what;
    expect_near(y, test.expected, what);
    if (!crops) check_lowering(test_node("Resize", inputs, attributes), inputs, true);
  }
}

// onnx 1.23.2's evaluator: the corners of an extent of 2.4, not of 2; the cases downsample_scales_*_align_corners are its own.
TEST(ResizeInRuntimes, ReferenceEvaluatorCountsWithTheUnroundedExtent) {
  const Tensor x = Tensor::of<float>({4}, {1, 2, 3, 4}), scales = Tensor::of<float>({1}, {0.6F});
  const auto last = [&](const char* coordinates) {
    const Node node =
        test_node("Resize", {&x, nullptr, &scales},
                  {{"mode", std::string("linear")}, {"coordinate_transformation_mode", std::string(coordinates)}});
    return check_lowering(node, {&x, nullptr, &scales}, true)[0].data<float>()[1];
  };
  EXPECT_NEAR(last("align_corners"), 4, 1e-6);
  EXPECT_NEAR(last("reference_align_corners"), 3.142857, 1e-6);
}

struct GridCase {
  const char *mode, *padding;
  int64_t align;
  std::vector<float> expected;  // of ONNX Runtime 1.31.1, CPU
};

TEST(GridSampleInRuntimes, PositionsOutsideInEveryPadding) {
  const std::vector<GridCase> cases = {{"linear", "zeros", 0, {0, 0, 0, 0}},
                                       {"linear", "zeros", 1, {-0.15, 0.375, 0, 0}},
                                       {"linear", "border", 0, {-0.25, 0.375, 0.84375, -0.75}},
                                       {"linear", "border", 1, {-0.25, 0.9375, 0.625, -0.75}},
                                       {"linear", "reflection", 0, {-0.25, 0.28125, -0.375, 0.5625}},
                                       {"linear", "reflection", 1, {-0.1, 0.3, -0.1875, 1.125}},
                                       {"cubic", "zeros", 0, {0, -0.0370789, 0, 0}},
                                       {"cubic", "zeros", 1, {-0.1935, 0.473051, -0.0448608, 0}},
                                       {"cubic", "border", 0, {-0.25, 0.421875, 0.91333, -0.75}},
                                       {"cubic", "border", 1, {-0.2905, 1.12411, 0.625, -0.75}},
                                       {"cubic", "reflection", 0, {-0.25, 0.301758, -0.647827, 0.888702}},
                                       {"cubic", "reflection", 1, {-0.172, 0.299519, -0.517708, 1.35645}}};
  const Tensor x = staircase(4, 5),
               grid = Tensor::of<float>({1, 1, 4, 2}, {-1.2F, 0, 1.3F, 0.5F, 0.25F, -1.75F, 2.5F, 2.5F});
  for (const GridCase& test : cases) {
    const Node node = test_node(
        "GridSample", {&x, &grid},
        {{"mode", std::string(test.mode)}, {"padding_mode", std::string(test.padding)}, {"align_corners", test.align}});
    expect_near(run_reference(node, {&x, &grid})[0], test.expected, cat(test.mode, " ", test.padding, " ", test.align));
  }
}

}  // namespace
}  // namespace dnn
