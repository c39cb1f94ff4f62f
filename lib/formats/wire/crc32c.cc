// CRC-32C eight bytes at a time: the tables of Kounavis and Berry, "A Systematic Approach to Building High Performance
// Software-based CRC Generators" (2005).
#include "formats/wire/crc32c.h"

#include <array>

namespace dnn {
namespace {

using Tables = std::array<std::array<uint32_t, 256>, 8>;

Tables make_tables() {
  Tables tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
    tables[0][i] = crc;
  }
  for (size_t t = 1; t < 8; ++t) {
    for (size_t i = 0; i < 256; ++i) {
      const uint32_t last = tables[t - 1][i];
      tables[t][i] = (last >> 8) ^ tables[0][last & 0xff];
    }
  }
  return tables;
}

}  // namespace

uint32_t crc32c(Bytes bytes, uint32_t before) {
  static const Tables tables = make_tables();
  uint32_t crc = ~before;
  const std::byte* p = bytes.data();
  size_t n = bytes.size();
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    word ^= crc;
    crc = 0;
    for (size_t i = 0; i < 8; ++i) crc ^= tables[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (; n > 0; --n, ++p) crc = (crc >> 8) ^ tables[0][(crc ^ static_cast<uint32_t>(*p)) & 0xff];
  return ~crc;
}

}  // namespace dnn
