// lowering_check on operators whose lowering is known: it must pass right ones and see wrong ones.
#include "unit/ops/lowering_check.h"

#include <gtest/gtest-spi.h>

namespace dnn {
namespace {

TEST(LoweringCheck, PassesElementwiseAndConv) {
  const Tensor a = random_tensor(DType::Float32, {2, 3, 4}), b = random_tensor(DType::Float32, {3, 1}, 2);
  check_lowering(test_node("Add", {&a, &b}), {&a, &b});
  const Tensor x = random_tensor(DType::Float64, {1, 4, 5, 5}), w = random_tensor(DType::Float64, {6, 2, 3, 3}, 2),
               bias = random_tensor(DType::Float64, {6}, 3);
  const Attributes attributes = {{"group", int64_t{2}}, {"pads", std::vector<int64_t>{1, 0, 1, 2}}};
  const std::vector<Tensor> y = check_lowering(test_node("Conv", {&x, &w, &bias}, attributes), {&x, &w, &bias});
  EXPECT_EQ(y[0].shape(), (Shape{1, 6, 5, 5}));
}

TEST(LoweringCheck, CountsStores) {
  using namespace loops;
  const auto y = std::make_shared<const Buffer>(Buffer{"y", DType::Float32, {2}, {}});
  const auto n = std::make_shared<const Buffer>(Buffer{"n", DType::Int32, {2}, {}});
  const Stmt twice = loop("i", 2, store(y, {0}, constant(DType::Float32, 1)));
  std::vector<Tensor> arguments = {Tensor(DType::Float32, {2}), Tensor(DType::Int32, {2})};
  evaluate(Kernel{"k", "", "map", {y, n}, count_stores(twice, {y}, {n})}, arguments);
  EXPECT_EQ(to_int64s(arguments[1]), (std::vector<int64_t>{2, 0}));
}

TEST(LoweringCheck, SeesAnOperatorWithoutLowering) {
  const Tensor a = random_tensor(DType::Float16, {1, 1, 2, 2}), w = random_tensor(DType::Float16, {1, 1, 1, 1});
  EXPECT_NONFATAL_FAILURE(check_lowering(test_node("Conv", {&a, &w}), {&a, &w}), "Conv is not lowered");
}

}  // namespace
}  // namespace dnn
