// The losses: by hand, and what they refuse.
#include "unit/ops/lowering_check.h"

namespace dnn {
namespace {

TEST(Loss, WeighsAndAverages) {
  const Tensor x = Tensor::of<double>({3, 2}, {-1, -2, -3, -4, -5, -6}), labels = Tensor::of<int64_t>({3}, {1, -7, 0}),
               weights = Tensor::of<double>({2}, {0.5, 2});
  const std::vector<const Tensor*> inputs = {&x, &labels, &weights};
  Attributes attributes = {{"ignore_index", int64_t{-7}}};
  EXPECT_EQ(to_doubles(run_reference(test_node("NegativeLogLikelihoodLoss", inputs, attributes), inputs)[0])[0],
            (2 * 2 + 0.5 * 5) / 2.5);
  attributes["reduction"] = "none";
  EXPECT_EQ(to_doubles(run_reference(test_node("NegativeLogLikelihoodLoss", inputs, attributes), inputs)[0]),
            (std::vector<double>{4, 0, 2.5}));
  EXPECT_THROW(run_reference(test_node("NegativeLogLikelihoodLoss", inputs), inputs), Error);  // -7 is no class
}

TEST(Loss, CrossEntropyIsTheLossOfTheLogSoftmax) {
  const Tensor x = random_tensor(DType::Float64, {2, 3, 4}),
               labels = Tensor::of<int32_t>({2, 4}, {0, 1, 2, 0, 2, 2, 1, 0});
  const auto both = run_reference(test_node("SoftmaxCrossEntropyLoss", {&x, &labels}, {}, 2), {&x, &labels});
  const Tensor logs = run_reference(test_node("LogSoftmax", {&x}, {{"axis", int64_t{1}}}), {&x})[0];
  EXPECT_TRUE(both[1].identical(logs));
  EXPECT_TRUE(
      both[0].identical(run_reference(test_node("NegativeLogLikelihoodLoss", {&logs, &labels}), {&logs, &labels})[0]));
}

}  // namespace
}  // namespace dnn
