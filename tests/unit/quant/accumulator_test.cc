// Bounds of sums: against all inputs tried out, and at the length where int32 wraps.
#include "quant/accumulator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "cases.h"

namespace dnn::quant {
namespace {

// A layer y = w x + b of `n` inputs and one output, with an input of scale 1 and zero point `zero`.
std::optional<Accumulators> sums_of(const std::vector<float>& w, int64_t zero, double out_scale, float bias = 0,
                                    double largest_weight = kLargestWeight) {
  Graph graph =
      parsed(cat("  input x: float32[1,", w.size(), "]\n  const w: float32[1,", w.size(),
                 "] = {0, ...}\n  const b: float32[1] = {0}\n  y = Gemm(x, w, b) @y {transB = 1}\n  output y\n"));
  const NodeId node = graph.order()[0];
  set_constant(graph, node, 1, Tensor::of<float>({1, static_cast<int64_t>(w.size())}, w), "w");
  set_constant(graph, node, 2, Tensor::of<float>({1}, {bias}), "b");
  const Plan plan = make_plan(graph, {.fuses = fuses_in_onnx});
  Quantizers quantizers;
  quantizers.largest_weight = largest_weight;
  quantizers.groups.assign(plan.groups.size(), Affine{1, zero, DType::UInt8});
  quantizers.groups[static_cast<size_t>(plan.group[static_cast<size_t>(graph.outputs[0])])] = {
      static_cast<float>(out_scale), 128, DType::UInt8};
  return accumulators_of(graph, plan, 0, quantizers, quantize_node_weights(graph, plan, 0, quantizers));
}

TEST(Accumulators, AreReachedAndNotExceeded) {
  // Largest magnitude 127: the scale is 1, so that weights are integers.
  const std::optional<Accumulators> sums = sums_of({127, -3, 2}, 100, 64, 17);
  ASSERT_TRUE(sums);
  int64_t least = INT64_MAX, most = INT64_MIN, ties = 0;
  std::set<int64_t> tied;
  for (int64_t a = 0; a < 256; ++a) {
    for (int64_t b : {0, 255}) {
      for (int64_t c : {0, 255}) {
        const int64_t sum = 127 * (a - 100) - 3 * (b - 100) + 2 * (c - 100) + 17;
        least = std::min(least, sum);
        most = std::max(most, sum);
      }
    }
  }
  for (int64_t sum = least; sum <= most; ++sum) {
    const float y = static_cast<float>(sum) * (1.0F / 64);
    ties += y > -128 && y < 127 && std::abs(y - std::floor(y)) == 0.5F ? 1 : 0;
  }
  EXPECT_EQ(sums->low, std::vector<int64_t>{least});
  EXPECT_EQ(sums->high, std::vector<int64_t>{most});
  EXPECT_FALSE(sums->wraps);
  EXPECT_FALSE(sums->pairs_saturate);  // 255 * (127 - 0) fits; 255 * 127 and -3 have different signs
  EXPECT_EQ(sums->ties, ties);
  EXPECT_GT(ties, 100);
}

TEST(Accumulators, OfReducedWeightsFit16BitsInPairs) {
  EXPECT_TRUE(sums_of({127, 127}, 0, 1e6)->pairs_saturate);
  EXPECT_FALSE(sums_of({127, 127}, 0, 1e6, 0, kReducedWeight)->pairs_saturate);
}

TEST(Accumulators, WrapFromALengthOn) {
  // 66,311 products of 255 and 127 fit int32, 66,312 do not.
  EXPECT_FALSE(sums_of(std::vector<float>(66311, 127), 0, 1e6)->wraps);
  EXPECT_TRUE(sums_of(std::vector<float>(66312, 127), 0, 1e6)->wraps);
}

TEST(Accumulators, PairsLeave16BitsWhereTheirWeightsAddUpToMoreThan128) {
  EXPECT_FALSE(sums_of({127, 1, 0, 127}, 0, 100)->pairs_saturate);  // 255 * 128 = 32,640
  EXPECT_TRUE(sums_of({127, 2}, 0, 100)->pairs_saturate);           // 32,895
  EXPECT_FALSE(sums_of({-127, -1}, 0, 100)->pairs_saturate);        // -32,640
  EXPECT_TRUE(sums_of({-127, -2}, 0, 100)->pairs_saturate);
}

}  // namespace
}  // namespace dnn::quant
