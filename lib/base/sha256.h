// SHA-256 and its HMAC (FIPS 180-4, RFC 2104).
#pragma once
#include <array>
#include <initializer_list>
#include <memory>
#include <string>

#include "base/bytes.h"

namespace dnn {

using Sha256 = std::array<unsigned char, 32>;

// 64 hexadecimal digits; of several parts, as if they were one.
std::string sha256_hex(Bytes bytes);
std::string sha256_hex(std::initializer_list<Bytes> parts);

// The same of bytes that come one after the other.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  void add(Bytes bytes);
  std::string hex();  // and begins anew

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Bytes as hexadecimal digits: "00ff".
std::string hex_text(Bytes bytes);

Sha256 hmac_sha256(Bytes key, Bytes message);
// In a time that does not tell where they differ.
bool same_digest(const Sha256& digest, Bytes other);

}  // namespace dnn
