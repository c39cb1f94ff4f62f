// Gemm and MatMul: lowering against reference, every form of operands, and what they refuse.
#include "unit/ops/lowering_check.h"

namespace dnn {
namespace {

TEST(Gemm, LowersToTheReferencesBits) {
  for (const DType dtype : {DType::Float32, DType::Float64}) {
    for (int form = 0; form < 4; ++form) {
      const bool ta = (form & 1) != 0, tb = (form & 2) != 0;
      const Tensor a = random_tensor(dtype, ta ? Shape{7, 5} : Shape{5, 7}, 1);
      const Tensor b = random_tensor(dtype, tb ? Shape{40, 7} : Shape{7, 40}, 2);
      Attributes attributes = {{"transA", int64_t{ta}}, {"transB", int64_t{tb}}};
      check_lowering(test_node("Gemm", {&a, &b}, attributes), {&a, &b});
      attributes["alpha"] = 0.3f;
      attributes["beta"] = -1.7f;
      for (const Shape& shape : {Shape{}, Shape{40}, Shape{1, 40}, Shape{5, 1}, Shape{5, 40}, Shape{1}}) {
        const Tensor c = random_tensor(dtype, shape, 3);
        check_lowering(test_node("Gemm", {&a, &b, &c}, attributes), {&a, &b, &c});
      }
    }
  }
}

TEST(Gemm, RefusesWhatDoesNotMultiply) {
  const Tensor a(DType::Float32, {2, 3}), b(DType::Float32, {2, 4}), ok(DType::Float32, {3, 4}),
      c(DType::Float32, {2, 5}), half(DType::Float16, {3, 4}), integers(DType::Int32, {2, 3});
  EXPECT_THROW(run_reference(test_node("Gemm", {&a, &b}), {&a, &b}), Error);
  EXPECT_THROW(run_reference(test_node("Gemm", {&a, &ok, &c}), {&a, &ok, &c}), Error);
  EXPECT_THROW(run_reference(test_node("Gemm", {&a, &half}), {&a, &half}), Error);
  const Node fraction = test_node("Gemm", {&integers, &integers}, {{"transB", int64_t{1}}, {"alpha", 0.5f}});
  try {
    run_reference(fraction, {&integers, &integers});
    ADD_FAILURE() << "a fraction of an integer is computed";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Unsupported);
  }
}

TEST(MatMul, LowersToTheReferencesBits) {
  const std::vector<std::pair<Shape, Shape>> forms = {{{3, 4}, {4, 35}},
                                                      {{4}, {4, 3}},
                                                      {{3, 4}, {4}},
                                                      {{4}, {4}},
                                                      {{2, 1, 3, 4}, {5, 4, 2}},
                                                      {{5, 4, 2}, {2, 1, 2, 3}},
                                                      {{2, 3, 4}, {4}},
                                                      {{4}, {2, 3, 4, 5}},
                                                      {{1, 3, 4}, {2, 4, 1}}};
  for (const DType dtype : {DType::Float32, DType::Float64}) {
    for (const auto& [a_shape, b_shape] : forms) {
      const Tensor a = random_tensor(dtype, a_shape, 1), b = random_tensor(dtype, b_shape, 2);
      check_lowering(test_node("MatMul", {&a, &b}), {&a, &b});
    }
  }
}

TEST(MatMul, SumsInOrderAndWraps) {
  const Tensor a = Tensor::of<int32_t>({1, 2}, {2147483647, 2147483647}), b = Tensor::of<int32_t>({2, 1}, {2, 1});
  EXPECT_EQ(to_int64s(run_reference(test_node("MatMul", {&a, &b}), {&a, &b})[0]), (std::vector<int64_t>{2147483645}));
  const Tensor x = Tensor::of<float>({1, 3}, {1e8f, 1, -1e8f}), ones = Tensor::of<float>({3, 1}, {1, 1, 1});
  EXPECT_EQ(to_doubles(run_reference(test_node("MatMul", {&x, &ones}), {&x, &ones})[0]), (std::vector<double>{0}));
}

TEST(MatMul, RefusesWhatDoesNotMultiply) {
  const Tensor a(DType::Float32, {2, 3}), b(DType::Float32, {4, 2}), scalar(DType::Float32, {}),
      batch_a(DType::Float32, {2, 2, 2}), batch_b(DType::Float32, {3, 2, 2});
  EXPECT_THROW(run_reference(test_node("MatMul", {&a, &b}), {&a, &b}), Error);
  EXPECT_THROW(run_reference(test_node("MatMul", {&a, &scalar}), {&a, &scalar}), Error);
  EXPECT_THROW(run_reference(test_node("MatMul", {&batch_a, &batch_b}), {&batch_a, &batch_b}), Error);
}

}  // namespace
}  // namespace dnn
