// Operators that index by tensors: what the conformance cases leave out: ties, NaNs, wrapping, refusals, lowerings.
#include <cmath>

#include "unit/ops/infer_check.h"
#include "unit/ops/lowering_check.h"
#include "unit/ops/reference_check.h"

namespace dnn {
namespace {

using V = std::vector<double>;
using Ints = std::vector<int64_t>;
using Texts = std::vector<std::string>;

V values_of(const Node& node, const std::vector<const Tensor*>& inputs) {
  return to_doubles(run_reference(node, inputs)[0]);
}

TEST(TopK, TiesNaNsAndRefusals) {
  const float nan = std::nanf("");
  const Tensor x = Tensor::of<float>({5}, {2, nan, 3, 2, 3}), two = ints({3}), six = ints({6});
  const Node largest = test_node("TopK", {&x, &two}, {}, 2);
  std::vector<Tensor> y = run_reference(largest, {&x, &two});
  EXPECT_TRUE(std::isnan(y[0].data<float>()[0]));
  EXPECT_EQ(to_int64s(y[1]), (Ints{1, 2, 4}));
  y = run_reference(test_node("TopK", {&x, &two}, {{"largest", int64_t{0}}}, 2), {&x, &two});
  EXPECT_EQ(to_int64s(y[1]), (Ints{0, 3, 2}));
  EXPECT_EQ(refusal(test_node("TopK", {&x, &six}, {}, 2), {&x, &six}), "unnamed node (TopK): K [6] of an extent of 5");
  EXPECT_EQ(inferred(infer_node("TopK", 2, {{"axis", int64_t{0}}}, 2), {floats({5, Dim(std::string("N"))}), two}),
            (Texts{"float32[3,N]", "int64[3,N]"}));
}

TEST(TopK, AlongAnInnerAxis) {
  const Tensor x = Tensor::of<int32_t>({3, 2}, {1, 6, 3, 4, 2, 5}), one = ints({2});
  const Node node = test_node("TopK", {&x, &one}, {{"axis", int64_t{0}}}, 2);
  EXPECT_EQ(values_of(node, {&x, &one}), (V{3, 6, 2, 5}));
}

TEST(OneHot, LoopsMarkNegativeAndSkipOutOfRange) {
  const Tensor depth = Tensor::scalar<int64_t>(3), values = Tensor::of<float>({2}, {-1, 1});
  for (DType dtype : {DType::Int64, DType::Int32, DType::UInt8}) {
    Tensor indices = convert(Tensor::of<int64_t>({2, 2}, {0, -1, 7, 2}), dtype);
    for (int64_t axis : {-1, 0, 1}) {
      const Node node = test_node("OneHot", {&indices, &depth, &values}, {{"axis", axis}});
      EXPECT_EQ(check_lowering(node, {&indices, &depth, &values})[0].size(), 12);
    }
  }
  const Tensor index = ints({-3, 3});
  EXPECT_EQ(values_of(test_node("OneHot", {&index, &depth, &values}), {&index, &depth, &values}),
            (V{1, -1, -1, -1, -1, -1}));
  EXPECT_EQ(inferred(infer_node("OneHot", 3), {floats({Dim(std::string("N"))}), depth, values}), Texts{"float32[N,3]"});
}

TEST(Trilu, LoopsKeepEitherTriangle) {
  const Tensor x = random_tensor(DType::Float32, {2, 3, 4});
  for (int64_t k : {-9, -1, 0, 1, 9}) {
    const Tensor diagonal = Tensor::scalar<int64_t>(k);
    for (int64_t upper : {0, 1}) {
      const Node node = test_node("Trilu", {&x, &diagonal}, {{"upper", upper}});
      check_lowering(node, {&x, &diagonal}, true);
    }
  }
  const Tensor far = Tensor::scalar<int64_t>(INT64_MAX);
  EXPECT_EQ(values_of(test_node("Trilu", {&x, &far}), {&x, &far}), V(24, 0));
  const Tensor row = ints({1});
  EXPECT_EQ(refusal(test_node("Trilu", {&row}), {&row}), "unnamed node (Trilu): input int64[1] is not a matrix");
}

TEST(CenterCropPad, LoopsCropAndPad) {
  const Tensor x = random_tensor(DType::Float64, {5, 4, 3}), shape = ints({2, 7, 3});
  EXPECT_EQ(check_lowering(test_node("CenterCropPad", {&x, &shape}), {&x, &shape})[0].shape(), (Shape{2, 7, 3}));
}

TEST(Unique, NaNsAreOneGroup) {
  const float nan = std::nanf("");
  const Tensor x = Tensor::of<float>({5}, {nan, 2, nan, 1, 2});
  std::vector<Tensor> y = run_reference(test_node("Unique", {&x}, {}, 4), {&x});
  EXPECT_EQ(to_int64s(y[1]), (Ints{3, 1, 0}));
  EXPECT_EQ(to_int64s(y[2]), (Ints{2, 1, 2, 0, 1}));
  EXPECT_EQ(to_int64s(y[3]), (Ints{1, 2, 2}));
  y = run_reference(test_node("Unique", {&x}, {{"sorted", int64_t{0}}}, 4), {&x});
  EXPECT_EQ(to_int64s(y[1]), (Ints{0, 1, 3}));
  EXPECT_EQ(to_int64s(y[3]), (Ints{2, 2, 1}));
  const Tensor large = Tensor::of<uint64_t>({2}, {0xffffffffffffffff, 1});
  EXPECT_EQ(run_reference(test_node("Unique", {&large}), {&large})[0].data<uint64_t>()[0], 1u);
}

TEST(Scatter, IntegersWrapAndNaNsStay) {
  const Tensor x = Tensor::of<int8_t>({2}, {100, 1}), at = ints({0, 0}), by = Tensor::of<int8_t>({2}, {100, 100});
  const Node add = test_node("ScatterElements", {&x, &at, &by}, {{"reduction", std::string("add")}});
  EXPECT_EQ(values_of(add, {&x, &at, &by}), (V{44, 1}));
  const Tensor f = Tensor::of<float>({1}, {1}), zero = ints({0, 0}), nans = Tensor::of<float>({2}, {std::nanf(""), 5});
  const Node max = test_node("ScatterElements", {&f, &zero, &nans}, {{"reduction", std::string("max")}});
  EXPECT_TRUE(std::isnan(run_reference(max, {&f, &zero, &nans})[0].data<float>()[0]));
}

TEST(Scatter, RefusesWhatDoesNotFit) {
  const Tensor x = Tensor::of<float>({2}, {0, 0}), far = ints({2}), by = Tensor::of<float>({1}, {1}),
               two = Tensor::of<float>({2}, {1, 1}), near = ints({1});
  EXPECT_EQ(refusal(test_node("ScatterElements", {&x, &far, &by}), {&x, &far, &by}),
            "unnamed node (ScatterElements): index 2 is out of range for an extent of 2");
  EXPECT_EQ(refusal(test_node("ScatterElements", {&x, &near, &two}), {&x, &near, &two}),
            "unnamed node (ScatterElements): updates float32[2], float32[1] expected");
  const Tensor tuple = Tensor::of<int64_t>({1, 2}, {0, 0});
  EXPECT_EQ(refusal(test_node("ScatterND", {&x, &tuple, &by}), {&x, &tuple, &by}),
            "unnamed node (ScatterND): indices [1,2] do not fit data [2]");
  EXPECT_EQ(refusal(test_node("GatherND", {&x, &tuple}), {&x, &tuple}),
            "unnamed node (GatherND): indices [1,2] do not fit data [2]");
}

TEST(GatherND, BatchesAndTypes) {
  const Tensor x = Tensor::of<float>({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}), at = Tensor::of<int64_t>({2, 1}, {1, 0});
  const Attributes batch = {{"batch_dims", int64_t{1}}};
  EXPECT_EQ(values_of(test_node("GatherND", {&x, &at}, batch), {&x, &at}), (V{2, 3, 4, 5}));
  EXPECT_EQ(inferred(infer_node("GatherND", 2, batch), {Type(x), Type(at)}), Texts{"float32[2,2]"});
  EXPECT_EQ(inferred(infer_node("GatherND", 2), {floats({Dim(std::string("N")), 3, 4}), Type(DType::Int64, {5, 2})}),
            Texts{"float32[5,4]"});
}

TEST(Compress, RefusesConditionsBeyondTheEnd) {
  const Tensor x = ints({1, 2}), condition = Tensor::of<bool>({3}, {true, false, true}),
               shorter = Tensor::of<bool>({1}, {true});
  EXPECT_EQ(refusal(test_node("Compress", {&x, &condition}), {&x, &condition}),
            "unnamed node (Compress): condition holds beyond an extent of 2");
  EXPECT_EQ(values_of(test_node("Compress", {&x, &shorter}), {&x, &shorter}), (V{1}));
}

TEST(NonZero, OfStringsAndNaNs) {
  Tensor text(DType::String, {3});
  text.mutable_strings() = {"", "a", "0"};
  EXPECT_EQ(values_of(test_node("NonZero", {&text}), {&text}), (V{1, 2}));
  const Tensor x = Tensor::of<float>({1, 2}, {-0.0f, std::nanf("")});
  EXPECT_EQ(values_of(test_node("NonZero", {&x}), {&x}), (V{0, 1}));
}

TEST(TensorScatter, LinearModeRefusesToWriteBeyondTheEnd) {
  const Tensor past = random_tensor(DType::Float32, {1, 3, 1}), update = random_tensor(DType::Float32, {1, 2, 1}, 2),
               at = ints({2});
  EXPECT_EQ(refusal(test_node("TensorScatter", {&past, &update, &at}), {&past, &update, &at}),
            "unnamed node (TensorScatter): write index 2 for 2 of 3 places");
  const Node wrap = test_node("TensorScatter", {&past, &update, &at}, {{"mode", std::string("circular")}});
  const Tensor y = run_reference(wrap, {&past, &update, &at})[0];
  EXPECT_EQ(y.data<float>()[0], update.data<float>()[1]);
  EXPECT_EQ(y.data<float>()[1], past.data<float>()[1]);
}

}  // namespace
}  // namespace dnn
