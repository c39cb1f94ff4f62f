// SHA-256 and its HMAC (FIPS 180-4, RFC 2104).
#pragma once
#include <array>
#include <initializer_list>
#include <string>

#include "base/bytes.h"

namespace dnn {

using Sha256 = std::array<unsigned char, 32>;

// 64 hexadecimal digits; of several parts, as if they were one.
std::string sha256_hex(Bytes bytes);
std::string sha256_hex(std::initializer_list<Bytes> parts);
Sha256 hmac_sha256(Bytes key, Bytes message);
// In a time that does not tell where they differ.
bool same_digest(const Sha256& digest, Bytes other);

}  // namespace dnn
