// Conv and ConvTranspose: lowering against reference, and what they refuse.
#include <algorithm>

#include "ops/window.h"
#include "unit/ops/lowering_check.h"

namespace dnn {
namespace {

using Ints = std::vector<int64_t>;

TEST(Conv, LowersToTheReferencesBits) {
  for (const DType dtype : {DType::Float32, DType::Float64}) {
    for (int64_t group : {1, 2, 4}) {
      const Tensor x = random_tensor(dtype, {2, 4, 7, 6}, 1), w = random_tensor(dtype, {8, 4 / group, 3, 2}, 2),
                   bias = random_tensor(dtype, {8}, 3);
      for (const Attributes& form : {Attributes{}, Attributes{{"pads", Ints{1, 0, 2, 1}}, {"strides", Ints{2, 1}}},
                                     Attributes{{"auto_pad", "SAME_UPPER"}, {"strides", Ints{2, 3}}},
                                     Attributes{{"pads", Ints{4, 4, 4, 4}}, {"dilations", Ints{3, 4}}}}) {
        Attributes attributes = form;
        attributes["group"] = group;
        check_lowering(test_node("Conv", {&x, &w, &bias}, attributes), {&x, &w, &bias});
      }
    }
  }
}

void check_tap_runs(const Window& window) {
  const auto offsets = window.tap_offsets();
  const int64_t positions = element_count(window.output);
  EXPECT_EQ(window.taps_inside(), std::count_if(offsets.begin(), offsets.end(), [](int64_t at) { return at >= 0; }));
  for (int64_t panel : {1, 8, 32, 1000}) {
    const TapRuns runs(window, panel);
    for (int64_t tap = 0; tap < element_count(window.kernel); ++tap) {
      for (int64_t p = 0; p < (positions + panel - 1) / panel; ++p) {
        int64_t at = p * panel;
        for (const TapRuns::Run& run : runs.of(tap, p)) {
          for (int64_t j = 0; j < run.length; ++j, ++at) {
            ASSERT_EQ(run.from < 0 ? -1 : run.from + j * runs.step(),
                      offsets[static_cast<size_t>(tap * positions + at)])
                << "tap " << tap << " at " << at;
          }
        }
        ASSERT_EQ(at, std::min(positions, (p + 1) * panel));
      }
    }
  }
}

TEST(TapRuns, AreTheTapsOffsets) {
  for (const Attributes& form : {Attributes{}, Attributes{{"pads", Ints{1, 0, 2, 1}}, {"strides", Ints{2, 1}}},
                                 Attributes{{"pads", Ints{0, 2, 0, 3}}, {"strides", Ints{1, 2}}},
                                 Attributes{{"pads", Ints{4, 4, 4, 4}}, {"dilations", Ints{3, 4}}},
                                 Attributes{{"pads", Ints{20, 30, 20, 30}}, {"strides", Ints{3, 3}}}}) {
    const Tensor x = random_tensor(DType::Float32, {1, 1, 7, 9});
    check_tap_runs(Window::of(test_node("Conv", {&x}, form), {7, 9}, {3, 2}));
  }
}

TEST(TapRuns, AreTheTapsOffsetsOfOneAxisAndOfThree) {
  const Tensor row = random_tensor(DType::Float32, {1, 1, 9}), cube = random_tensor(DType::Float32, {1, 1, 4, 5, 6});
  for (const Attributes& form : {Attributes{}, Attributes{{"pads", Ints{3, 5}}, {"strides", Ints{2}}},
                                 Attributes{{"pads", Ints{0, 4}}, {"dilations", Ints{3}}}})
    check_tap_runs(Window::of(test_node("Conv", {&row}, form), {9}, {3}));
  for (const Attributes& form : {Attributes{}, Attributes{{"pads", Ints{1, 0, 2, 2, 1, 0}}, {"strides", Ints{2, 1, 2}}},
                                 Attributes{{"pads", Ints{0, 3, 1, 5, 0, 2}}, {"dilations", Ints{1, 2, 3}}}})
    check_tap_runs(Window::of(test_node("Conv", {&cube}, form), {4, 5, 6}, {2, 3, 2}));
}

TEST(ConvTranspose, LowersToTheReferencesBits) {
  for (const DType dtype : {DType::Float32, DType::Float64}) {
    for (int64_t group : {1, 2}) {
      const Tensor x = random_tensor(dtype, {2, 4, 3, 5}, 1), w = random_tensor(dtype, {4, 3, 3, 2}, 2),
                   bias = random_tensor(dtype, {3 * group}, 3);
      for (const Attributes& form :
           {Attributes{}, Attributes{{"pads", Ints{1, 0, 0, 1}}, {"strides", Ints{2, 3}}},
            Attributes{{"auto_pad", "SAME_LOWER"}, {"strides", Ints{2, 2}}},
            Attributes{{"output_shape", Ints{9, 12}}, {"strides", Ints{2, 2}}},
            Attributes{{"dilations", Ints{2, 3}}, {"strides", Ints{3, 2}}, {"output_padding", Ints{2, 1}}}}) {
        Attributes attributes = form;
        attributes["group"] = group;
        check_lowering(test_node("ConvTranspose", {&x, &w, &bias}, attributes), {&x, &w, &bias});
      }
    }
  }
}

// The transposed convolution is the adjoint of the convolution: <Conv(x), y> = <x, ConvTranspose(y)>.
TEST(ConvTranspose, IsTheAdjointOfConv) {
  const Tensor x = random_tensor(DType::Float64, {1, 4, 8, 7}, 1), w = random_tensor(DType::Float64, {6, 2, 3, 2}, 2);
  const Attributes form = {
      {"group", int64_t{2}}, {"pads", Ints{1, 0, 2, 1}}, {"strides", Ints{2, 3}}, {"dilations", Ints{2, 1}}};
  const Tensor forward = run_reference(test_node("Conv", {&x, &w}, form), {&x, &w})[0];
  const Tensor y = random_tensor(DType::Float64, forward.shape(), 3);
  Attributes back_form = form;  // the input rows that no window reaches
  back_form["output_padding"] = Ints{8 - ((forward.dim(2) - 1) * 2 + 5 - 3), 7 - ((forward.dim(3) - 1) * 3 + 2 - 1)};
  const Tensor back = run_reference(test_node("ConvTranspose", {&y, &w}, back_form), {&y, &w})[0];
  ASSERT_EQ(back.shape(), x.shape());
  double left = 0, right = 0;
  for (int64_t i = 0; i < y.size(); ++i) left += forward.data<double>()[i] * y.data<double>()[i];
  for (int64_t i = 0; i < x.size(); ++i) right += x.data<double>()[i] * back.data<double>()[i];
  EXPECT_NEAR(left, right, 1e-12);
}

TEST(Conv, RefusesShapesThatDoNotFit) {
  const Tensor x(DType::Float32, {1, 4, 5, 5}), w(DType::Float32, {6, 3, 3, 3}), flat(DType::Float32, {6, 4, 3}),
      ok(DType::Float32, {6, 4, 3, 3}), bias(DType::Float32, {5}), half(DType::Float16, {6, 4, 3, 3});
  for (const std::vector<const Tensor*>& inputs :
       {std::vector<const Tensor*>{&x, &w}, {&x, &flat}, {&x, &ok, &bias}, {&x, &half}}) {
    EXPECT_THROW(run_reference(test_node("Conv", inputs), inputs), Error);
    EXPECT_THROW(run_reference(test_node("ConvTranspose", inputs), inputs), Error);
  }
  EXPECT_THROW(run_reference(test_node("Conv", {&x, &ok}, {{"kernel_shape", Ints{2, 2}}}), {&x, &ok}), Error);
  const int64_t huge = int64_t{1} << 62;
  EXPECT_THROW(run_reference(test_node("Conv", {&x, &ok}, {{"group", huge}}), {&x, &ok}), Error);
}

}  // namespace
}  // namespace dnn
