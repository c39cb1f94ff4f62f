// exp(x) - 1 and log(1 + x): as near as the functions that frameworks have for them, and the same at the ends.
#include "formats/near_zero.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "interp/interpreter.h"

namespace dnn {
namespace {

using Made = ValueId (*)(GraphBuilder&, ValueId, DType);

std::vector<double> computed(Made make, const std::vector<float>& values) {
  NewGraph net;
  const Shape shape = {std::ssize(values)};
  const ValueId x = net.input("x", Type(DType::Float32, {Dim(std::ssize(values))}));
  net.output(make(net, x, DType::Float32), "y");
  return to_doubles(interpret(net.finish(), {Tensor::of<float>(shape, values)})[0]);
}

TEST(NearZero, KeepsTheDigitsOfSmallNumbers) {
  std::vector<float> values;
  for (const float size : {1e-30F, 1e-12F, 1e-7F, 3e-6F, 1e-3F, 0.1F, 0.4999F, 0.5001F, 0.9F}) {
    values.push_back(size);
    values.push_back(-size);
  }
  values.insert(values.end(), {0.0F, 3.0F, 30.0F});
  const std::vector<double> exps = computed(exp_less_one, values), logs = computed(log_of_one_more, values);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto x = static_cast<double>(values[i]);
    EXPECT_NEAR(exps[i], std::expm1(x), 5e-7 * std::abs(std::expm1(x))) << x;
    EXPECT_NEAR(logs[i], std::log1p(x), 5e-7 * std::abs(std::log1p(x))) << x;
  }
}

TEST(NearZero, EndsAreThose) {
  const float infinite = std::numeric_limits<float>::infinity();
  EXPECT_EQ(computed(exp_less_one, {-infinite, -200, infinite}), (std::vector<double>{-1, -1, infinite}));
  EXPECT_EQ(computed(log_of_one_more, {-1, infinite}), (std::vector<double>{-infinite, infinite}));
  for (double y : computed(log_of_one_more, {-2, -infinite, std::nanf("")})) EXPECT_TRUE(std::isnan(y)) << y;
  EXPECT_TRUE(std::isnan(computed(exp_less_one, {std::nanf("")})[0]));
}

}  // namespace
}  // namespace dnn
