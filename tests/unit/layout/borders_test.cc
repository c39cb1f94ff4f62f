// Pads that go into what reads them, and those that may not.
#include "layout/borders.h"

#include <gtest/gtest.h>

#include "graph_case.h"

namespace dnn {
namespace {

// The operators that are left; what they compute stays the same to the bit.
std::string folded_pads(const std::string& body) {
  const Graph before = typed(R"(  input x: float32[1,2,7,7]
  const w: float32[3,2,3,3] = random(1)
  const border: int64[8] = {0, 0, 1, 2, 0, 0, 2, 1}
  const channels: int64[8] = {0, 1, 1, 1, 0, 0, 1, 1}
  const wide: int64[8] = {0, 0, 3, 3, 0, 0, 3, 3}
  const one: float32[] = {1}
  const zero: float32[] = {0}
  const lowest: float32[] = {-inf}
)" + body);
  Graph after = before;
  fold_pads(after);
  infer_types(after);
  expect_same(before, after);
  return ops_of(after);
}

TEST(FoldPads, GoIntoConvolutionsAndPoolings) {
  EXPECT_EQ(
      folded_pads("  p = Pad(x, border, zero)\n  y = Conv(p, w) {strides = [2, 2], pads = [0, 1, 1, 0]}\n  output y"),
      "Conv");
  EXPECT_EQ(folded_pads("  p = Pad(x, border)\n  y = AveragePool(p) {kernel_shape = [3, 3]}\n  output y"),
            "AveragePool");
  EXPECT_EQ(folded_pads(
                "  p = Pad(x, border, lowest)\n  y = MaxPool(p) {kernel_shape = [3, 3], strides = [2, 2]}\n  output y"),
            "MaxPool");
  EXPECT_EQ(folded_pads("  r = Relu(x)\n  p = Pad(r, border)\n  y = MaxPool(p) {kernel_shape = [3, 3]}\n  output y"),
            "Relu MaxPool");
  EXPECT_EQ(folded_pads("  p = Pad(x, border)\n  a = Conv(p, w)\n  b = Conv(p, w)\n  y = Add(a, b)\n  output y"),
            "Conv Conv Add");
}

TEST(FoldPads, StayWhereTheyMeanSomethingElse) {
  EXPECT_EQ(folded_pads("  p = Pad(x, border, one)\n  y = Conv(p, w)\n  output y"), "Pad Conv");
  EXPECT_EQ(folded_pads("  p = Pad(x, border, zero)\n  y = MaxPool(p) {kernel_shape = [3, 3]}\n  output y"),
            "Pad MaxPool");
  EXPECT_EQ(
      folded_pads("  r = Relu(x)\n  p = Pad(r, border, one)\n  y = MaxPool(p) {kernel_shape = [3, 3]}\n  output y"),
      "Relu Pad MaxPool");
  EXPECT_EQ(folded_pads("  p = Pad(x, border)\n  y = Conv(p, w)\n  output p\n  output y"), "Pad Conv");
  EXPECT_EQ(folded_pads("  p = Pad(x, border)\n  a = Conv(p, w)\n  b = Relu(p)\n  output a\n  output b"),
            "Pad Conv Relu");
  EXPECT_EQ(folded_pads("  p = Pad(x, border) {mode = \"reflect\"}\n  y = Conv(p, w)\n  output y"), "Pad Conv");
  EXPECT_EQ(folded_pads("  p = Pad(x, channels)\n  y = MaxPool(p) {kernel_shape = [3, 3]}\n  output y"), "Pad MaxPool");
  EXPECT_EQ(folded_pads("  p = Pad(x, wide)\n  y = AveragePool(p) {kernel_shape = [3, 3]}\n  output y"),
            "Pad AveragePool");
  EXPECT_EQ(folded_pads(
                "  p = Pad(x, border)\n  y = AveragePool(p) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]}\n  output y"),
            "Pad AveragePool");
  EXPECT_EQ(
      folded_pads(
          "  p = Pad(x, border)\n  y = MaxPool(p) {kernel_shape = [2, 2], auto_pad = \"SAME_UPPER\"}\n  output y"),
      "Pad MaxPool");
}

// As rewrites: integers, too, with the number that stands for zero.
TEST(FoldPads, GoIntoConvolutionsOfIntegers) {
  const auto folded_pads = [](const std::string& fill) {
    Graph before = typed(R"(  input x: uint8[1,4,7,7]
  const w: int8[3,4,3,3] = random(1)
  const border: int64[8] = {0, 0, 1, 2, 0, 0, 2, 1}
  const fill: uint8[] = {)" +
                         fill + R"(}
  const bias: int32[3] = {1, 2, 3}
  const scale: float32[3] = {0.001, 0.002, 0.001}
  p = Pad(x, border, fill)
  y = dnn::QuantizedConv(p, w, bias, scale) {padding = 7, zero_point = 9, low = 0, high = 255, to = 2}
  output y
)");
    Graph after = before;
    for (const Patch& patch : pads_into_readers(before)) EXPECT_TRUE(patch.apply(after));
    remove_dead_nodes(after);
    infer_types(after);
    expect_same(before, after);
    return ops_of(after);
  };
  EXPECT_EQ(folded_pads("7"), "QuantizedConv");
  EXPECT_EQ(folded_pads("0"), "Pad QuantizedConv");
}

}  // namespace
}  // namespace dnn
