// dnn.WinogradConv against Conv, and its lowering against its reference.
#include "ops/winograd.h"
#include "unit/ops/lowering_check.h"

namespace dnn {
namespace {

using winograd::Form;

struct Case {
  Shape x;
  int64_t m;
  std::vector<int64_t> pads;
};

// Extents with and without tiles that hang over the end, uneven pads, several images.
const Case kCases[] = {{{1, 16, 8, 8}, 16, {1, 1, 1, 1}},
                       {{2, 5, 7, 9}, 3, {1, 1, 1, 1}},
                       {{1, 3, 7, 13}, 4, {0, 3, 0, 3}},
                       {{1, 4, 10, 8}, 2, {0, 2, 1, 0}}};

Form form_of(int64_t high, int64_t wide, int64_t taps_high, int64_t taps_wide, int64_t stride = 1) {
  return {winograd::axis(high, taps_high, stride), winograd::axis(wide, taps_wide, stride)};
}

Node with_form(Node node, const Form& form) {
  node.attributes["kernel_shape"] = std::vector<int64_t>{form.rows.taps, form.columns.taps};
  node.attributes["strides"] = std::vector<int64_t>{form.rows.stride, form.columns.stride};
  return node;
}

Node winograd_node(const Form& form, const Tensor& x, const Tensor& u, const Tensor* bias,
                   const std::vector<int64_t>& pads) {
  Node node = with_form(test_node("WinogradConv", bias == nullptr ? std::vector<const Tensor*>{&x, &u}
                                                                  : std::vector<const Tensor*>{&x, &u, bias}),
                        form);
  node.domain = kInternalDomain;
  node.attributes["pads"] = pads;
  node.attributes["tile"] = std::vector<int64_t>{form.rows.out, form.columns.out};
  return node;
}

// The forms that the pass chooses among, and tiles that are no squares.
const Form kForms[] = {form_of(2, 2, 3, 3),    form_of(4, 4, 3, 3),    form_of(5, 5, 3, 3),   form_of(6, 6, 3, 3),
                       form_of(3, 6, 3, 3),    form_of(2, 3, 5, 5),    form_of(4, 4, 5, 5),   form_of(2, 2, 7, 7),
                       form_of(1, 4, 1, 7),    form_of(3, 1, 7, 1),    form_of(1, 6, 1, 3),   form_of(2, 2, 3, 3, 2),
                       form_of(4, 3, 3, 3, 2), form_of(2, 3, 5, 5, 2), form_of(2, 2, 7, 7, 2)};

class Winograd : public ::testing::TestWithParam<Form> {};
INSTANTIATE_TEST_SUITE_P(Forms, Winograd, ::testing::ValuesIn(kForms), [](const auto& form) {
  std::string name = form.param.text();
  std::erase_if(name, [](char c) { return std::string("(, )").find(c) != std::string::npos; });
  std::replace(name.begin(), name.end(), '/', 's');
  return name;
});

// How far a form may round away, of the largest output, by its products along an axis.
double bound(const Form& form) {
  const int64_t products = std::max(form.rows.products(), form.columns.products());
  return products <= 4 ? 1e-6 : products <= 6 ? 1e-5 : 2e-5;
}

TEST_P(Winograd, ComputesTheConvolution) {
  const Form& form = GetParam();
  for (const Case& k : kCases) {
    const Tensor x = random_tensor(DType::Float32, k.x, 1),
                 w = random_tensor(DType::Float32, {k.m, k.x[1], form.rows.taps, form.columns.taps}, 2),
                 b = random_tensor(DType::Float32, {k.m}, 3), u = winograd::transform_weights(w, form);
    ASSERT_EQ(u.shape(), (Shape{form.products(), k.x[1], k.m}));
    Node conv = with_form(test_node("Conv", {&x, &w, &b}), form);
    conv.attributes["pads"] = k.pads;
    const Tensor expected = run_reference(conv, {&x, &w, &b})[0];
    const Tensor actual = run_reference(winograd_node(form, x, u, &b, k.pads), {&x, &u, &b})[0];
    ASSERT_EQ(actual.shape(), expected.shape());
    const std::vector<double> want = to_doubles(expected), got = to_doubles(actual);
    double largest = 0;
    for (double y : want) largest = std::max(largest, std::abs(y));
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], bound(form) * largest) << i;
  }
}

TEST_P(Winograd, LowersToTheReferencesBits) {
  const Form& form = GetParam();
  for (const Case& k : kCases) {
    const Tensor x = random_tensor(DType::Float32, k.x, 1),
                 u = random_tensor(DType::Float32, {form.products(), k.x[1], k.m}, 2),
                 b = random_tensor(DType::Float32, {k.m}, 3);
    check_lowering(winograd_node(form, x, u, &b, k.pads), {&x, &u, &b});
    check_lowering(winograd_node(form, x, u, nullptr, k.pads), {&x, &u});
  }
}

Node weights_node(const Form& form, const Tensor& w, bool back) {
  Node node = with_form(test_node("WinogradWeights", {&w}), form);
  node.domain = kInternalDomain;
  node.attributes["tile"] = std::vector<int64_t>{form.rows.out, form.columns.out};
  node.attributes["back"] = int64_t{back ? 1 : 0};
  return node;
}

// The filters with taps in the other order, and inputs and outputs in each other's place.
Tensor turned(const Tensor& w) {
  const int64_t m = w.dim(0), c = w.dim(1), taps = w.dim(2) * w.dim(3);
  Tensor result(DType::Float32, {c, m, w.dim(2), w.dim(3)});
  for (int64_t i = 0; i < w.size(); ++i)
    result.mutable_data<float>()[(i / taps % c * m + i / taps / c) * taps + taps - 1 - i % taps] = w.data<float>()[i];
  return result;
}

TEST_P(Winograd, MatricesOfComputedWeights) {
  const Form& form = GetParam();
  for (const auto& [m, c] : {std::pair<int64_t, int64_t>(16, 32), {5, 3}}) {
    const Tensor w = random_tensor(DType::Float32, {m, c, form.rows.taps, form.columns.taps}, 4);
    for (bool back : {false, true}) {
      const std::vector<double> got = to_doubles(check_lowering(weights_node(form, w, back), {&w})[0]),
                                want = to_doubles(winograd::transform_weights(back ? turned(w) : w, form));
      ASSERT_EQ(got.size(), want.size());
      for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-6) << i;
    }
  }
}

TEST_P(Winograd, GradientOfTheWeights) {
  const Form& form = GetParam();
  if (form.rows.stride * form.columns.stride > 1) return;
  for (const auto& [x_shape, m, pads] :
       {std::tuple<Shape, int64_t, std::vector<int64_t>>({2, 16, 9, 10}, 32, {1, 1, 1, 1}),
        {{1, 32, 12, 8}, 16, {0, 2, 1, 0}}}) {
    const Shape dy_shape = {x_shape[0], m, x_shape[2] + pads[0] + pads[2] - form.rows.taps + 1,
                            x_shape[3] + pads[1] + pads[3] - form.columns.taps + 1};
    const Tensor x = random_tensor(DType::Float32, x_shape, 5), dy = random_tensor(DType::Float32, dy_shape, 6);
    Node node = with_form(test_node("WinogradWeightGradient", {&x, &dy}), form);
    node.domain = kInternalDomain;
    node.attributes["pads"] = pads;
    Node plain = node;
    plain.op = "ConvWeightGradient";
    plain.attributes["input_shape"] = std::vector<int64_t>{x_shape[2], x_shape[3]};
    node.attributes["tile"] = std::vector<int64_t>{form.rows.out, form.columns.out};
    const Tensor expected = run_reference(plain, {&x, &dy})[0], actual = check_lowering(node, {&x, &dy})[0];
    ASSERT_EQ(actual.shape(), expected.shape());
    const std::vector<double> want = to_doubles(expected), got = to_doubles(actual);
    double largest = 0;
    for (double d : want) largest = std::max(largest, std::abs(d));
    for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], bound(form) * largest) << i;
  }
}

TEST(WinogradGradients, WhatDoesNotFitIsRefused) {
  const Tensor x = random_tensor(DType::Float32, {1, 16, 6, 6}, 1),
               dy = random_tensor(DType::Float32, {1, 16, 6, 6}, 2),
               w = random_tensor(DType::Float32, {16, 16, 3, 2}, 3);
  const auto said = [](const Node& node, const std::vector<const Tensor*>& inputs) {
    try {
      run_reference(node, inputs);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("not refused");
  };
  EXPECT_NE(said(weights_node(form_of(4, 4, 3, 3), w, false), {&w}).find("[16, 16, 3, 2] are not those of F(4x4, 3x3)"),
            std::string::npos);
  Node node = with_form(test_node("WinogradWeightGradient", {&x, &dy}), form_of(2, 2, 3, 3));
  node.domain = kInternalDomain;
  node.attributes["tile"] = std::vector<int64_t>{2, 2};
  EXPECT_NE(said(node, {&x, &dy}).find("the tiles make"), std::string::npos);
  node.attributes["pads"] = std::vector<int64_t>{1, 1, 1, 1};
  EXPECT_EQ(said(node, {&x, &dy}), "not refused");
  node.attributes["strides"] = std::vector<int64_t>{2, 2};
  EXPECT_NE(said(node, {&x, &dy}).find("not 1"), std::string::npos);
}

// Multiplications are what Winograd's bound says: out + taps - 1 an axis, of even and odd taps apart with a stride of 2.
TEST(WinogradForms, MultiplyAsFewTimesAsTheyCan) {
  for (int64_t taps : {2, 3, 5, 7}) {
    for (int64_t out = 2; winograd::has_axis(out, taps); ++out) {
      EXPECT_EQ(winograd::axis(out, taps).products(), out + taps - 1);
      EXPECT_EQ(winograd::axis(out, taps).in, out + taps - 1);
    }
  }
  EXPECT_EQ(winograd::axis(4, 3, 2).products(), 9);
  EXPECT_EQ(winograd::axis(4, 3, 2).in, 9);
  EXPECT_EQ(winograd::axis(1, 1).products(), 1);
  for (const auto& [out, taps, stride] :
       {std::tuple(7, 3, 1), std::tuple(5, 7, 1), std::tuple(2, 1, 1), std::tuple(5, 3, 2), std::tuple(2, 4, 2),
        std::tuple(2, 3, 3), std::tuple(0, 3, 1), std::tuple(-1, 3, 2), std::tuple(1, 11, 1)})
    EXPECT_FALSE(winograd::has_axis(out, taps, stride)) << out << " " << taps << " " << stride;
}

TEST(WinogradForms, WhatHasNoFormIsRefused) {
  const Tensor x = random_tensor(DType::Float32, {1, 2, 6, 6}, 1);
  const auto said = [&](const Shape& weights, const std::vector<int64_t>& pads, const std::vector<int64_t>& tile) {
    const Tensor u = random_tensor(DType::Float32, weights, 2);
    Node node = winograd_node(form_of(4, 4, 3, 3), x, u, nullptr, pads);
    node.attributes["tile"] = tile;
    try {
      run_reference(node, {&x, &u});
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("not refused");
  };
  EXPECT_NE(said({25, 2, 3}, {1, 1, 1, 1}, {4, 4}).find("F(4x4, 3x3) of 2 channels takes 36"), std::string::npos);
  EXPECT_NE(said({36, 3, 3}, {1, 1, 1, 1}, {4, 4}).find("36 products of 3 channels"), std::string::npos);
  EXPECT_NE(said({36}, {1, 1, 1, 1}, {4, 4}).find("weights of rank 3"), std::string::npos);
  EXPECT_NE(said({36, 2, 3}, {1, 1, 1, 1}, {9, 4}).find("no form for tile [9, 4]"), std::string::npos);
  EXPECT_NE(said({36, 2, 3}, {1, 1, 1, 1}, {4}).find("no form for tile [4]"), std::string::npos);
  EXPECT_NE(said({36, 2, 3}, {-2, 0, -2, 0}, {4, 4}).find("no output"), std::string::npos);
  EXPECT_NE(said({36, 2, 3}, {1, 1, 1}, {4, 4}).find("pads [1, 1, 1]"), std::string::npos);
  const int64_t far = int64_t{1} << 62;
  EXPECT_NE(said({36, 2, 3}, {far, 1, 1, 1}, {4, 4}).find("has pads"), std::string::npos);
  EXPECT_NE(said({36, 2, 3}, {1 << 30, 1 << 30, 0, 0}, {4, 4}).find("too many elements"), std::string::npos);
  EXPECT_NE(said({36, 2, 3}, {1, 1, 1, 1}, {far, 4}).find("no form for tile"), std::string::npos);
}

}  // namespace
}  // namespace dnn
