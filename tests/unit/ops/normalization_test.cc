// Normalisations, Softmax, Dropout, Flatten: lowering against reference, and what they refuse.
#include "unit/ops/lowering_check.h"

namespace dnn {
namespace {

TEST(BatchNormalization, LowersToTheReferencesBits) {
  for (const DType dtype : {DType::Float32, DType::Float64}) {
    for (const Shape& shape : {Shape{2, 3, 4, 5}, Shape{2, 3}, Shape{2, 3, 2, 2, 2}}) {
      const Tensor x = random_tensor(dtype, shape, 1), scale = random_tensor(dtype, {3}, 2),
                   bias = random_tensor(dtype, {3}, 3), mean = random_tensor(dtype, {3}, 4),
                   variance = convert(Tensor::of<double>({3}, {0.5, 0.1, 3}), dtype);
      const std::vector<const Tensor*> inputs = {&x, &scale, &bias, &mean, &variance};
      check_lowering(test_node("BatchNormalization", inputs, {{"epsilon", 0.01f}}), inputs);
    }
  }
}

TEST(BatchNormalization, RefusesOtherChannelCounts) {
  const Tensor x(DType::Float32, {1, 3, 2, 2}), three(DType::Float32, {3}), two(DType::Float32, {2});
  const std::vector<const Tensor*> inputs = {&x, &three, &three, &three, &two};
  EXPECT_THROW(run_reference(test_node("BatchNormalization", inputs), inputs), Error);
}

TEST(LayerNormalization, LowersToTheReferencesBits) {
  for (const DType dtype : {DType::Float32, DType::Float64}) {
    const Tensor x = random_tensor(dtype, {2, 3, 5, 4}, 1);
    for (int64_t axis : {-1, 1, 2, 0}) {
      const auto at = static_cast<std::ptrdiff_t>(axis < 0 ? axis + 4 : axis);
      const Shape row(x.shape().begin() + at, x.shape().end());
      const Tensor scale = random_tensor(dtype, row, 2), bias = random_tensor(dtype, {4}, 3);
      const Attributes attributes = {{"axis", axis}};
      check_lowering(test_node("LayerNormalization", {&x, &scale, &bias}, attributes), {&x, &scale, &bias});
      check_lowering(test_node("RMSNormalization", {&x, &scale}, attributes), {&x, &scale});
      if (dtype == DType::Float32)
        check_lowering(test_node("LayerNormalization", {&x, &scale}, attributes, 3), {&x, &scale});
    }
  }
}

TEST(LayerNormalization, RefusesScalesThatDoNotFit) {
  const Tensor x(DType::Float32, {2, 3}), scale(DType::Float32, {2}), deep(DType::Float32, {1, 2, 3});
  EXPECT_THROW(run_reference(test_node("LayerNormalization", {&x, &scale}), {&x, &scale}), Error);
  EXPECT_THROW(run_reference(test_node("LayerNormalization", {&x, &deep}), {&x, &deep}), Error);
}

TEST(GroupNormalization, LowersToTheReferencesBits) {
  for (const DType dtype : {DType::Float32, DType::Float64}) {
    for (const Shape& shape : {Shape{2, 6, 3, 4}, Shape{2, 6}, Shape{1, 6, 5}}) {
      const Tensor x = random_tensor(dtype, shape, 1), scale = random_tensor(dtype, {6}, 2),
                   bias = random_tensor(dtype, {6}, 3);
      const std::vector<const Tensor*> inputs = {&x, &scale, &bias};
      check_lowering(test_node("InstanceNormalization", inputs, {{"epsilon", 0.01f}}), inputs);
      for (int64_t groups : {1, 2, 3, 6}) {
        check_lowering(test_node("GroupNormalization", inputs, {{"num_groups", groups}}), inputs);
      }
      EXPECT_THROW(run_reference(test_node("GroupNormalization", inputs, {{"num_groups", int64_t{4}}}), inputs), Error);
    }
  }
}

TEST(AxesNormalization, LowersToTheReferencesBits) {
  for (const DType dtype : {DType::Float32, DType::Float64}) {
    Tensor x = random_tensor(dtype, {2, 3, 4, 5}, 1);
    for (int64_t axis : {0, 1, -1}) {
      for (int64_t p : {1, 2}) check_lowering(test_node("LpNormalization", {&x}, {{"axis", axis}, {"p", p}}), {&x});
    }
    check_lowering(test_node("MeanVarianceNormalization", {&x}), {&x});
    check_lowering(test_node("MeanVarianceNormalization", {&x}, {{"axes", std::vector<int64_t>{-1, 1}}}), {&x});
  }
  const Tensor zeros(DType::Float32, {2, 2});
  const Node node = test_node("LpNormalization", {&zeros});
  EXPECT_EQ(to_doubles(check_lowering(node, {&zeros})[0]), (std::vector<double>{0, 0, 0, 0}));
}

TEST(Softmax, LowersToTheReferencesBits) {
  for (const DType dtype : {DType::Float32, DType::Float64}) {
    const Tensor x = random_tensor(dtype, {3, 4, 5}, 1), line = random_tensor(dtype, {6}, 1),
                 long_row = random_tensor(dtype, {1, 5000}, 1);
    for (const char* op : {"Softmax", "LogSoftmax"}) {
      for (int64_t axis : {0, 1, 2, -2}) check_lowering(test_node(op, {&x}, {{"axis", axis}}), {&x});
      check_lowering(test_node(op, {&line}), {&line});
      check_lowering(test_node(op, {&long_row}), {&long_row});
    }
  }
}

TEST(Softmax, RefusesAnAxisOutOfRange) {
  const Tensor x(DType::Float32, {2, 3});
  for (int64_t axis : {2, -3}) {
    EXPECT_THROW(run_reference(test_node("Softmax", {&x}, {{"axis", axis}}), {&x}), Error);
    EXPECT_THROW(run_reference(test_node("LayerNormalization", {&x, &x}, {{"axis", axis}}), {&x, &x}), Error);
  }
}

TEST(Lrn, LowersToTheReferencesBits) {
  for (const DType dtype : {DType::Float32, DType::Float64}) {
    const Tensor x = random_tensor(dtype, {2, 7, 3, 2}, 1);
    for (int64_t size : {1, 2, 5, 9}) {
      check_lowering(test_node("LRN", {&x}, {{"size", size}, {"alpha", 0.02f}, {"bias", 2.0f}}), {&x});
    }
  }
}

TEST(Dropout, KeepsEverythingAtInference) {
  const Tensor x = random_tensor(DType::Float32, {2, 3}), ratio = Tensor::scalar(0.5f), yes = Tensor::scalar(true);
  check_lowering(test_node("Dropout", {&x}, {}, 2), {&x});
  try {
    run_reference(test_node("Dropout", {&x, &ratio, &yes}), {&x, &ratio, &yes});
    ADD_FAILURE() << "training is accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Unsupported);
  }
}

TEST(Flatten, LowersToTheReferencesBits) {
  for (const DType dtype : {DType::Float32, DType::Int64, DType::Bool}) {
    const Tensor x = random_tensor(dtype, {2, 3, 4, 5});
    for (int64_t axis : {0, 1, 2, 3, 4, -1}) check_lowering(test_node("Flatten", {&x}, {{"axis", axis}}), {&x});
  }
}

}  // namespace
}  // namespace dnn
