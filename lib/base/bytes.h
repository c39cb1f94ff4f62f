// ByteReader: a bounds-checked little-endian reader over untrusted bytes; every overrun is a Malformed error.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/error.h"

namespace dnn {

using Bytes = std::span<const std::byte>;

inline Bytes as_bytes(std::string_view text) { return {reinterpret_cast<const std::byte*>(text.data()), text.size()}; }
inline std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

class ByteReader {
 public:
  // `what` names the data in errors ("zip directory"); it must outlive the reader.
  ByteReader(Bytes data, std::string_view what) : data_(data), what_(what) {}
  size_t position() const { return position_; }
  size_t remaining() const { return data_.size() - position_; }
  void seek(size_t position) {
    if (position > data_.size())
      fail_malformed(what_, ": offset ", position, " lies beyond its ", data_.size(), " bytes");
    position_ = position;
  }
  Bytes take(size_t n) {
    if (n > remaining()) {
      fail_malformed(what_, ": ends at byte ", data_.size(), ", ", n, " more expected at byte ", position_);
    }
    Bytes part = data_.subspan(position_, n);
    position_ += n;
    return part;
  }
  template <class T>
  T little_endian() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  uint8_t u8() { return little_endian<uint8_t>(); }
  uint16_t u16() { return little_endian<uint16_t>(); }
  uint32_t u32() { return little_endian<uint32_t>(); }
  uint64_t u64() { return little_endian<uint64_t>(); }

 private:
  Bytes data_;
  std::string_view what_;
  size_t position_ = 0;
};

}  // namespace dnn
