// CRC-32C (Castagnoli), the checksum of LevelDB tables and tensor bundles.
#pragma once
#include <cstdint>

#include "base/bytes.h"

namespace dnn {

// Of `bytes` behind what has the checksum `before`.
uint32_t crc32c(Bytes bytes, uint32_t before = 0);
// As files store it, so that the checksum of data that hold checksums stays sound.
inline uint32_t masked_crc32c(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

}  // namespace dnn
