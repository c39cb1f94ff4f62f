// Checksums: the published values, and the same by folding as bit by bit, at every length and place.
#include "base/crc.h"

#include <gtest/gtest.h>

#include <string>

namespace dnn {
namespace {

uint32_t bit_by_bit(Bytes bytes, uint32_t polynomial) {
  uint32_t crc = ~0u;
  for (std::byte byte : bytes) {
    crc ^= static_cast<uint32_t>(byte);
    for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ ((crc & 1) != 0 ? polynomial : 0);
  }
  return ~crc;
}

TEST(Crc, PublishedValues) {
  EXPECT_EQ(zip_crc32(as_bytes("123456789")), 0xcbf43926u);
  EXPECT_EQ(crc32c(as_bytes("123456789")), 0xe3069283u);
  EXPECT_EQ(crc32c(as_bytes(std::string(32, '\0'))), 0x8a9136aau);
  EXPECT_EQ(crc32c(as_bytes("56789"), crc32c(as_bytes("1234"))), 0xe3069283u);
}

TEST(Crc, EveryLengthAndPlace) {
  std::string text;
  for (int i = 0; i < 700; ++i) text += static_cast<char>(i * i + i / 7);
  for (size_t begin = 0; begin < 9; ++begin) {
    for (size_t n = 0; n + begin <= text.size(); n += n < 300 ? 1 : 37) {
      const Bytes part = as_bytes(text).subspan(begin, n);
      ASSERT_EQ(zip_crc32(part), bit_by_bit(part, 0xedb88320u)) << begin << " " << n;
      ASSERT_EQ(crc32c(part), bit_by_bit(part, 0x82f63b78u)) << begin << " " << n;
      ASSERT_EQ(crc32c(part.subspan(n / 3), crc32c(part.first(n / 3))), crc32c(part)) << begin << " " << n;
    }
  }
}

}  // namespace
}  // namespace dnn
