// Operands, groups of weights and clamps as the source has them, so that a right quantisation is told from a wrong one.
#include "localize/quantised_operands.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "graph/text.h"
#include "localize/quantised_layers.h"
#include "localize/used_range.h"
#include "ops/op.h"

namespace dnn {
namespace {

Graph parsed(const std::string& text) {
  Graph graph = parse_graph(text);
  infer_types(graph);
  return graph;
}

constexpr double kOperandStep = 0.01;
std::vector<double> rounded(std::vector<double> numbers) {
  for (double& x : numbers) x = std::nearbyint(x / kOperandStep) * kOperandStep;
  return numbers;
}
std::vector<double> steps_of(const std::vector<double>& numbers) {
  return std::vector<double>(numbers.size(), kOperandStep);
}

const char* const kNorm = R"(graph "source" {
  input x: float32[1,2,1,3]
  const s: float32[2] = {0.5, 2}
  const b: float32[2] = {0.123, -0.4567}
  const m: float32[2] = {0, 0}
  const v: float32[2] = {0.25, 4}
  n = BatchNormalization(x, s, b, m, v) @norm {epsilon = 0.0}
  const t: float32[1,2,1,3] = {0.111, 0.222, 0.333, 0.444, 0.555, 0.666}
  a = Add(n, t) @add
  const k: float32[1] = {0.3}
  const l: float32[1] = {0.5019}
  f = Mul(k, l) @constants
  y = Mul(a, f) @mul
  output y
})";

TEST(SourceOperands, ARoundingIsTheNearestConstantOfTheSource) {
  const SourceOperands operands(parsed(kNorm));
  const std::vector<double> added = {0.111, 0.222, 0.333, 0.444, 0.555, 0.666};
  const auto found = operands.rounded_to(rounded(added), steps_of(added));
  ASSERT_TRUE(found);
  for (size_t i = 0; i < added.size(); ++i) EXPECT_FLOAT_EQ((*found)[i], added[i]);
}

TEST(SourceOperands, ABatchNormIsAProductAndASum) {
  const SourceOperands operands(parsed(kNorm));
  const auto shift = operands.rounded_to({0.12, -0.46}, {kOperandStep, kOperandStep});
  ASSERT_TRUE(shift);
  EXPECT_FLOAT_EQ((*shift)[1], -0.4567F);
  EXPECT_TRUE(
      operands.rounded_to({1.0, 1.0}, {kOperandStep, kOperandStep}));  // scale over the square root of the variance
}

TEST(SourceOperands, ConstantsAreFolded) {
  const auto product = SourceOperands(parsed(kNorm)).rounded_to({0.15}, {kOperandStep});
  ASSERT_TRUE(product);
  EXPECT_FLOAT_EQ((*product)[0], 0.3F * 0.5019F);
}

TEST(SourceOperands, ChannelsMayBeLast) {
  const std::vector<double> last = rounded({0.111, 0.444, 0.222, 0.555, 0.333, 0.666});
  const auto found = SourceOperands(parsed(kNorm)).rounded_to(last, steps_of(last));
  ASSERT_TRUE(found);
  EXPECT_FLOAT_EQ((*found)[1], 0.444F);
}

TEST(SourceOperands, MoreThanHalfAStepIsNoRounding) {
  std::vector<double> wrong = rounded({0.111, 0.222, 0.333, 0.444, 0.555, 0.666});
  wrong[2] += kOperandStep;
  EXPECT_FALSE(SourceOperands(parsed(kNorm)).rounded_to(wrong, steps_of(wrong)));
}

// The weights of a ConvTranspose in groups have an axis of inputs, each group's behind the other's, and one of a group's outputs.
TEST(WeightRows, GroupsOfAConvTransposeAreRows) {
  const Graph graph = parsed(R"(graph "grouped" {
  input x: float32[1,4,3,3]
  const w: float32[4,2,1,1] = {1, 2, 3, 4, 5, 6, 7, 8}
  y = ConvTranspose(x, w) @up {group = 2}
  output y
})");
  const Node& node = graph.node(graph.order()[0]);
  const auto rows = weight_rows(node, {4, 2, 1, 1}, {1, 2, 3, 4, 5, 6, 7, 8});
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->n, 4u);
  EXPECT_EQ(rows->numbers, (std::vector<double>{1, 3, 2, 4, 5, 7, 6, 8}));
}

Graph clamped(const std::string& bound) {
  return parsed(R"(graph "clamped" {
  input x: float32[4]
  const b: float32[] = {)" +
                bound + R"(}
  const s: float32[] = {0.01}
  const z: int8[] = {0}
  m = Max(x, b) @max
  q = QuantizeLinear(m, s, z) @quantize
  y = DequantizeLinear(q, s, z) @dequantize
  output y
})");
}

TEST(BoundedForNothing, OnlyWhereTheRangeEndsAnyway) {
  for (const auto& [bound, idle] : {std::pair("-1.29", true), std::pair("-1.27", false), std::pair("0", false)}) {
    const Graph graph = clamped(bound);
    const Uses uses(graph);
    const auto found = bounded_for_nothing(graph, uses, graph.node(uses.producer[graph.find_value("m")]));
    EXPECT_EQ(found.has_value(), idle) << bound;
    if (found) {
      EXPECT_EQ(found->value, graph.inputs[0]);
    }
  }
}

SourceRange range_of_samples(const std::vector<std::vector<float>>& samples) {
  SourceRange range;
  for (const std::vector<float>& sample : samples)
    range.add(Tensor::of<float>({static_cast<int64_t>(sample.size())}, sample));
  return range;
}
UsedRange used_of(const SourceRange& range, double scale, double zero) {
  UsedRange used;
  used.range = &range;
  used.own = {scale, zero, -128, 127};
  used.low = std::min(range.low, 0.0);
  used.high = std::max(range.high, 0.0);
  return used;
}

// One of two samples may be all that a quantiser saw. Of more, most of which go beyond, a range that is half of theirs is wrong.
TEST(UsedRange, HalfOfTheSamplesGoBeyond) {
  const auto beyond = [](const std::vector<float>& ends) {
    std::vector<std::vector<float>> samples;
    samples.reserve(ends.size());
    for (const float end : ends) samples.push_back({-end, end});
    const SourceRange range = range_of_samples(samples);
    return used_of(range, 0.3 / 127, 0).beyond_in_half();
  };
  EXPECT_GT(beyond({1, 0.9F}), 2);
  EXPECT_LT(beyond({1, 0.3F}), 1.01);
  EXPECT_GT(beyond({1, 0.3F, 0.9F, 0.8F}), 2);
  EXPECT_LT(beyond({1, 0.3F, 0.2F, 0.1F}), 1.01);
}

TEST(UsedRange, AMovedZeroPointCutsOffInEachSample) {
  const SourceRange all = range_of_samples({{-1, 1}, {-0.9F, 1}}), one = range_of_samples({{-1, 1}, {-0.9F, 0.5F}});
  EXPECT_TRUE(used_of(all, 1.0 / 127, 64).is_moved(UsedRange::kMoved));
  EXPECT_FALSE(used_of(one, 1.0 / 127, 64).is_moved(UsedRange::kMoved));
}

}  // namespace
}  // namespace dnn
