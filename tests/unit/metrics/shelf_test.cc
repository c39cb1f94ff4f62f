// Tensors come back from a shelf, from memory and from its file.
#include "metrics/shelf.h"

#include <gtest/gtest.h>

namespace dnn::metrics {
namespace {

Tensor numbered(int64_t n, float first) {
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(first + static_cast<float>(i));
  return Tensor::of<float>({1, n}, values);
}

TEST(Shelf, WhatIsBeyondItsLimitIsInAFile) {
  for (const size_t limit : {size_t{0}, size_t{20} << 20, size_t{1} << 40}) {
    Shelf shelf(limit);
    std::vector<Shelved> places;
    constexpr int64_t kSize = 1'000'003;  // 4 MB, of odd length
    size_t most = 0;
    for (int i = 0; i < 24; ++i) {
      places.push_back(
          shelf.put(i % 2 == 0 ? "even" : "odd", numbered(i == 7 ? 5 * kSize : kSize, static_cast<float>(i))));
      places.push_back(shelf.put("byte", Tensor::of<int8_t>({}, {static_cast<int8_t>(i)})));
      most = std::max(most, shelf.bytes_in_memory());
    }
    shelf.close();
    if (limit < size_t{1} << 30) {
      EXPECT_LT(most, limit + (size_t{37} << 20)) << limit;  // a chunk, and the one large tensor
    }
    for (size_t i = 0; i < 24; ++i) {
      const auto [name, tensor] = shelf.get(places[2 * i]);
      EXPECT_EQ(name, i % 2 == 0 ? "even" : "odd");
      EXPECT_TRUE(tensor.identical(numbered(i == 7 ? 5 * kSize : kSize, static_cast<float>(i)))) << i;
      const auto [byte_name, byte] = shelf.get(places[2 * i + 1]);
      EXPECT_EQ(byte.data<int8_t>()[0], static_cast<int8_t>(i));
    }
  }
}

TEST(Shelf, EmptyTensorsAndStringsHaveNoBytes) {
  Shelf shelf(0);
  const Shelved empty = shelf.put("e", Tensor(DType::Float32, {0, 3}));
  const Shelved text = shelf.put("s", Tensor(DType::String, {2}));
  const Shelved one = shelf.put("o", numbered(1, 5));
  shelf.close();
  EXPECT_EQ(shelf.get(empty).second.shape(), (Shape{0, 3}));
  EXPECT_EQ(shelf.get(text).second.dtype(), DType::String);
  EXPECT_EQ(shelf.get(one).second.data<float>()[0], 5);
}

}  // namespace
}  // namespace dnn::metrics
