// dnn.WinogradConv against Conv, and its lowering against its reference.
#include "ops/winograd.h"
#include "unit/ops/lowering_check.h"

namespace dnn {
namespace {

struct Case {
  Shape x;
  int64_t m;
  std::vector<int64_t> pads;
};

// Extents with and without tiles that hang over the end, uneven pads, several images.
const Case kCases[] = {{{1, 16, 8, 8}, 16, {1, 1, 1, 1}},
                       {{2, 5, 7, 9}, 3, {1, 1, 1, 1}},
                       {{1, 3, 6, 13}, 4, {0, 0, 0, 0}},
                       {{1, 4, 10, 5}, 2, {0, 2, 1, 0}}};

Node winograd_node(const Tensor& x, const Tensor& u, const Tensor* bias, const std::vector<int64_t>& pads) {
  Node node = test_node(
      "WinogradConv", bias == nullptr ? std::vector<const Tensor*>{&x, &u} : std::vector<const Tensor*>{&x, &u, bias});
  node.domain = kInternalDomain;
  node.attributes["pads"] = pads;
  return node;
}

class Winograd : public ::testing::TestWithParam<const winograd::Form*> {};
INSTANTIATE_TEST_SUITE_P(Forms, Winograd, ::testing::Values(&winograd::f4x4(), &winograd::f2x2()),
                         [](const auto& form) { return cat("F", form.param->out); });

TEST_P(Winograd, ComputesTheConvolution) {
  for (const Case& k : kCases) {
    const Tensor x = random_tensor(DType::Float32, k.x, 1), w = random_tensor(DType::Float32, {k.m, k.x[1], 3, 3}, 2),
                 b = random_tensor(DType::Float32, {k.m}, 3), u = winograd::transform_weights(w, *GetParam());
    ASSERT_EQ(u.shape(), (Shape{GetParam()->products(), k.x[1], k.m}));
    Node conv = test_node("Conv", {&x, &w, &b});
    conv.attributes["pads"] = k.pads;
    const Tensor expected = run_reference(conv, {&x, &w, &b})[0];
    const Tensor actual = run_reference(winograd_node(x, u, &b, k.pads), {&x, &u, &b})[0];
    ASSERT_EQ(actual.shape(), expected.shape());
    const std::vector<double> want = to_doubles(expected), got = to_doubles(actual);
    double largest = 0;
    for (double y : want) largest = std::max(largest, std::abs(y));
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5 * largest) << i;
  }
}

TEST_P(Winograd, LowersToTheReferencesBits) {
  for (const Case& k : kCases) {
    const Tensor x = random_tensor(DType::Float32, k.x, 1),
                 u = random_tensor(DType::Float32, {GetParam()->products(), k.x[1], k.m}, 2),
                 b = random_tensor(DType::Float32, {k.m}, 3);
    check_lowering(winograd_node(x, u, &b, k.pads), {&x, &u, &b});
    check_lowering(winograd_node(x, u, nullptr, k.pads), {&x, &u});
  }
}

TEST(WinogradForms, OtherWeightsAreRefused) {
  const Tensor x = random_tensor(DType::Float32, {1, 2, 6, 6}, 1);
  for (const auto& [shape, why] :
       {std::pair(Shape{25, 2, 3}, "25 products; it takes 36 or 16"), std::pair(Shape{36}, "weights of rank 3")}) {
    const Tensor u = random_tensor(DType::Float32, shape, 2);
    try {
      run_reference(winograd_node(x, u, nullptr, {1, 1, 1, 1}), {&x, &u});
      FAIL() << "not refused";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace dnn
