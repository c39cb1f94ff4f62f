// Attention and RotaryEmbedding: against their definitions in float64, and what they refuse.
#include <limits>

#include "unit/ops/lowering_check.h"

namespace dnn {
namespace {

TEST(Attention, IsSoftmaxOfScaledProducts) {
  const Tensor q = random_tensor(DType::Float64, {1, 2, 3, 4}, 1), k = random_tensor(DType::Float64, {1, 1, 5, 4}, 2),
               v = random_tensor(DType::Float64, {1, 1, 5, 2}, 3);
  const Tensor y = run_reference(test_node("Attention", {&q, &k, &v}, {{"is_causal", int64_t{1}}}), {&q, &k, &v})[0];
  ASSERT_EQ(y.shape(), (Shape{1, 2, 3, 2}));
  for (int64_t h = 0; h < 2; ++h) {
    for (int64_t i = 0; i < 3; ++i) {
      double total = 0, sums[2] = {0, 0};
      for (int64_t j = 0; j <= i; ++j) {
        double dot = 0;
        for (int64_t d = 0; d < 4; ++d) dot += q.data<double>()[(h * 3 + i) * 4 + d] * k.data<double>()[j * 4 + d];
        const double weight = std::exp(dot / 2);
        total += weight;
        for (int64_t d = 0; d < 2; ++d) sums[d] += weight * v.data<double>()[j * 2 + d];
      }
      for (int64_t d = 0; d < 2; ++d) EXPECT_NEAR(y.data<double>()[(h * 3 + i) * 2 + d], sums[d] / total, 1e-14);
    }
  }
}

TEST(Attention, GivesZerosToAQueryThatSeesNothing) {
  const Tensor q = random_tensor(DType::Float32, {1, 1, 2, 2}, 1),
               mask = Tensor::of<bool>({2, 2}, {false, false, true, false});
  const Tensor y = run_reference(test_node("Attention", {&q, &q, &q, &mask}), {&q, &q, &q, &mask})[0];
  EXPECT_EQ(to_doubles(y)[0], 0);
  EXPECT_EQ(to_doubles(y)[1], 0);
  EXPECT_EQ(to_doubles(y)[2], to_doubles(q)[0]);
}

// Row 0 sees nothing. Expected: ONNX Runtime 1.31.1, onnx's reference 1.23.2 and PyTorch 2, but for the lowest finite number alone, where
// ONNX Runtime gives zeros.
TEST(Attention, GivesToHiddenRowsWhatRuntimesDo) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity(), kLowest = std::numeric_limits<float>::lowest();
  const Tensor q = Tensor::of<float>({1, 1, 2, 2}, {0, 0, 0, 0}), k = q,
               v = Tensor::of<float>({1, 1, 2, 2}, {1, 2, 5, 10});
  struct Hidden {
    Tensor mask;
    Attributes attributes;
    std::vector<double> expected;
  };
  const Attributes causal = {{"is_causal", int64_t{1}}};
  for (const Hidden& hidden :
       std::vector<Hidden>{{Tensor::of<bool>({2, 2}, {false, false, true, true}), {}, {0, 0, 3, 6}},
                           {Tensor::of<bool>({2, 2}, {false, true, true, true}), causal, {0, 0, 3, 6}},
                           {Tensor::of<float>({2, 2}, {-kInfinite, -kInfinite, 0, -kInfinite}), {}, {0, 0, 1, 2}},
                           {Tensor::of<float>({2, 2}, {kLowest, kLowest, 0, kLowest}), {}, {3, 6, 1, 2}},
                           {Tensor::of<float>({2, 2}, {-1e4F, -1e4F, 0, -1e4F}), {}, {3, 6, 1, 2}},
                           {Tensor::of<float>({2, 2}, {kLowest, -kInfinite, kLowest, -1e30F}), {}, {1, 2, 5, 10}}}) {
    const std::vector<const Tensor*> inputs = {&q, &k, &v, &hidden.mask};
    EXPECT_EQ(to_doubles(run_reference(test_node("Attention", inputs, hidden.attributes), inputs)[0]), hidden.expected);
  }
}

TEST(Attention, RefusesShapesThatDoNotFit) {
  const Tensor q(DType::Float32, {1, 4, 3, 8}), k(DType::Float32, {1, 3, 5, 8}), ok(DType::Float32, {1, 2, 5, 8}),
      mask(DType::Float32, {3, 6}), flat(DType::Float32, {1, 3, 32}), counts = Tensor::of<int64_t>({1}, {INT64_MIN});
  EXPECT_THROW(run_reference(test_node("Attention", {&q, &k, &k}), {&q, &k, &k}), Error);
  EXPECT_THROW(run_reference(test_node("Attention", {&q, &ok, &ok, &mask}), {&q, &ok, &ok, &mask}), Error);
  EXPECT_THROW(run_reference(test_node("Attention", {&flat, &flat, &flat}), {&flat, &flat, &flat}), Error);
  EXPECT_THROW(run_reference(test_node("Attention", {&q, &ok, &ok, nullptr, &ok}), {&q, &ok, &ok, nullptr, &ok}),
               Error);
  const std::vector<const Tensor*> hidden = {&q, &ok, &ok, nullptr, nullptr, nullptr, &counts};
  for (double value : to_doubles(run_reference(test_node("Attention", hidden, {{"is_causal", int64_t{1}}}), hidden)[0]))
    EXPECT_EQ(value, 0);
}

TEST(RotaryEmbedding, TurnsPairsByTheirAngle) {
  const double angle = 0.3;
  const Tensor x = Tensor::of<double>({1, 1, 1, 4}, {1, 2, 3, 4}),
               cosine = Tensor::of<double>({3, 2}, {0, 0, 0, 0, std::cos(angle), 1}),
               sine = Tensor::of<double>({3, 2}, {0, 0, 0, 0, std::sin(angle), 0}),
               id = Tensor::of<int64_t>({1, 1}, {2}), outside = Tensor::of<int64_t>({1, 1}, {3});
  const std::vector<double> y =
      to_doubles(run_reference(test_node("RotaryEmbedding", {&x, &cosine, &sine, &id}), {&x, &cosine, &sine, &id})[0]);
  EXPECT_DOUBLE_EQ(y[0], std::cos(angle) * 1 - std::sin(angle) * 3);
  EXPECT_DOUBLE_EQ(y[2], std::sin(angle) * 1 + std::cos(angle) * 3);
  EXPECT_EQ(y[1], 2);
  EXPECT_EQ(y[3], 4);
  EXPECT_THROW(
      run_reference(test_node("RotaryEmbedding", {&x, &cosine, &sine, &outside}), {&x, &cosine, &sine, &outside}),
      Error);
}

}  // namespace
}  // namespace dnn
