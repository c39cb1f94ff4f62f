// MaxUnpool, Col2Im, DeformConv: told by the operators they undo or extend, and what they refuse.
#include "unit/ops/lowering_check.h"

namespace dnn {
namespace {

using Ints = std::vector<int64_t>;

TEST(MaxUnpool, UndoesMaxPool) {
  const Tensor x = random_tensor(DType::Float32, {2, 3, 6, 8});
  const Attributes window = {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}};
  const std::vector<Tensor> pooled = run_reference(test_node("MaxPool", {&x}, window, 2), {&x});
  const Tensor back =
      run_reference(test_node("MaxUnpool", {&pooled[0], &pooled[1]}, window), {&pooled[0], &pooled[1]})[0];
  ASSERT_EQ(back.shape(), x.shape());
  int64_t kept = 0;
  for (int64_t i = 0; i < x.size(); ++i) {
    const float value = back.data<float>()[i];
    EXPECT_TRUE(value == 0 || value == x.data<float>()[i]);
    kept += value != 0 ? 1 : 0;
  }
  EXPECT_EQ(kept, pooled[0].size());
  const Tensor smaller = Tensor::of<int64_t>({4}, {2, 3, 5, 8});
  const std::vector<const Tensor*> too_small = {&pooled[0], &pooled[1], &smaller};
  EXPECT_THROW(run_reference(test_node("MaxUnpool", too_small, window), too_small), Error);
  Tensor outside = pooled[1];
  outside.mutable_data<int64_t>()[5] = 2 * 3 * 6 * 8;
  EXPECT_THROW(run_reference(test_node("MaxUnpool", {&pooled[0], &outside}, window), {&pooled[0], &outside}), Error);
}

struct UnpoolCase {
  Ints kernel, strides, pads, output;
  Shape x;
  Ints indices;
  Shape made;
  Ints places;  // of the values 1, 2, 3... in ONNX Runtime 1.31.1, CPU
};

// Indices count in the output_shape, the batch and channels included.
TEST(MaxUnpool, IsOnnxRuntimes) {
  const std::vector<UnpoolCase> cases = {
      {{2}, {2}, {0, 0}, {1, 2, 6}, {1, 2, 2}, {1, 3, 4, 7}, {1, 2, 6}, {1, 3, 4, 7}},
      {{2}, {2}, {0, 0}, {1, 1, 6}, {1, 1, 2}, {1, 5}, {1, 1, 6}, {1, 5}},
      {{2, 2}, {2, 2}, {0, 0, 0, 0}, {}, {1, 1, 2, 2}, {5, 7, 13, 15}, {1, 1, 4, 4}, {5, 7, 13, 15}},
      {{2, 2}, {2, 2}, {0, 0, 0, 0}, {1, 1, 5, 5}, {1, 1, 2, 2}, {5, 7, 13, 24}, {1, 1, 5, 5}, {5, 7, 13, 24}},
      {{2, 2}, {1, 1}, {0, 0, 0, 0}, {1, 1, 4, 4}, {1, 1, 2, 2}, {0, 2, 6, 8}, {1, 1, 4, 4}, {0, 2, 6, 8}},
      {{3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1, 4, 4}, {1, 1, 2, 2}, {0, 2, 6, 8}, {1, 1, 4, 4}, {0, 2, 6, 8}},
      {{2, 2},
       {2, 2},
       {0, 0, 0, 0},
       {2, 1, 5, 5},
       {2, 1, 2, 2},
       {5, 7, 13, 15, 16, 17, 20, 25},
       {2, 1, 5, 5},
       {5, 7, 13, 15, 16, 17, 20, 25}},
      {{2, 2, 2},
       {2, 2, 2},
       {0, 0, 0, 0, 0, 0},
       {1, 1, 2, 5, 5},
       {1, 1, 1, 2, 2},
       {5, 7, 13, 15},
       {1, 1, 2, 5, 5},
       {5, 7, 13, 15}}};
  for (const UnpoolCase& c : cases) {
    SCOPED_TRACE(shape_text(c.made));
    Tensor x(DType::Float32, c.x);
    for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = static_cast<float>(i + 1);
    const Tensor indices = Tensor::of<int64_t>(c.x, c.indices),
                 output = Tensor::of<int64_t>({std::ssize(c.output)}, c.output);
    std::vector<const Tensor*> inputs = {&x, &indices};
    if (!c.output.empty()) inputs.push_back(&output);
    const Attributes window = {{"kernel_shape", c.kernel}, {"strides", c.strides}, {"pads", c.pads}};
    const Tensor y = run_reference(test_node("MaxUnpool", inputs, window), inputs)[0];
    ASSERT_EQ(y.shape(), c.made);
    std::vector<float> expected(static_cast<size_t>(y.size()), 0);
    for (size_t i = 0; i < c.places.size(); ++i) expected[c.places[i]] = static_cast<float>(i + 1);
    EXPECT_EQ(std::vector<float>(y.data<float>(), y.data<float>() + y.size()), expected);
  }
}

// The places of a MaxPool that left a row and a column over lead back where its largest elements were.
TEST(MaxUnpool, UndoesAMaxPoolOfOddExtents) {
  const Tensor x = random_tensor(DType::Float32, {2, 3, 5, 7}), shape = Tensor::of<int64_t>({4}, {2, 3, 5, 7});
  const Attributes window = {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}};
  const std::vector<Tensor> pooled = run_reference(test_node("MaxPool", {&x}, window, 2), {&x});
  const std::vector<const Tensor*> inputs = {&pooled[0], &pooled[1], &shape};
  const Tensor back = run_reference(test_node("MaxUnpool", inputs, window), inputs)[0];
  int64_t kept = 0;
  for (int64_t i = 0; i < x.size(); ++i) {
    const float value = back.data<float>()[i];
    EXPECT_TRUE(value == 0 || value == x.data<float>()[i]);
    kept += value != 0 ? 1 : 0;
  }
  EXPECT_EQ(kept, pooled[0].size());
}

// A convolution is a product with the columns; its transpose adds columns back: ConvTranspose by Col2Im.
TEST(Col2Im, AddsColumnsAsConvTransposeDoes) {
  const Tensor x = random_tensor(DType::Float64, {1, 1, 3, 4}, 1), w = random_tensor(DType::Float64, {1, 1, 2, 3}, 2);
  const Attributes form = {{"strides", Ints{2, 1}}, {"pads", Ints{1, 0, 0, 1}}, {"dilations", Ints{1, 2}}};
  const Tensor expected = run_reference(test_node("ConvTranspose", {&x, &w}, form), {&x, &w})[0];
  Tensor columns(DType::Float64, {1, 6, 12});
  for (int64_t k = 0; k < 6; ++k) {
    for (int64_t p = 0; p < 12; ++p)
      columns.mutable_data<double>()[k * 12 + p] = w.data<double>()[k] * x.data<double>()[p];
  }
  const Tensor image = Tensor::of<int64_t>({2}, {expected.dim(2), expected.dim(3)}),
               block = Tensor::of<int64_t>({2}, {2, 3});
  const std::vector<const Tensor*> inputs = {&columns, &image, &block};
  const Tensor y = run_reference(test_node("Col2Im", inputs, form), inputs)[0];
  ASSERT_EQ(y.shape(), expected.shape());
  for (int64_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y.data<double>()[i], expected.data<double>()[i], 1e-15);
  const Tensor other = Tensor::of<int64_t>({2}, {9, 9});
  const std::vector<const Tensor*> wrong = {&columns, &other, &block};
  EXPECT_THROW(run_reference(test_node("Col2Im", wrong, form), wrong), Error);
}

TEST(DeformConv, IsAConvolutionWithoutOffsets) {
  const Tensor x = random_tensor(DType::Float64, {2, 4, 6, 5}, 1), w = random_tensor(DType::Float64, {6, 2, 3, 2}, 2),
               bias = random_tensor(DType::Float64, {6}, 3);
  const Attributes form = {{"group", int64_t{2}}, {"pads", Ints{1, 1, 0, 2}}, {"strides", Ints{2, 1}}};
  const Tensor expected = run_reference(test_node("Conv", {&x, &w, &bias}, form), {&x, &w, &bias})[0];
  Attributes with_groups = form;
  with_groups["offset_group"] = int64_t{2};
  const Tensor still(DType::Float64, {2, 2 * 6 * 2, expected.dim(2), expected.dim(3)});
  const std::vector<const Tensor*> inputs = {&x, &w, &still, &bias};
  EXPECT_TRUE(run_reference(test_node("DeformConv", inputs, with_groups), inputs)[0].identical(expected));
  Tensor lost = still;  // NaN and far offsets sample nothing
  for (int64_t i = 0; i < lost.size(); ++i) lost.mutable_data<double>()[i] = i % 2 == 0 ? std::nan("") : 1e300;
  const std::vector<const Tensor*> nowhere = {&x, &w, &lost};
  for (double value : to_doubles(run_reference(test_node("DeformConv", nowhere, with_groups), nowhere)[0]))
    EXPECT_EQ(value, 0);
  const Tensor wrong(DType::Float64, {2, 6, expected.dim(2), expected.dim(3)});
  const std::vector<const Tensor*> misfit = {&x, &w, &wrong};
  EXPECT_THROW(run_reference(test_node("DeformConv", misfit, with_groups), misfit), Error);
}

}  // namespace
}  // namespace dnn
