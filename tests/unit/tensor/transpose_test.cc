// Transposed and unaligned tensors: the same elements whether they are arranged when they are read, or written as they come.
#include "tensor/transpose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tensor/tensor.h"

namespace dnn {
namespace {

Tensor ramp(const Shape& shape) {
  Tensor tensor(DType::Float32, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.mutable_data<float>()[i] = static_cast<float>(i);
  return tensor;
}

// Element by element.
Tensor slowly(const Tensor& tensor, const std::vector<int64_t>& perm) {
  Shape shape;
  for (int64_t axis : perm) shape.push_back(tensor.dim(static_cast<int>(axis)));
  Tensor result(tensor.dtype(), shape);
  const std::vector<int64_t> from = row_major_strides(tensor.shape()), to = row_major_strides(shape);
  const size_t width = dtype_size(tensor.dtype());
  for (int64_t i = 0; i < tensor.size(); ++i) {
    int64_t at = 0;
    for (size_t axis = 0; axis < perm.size(); ++axis) {
      const auto source = static_cast<size_t>(perm[axis]);
      at += i / from[source] % tensor.shape()[source] * to[axis];
    }
    std::memcpy(result.mutable_bytes() + static_cast<size_t>(at) * width,
                tensor.bytes().data() + static_cast<size_t>(i) * width, width);
  }
  return result;
}

void expect_transposed(const Tensor& tensor, const std::vector<int64_t>& perm) {
  const Tensor expected = slowly(tensor, perm), written = tensor.transposed(perm);
  EXPECT_EQ(content_of(written).text(), as_text(expected.bytes())) << shape_text(expected.shape());
  EXPECT_TRUE(tensor.transposed(perm).identical(expected)) << shape_text(expected.shape());
  EXPECT_TRUE(written.arranged_copy().identical(expected));
  EXPECT_EQ(content_of(written).text(), as_text(expected.bytes()));
}

TEST(Transposed, EveryOrderOfFourAxes) {
  for (const Shape& shape : {Shape{3, 5, 2, 4}, Shape{1, 33, 1, 17}, Shape{40, 19, 3, 9}, Shape{2, 0, 3, 4}}) {
    std::vector<int64_t> perm = {0, 1, 2, 3};
    do {
      expect_transposed(ramp(shape), perm);
    } while (std::next_permutation(perm.begin(), perm.end()));
  }
}

TEST(Transposed, LargerThanWhatIsWrittenAtOnce) {
  expect_transposed(ramp({3, 1100, 901}), {2, 1, 0});
  expect_transposed(ramp({3, 1100, 901}), {0, 2, 1});
}

TEST(Transposed, ElementsOfEverySize) {
  for (DType dtype : {DType::UInt8, DType::Float16, DType::Float64, DType::Complex128}) {
    Tensor tensor(dtype, {70, 40, 30});
    for (size_t i = 0; i < tensor.size_bytes(); ++i)
      tensor.mutable_bytes()[i] = static_cast<std::byte>(i * 7 + i / 251);
    expect_transposed(tensor, {2, 0, 1});
    expect_transposed(tensor, {1, 0, 2});
  }
}

TEST(Transposed, ThereAndBackIsTheSameMemory) {
  const Tensor tensor = ramp({64, 32, 3, 3});
  const Tensor back = tensor.transposed({2, 3, 1, 0}).transposed({3, 2, 0, 1});
  EXPECT_EQ(back.bytes().data(), tensor.bytes().data());
  expect_transposed(tensor.transposed({2, 3, 1, 0}), {1, 3, 0, 2});
  expect_transposed(tensor.transposed({2, 3, 1, 0}).reshaped({9, 32, 64}), {2, 0, 1});
}

TEST(Transposed, CopiesAreWrittenApart) {
  const Tensor turned = ramp({300, 200}).transposed({1, 0});
  Tensor changed = turned;
  changed.mutable_data<float>()[0] = -1;
  EXPECT_EQ(turned.data<float>()[0], 0);
  EXPECT_EQ(changed.data<float>()[1], 200);
}

TEST(Tensor, BytesThatAreNotAligned) {
  const Tensor tensor = ramp({50, 700});
  std::string file = "x";
  file += as_text(tensor.bytes());
  const Tensor view = Tensor::view(DType::Float32, tensor.shape(), as_bytes(file).subspan(1), nullptr);
  EXPECT_EQ(content_of(view).text(), file.substr(1));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(view.data<float>()) % 64, 0u);
  EXPECT_TRUE(view.identical(tensor));
  expect_transposed(Tensor::view(DType::Float32, tensor.shape(), as_bytes(file).subspan(1), nullptr), {1, 0});
}

}  // namespace
}  // namespace dnn
