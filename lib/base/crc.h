// Checksums of 32 bits: zip's CRC-32 (ISO 3309), and CRC-32C (Castagnoli) of LevelDB tables and tensor bundles.
#pragma once
#include <cstdint>

#include "base/io.h"

namespace dnn {

// Of `bytes` behind what has the checksum `before`.
uint32_t zip_crc32(Bytes bytes, uint32_t before = 0);
uint32_t crc32c(Bytes bytes, uint32_t before = 0);
// As files store it, so that the checksum of data that hold checksums stays sound.
inline uint32_t masked_crc32c(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

// The checksum of what is written to it.
template <uint32_t (*checksum)(Bytes, uint32_t)>
class CrcSink : public ByteSink {
 public:
  void write(Bytes bytes) override { value_ = checksum(bytes, value_); }
  uint32_t value() const { return value_; }

 private:
  uint32_t value_ = 0;
};

}  // namespace dnn
