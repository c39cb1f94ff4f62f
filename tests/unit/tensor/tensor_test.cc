// Tensor: shapes that no memory holds are refused before anything is computed from them.
#include "tensor/tensor.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace dnn {
namespace {

constexpr int64_t kHuge = int64_t{1} << 40;

template <class Make>
ErrorKind refusal(const Make& make) {
  try {
    make();
  } catch (const Error& e) {
    return e.kind();
  }
  return ErrorKind::Internal;
}

TEST(Tensor, CountsElements) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({kHuge, 0}), 0);
  EXPECT_EQ(row_major_strides({2, 3, 4}), (std::vector<int64_t>{12, 4, 1}));
}

TEST(Tensor, RefusesAbsurdShapes) {
  for (const Shape& shape : {Shape{kHuge, kHuge}, Shape{0, kHuge, kHuge}, Shape{kHuge, 0, kHuge}, Shape{2, -1}}) {
    EXPECT_EQ(refusal([&] { element_count(shape); }), ErrorKind::Malformed) << shape_text(shape);
  }
  EXPECT_EQ(refusal([] { row_major_strides({0, kHuge, kHuge}); }), ErrorKind::Malformed);
  EXPECT_EQ(refusal([] { Tensor(DType::Float32, {kHuge, 1 << 10}); }), ErrorKind::Malformed);
  EXPECT_EQ(refusal([] { Tensor(DType::String, {kHuge, 1 << 10}); }), ErrorKind::Malformed);
}

// 2^61 elements of 8 bytes are 2^64 bytes, which is 0 in 64 bits.
TEST(Tensor, ViewsCannotWrapTheirSize) {
  EXPECT_EQ(refusal([] { Tensor::view(DType::Float64, {int64_t{1} << 61}, {}, nullptr); }), ErrorKind::Malformed);
}

}  // namespace
}  // namespace dnn
