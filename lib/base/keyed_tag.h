// Tags of bytes under a secret: who lacks it can neither make the tag of other bytes nor find bytes of the same tag.
//
// UMAC (RFC 4418; nettle) hashes the bytes under one key; its result, with the size, goes through HMAC-SHA256 under another, of which
// 128 bits are the tag. So nothing of the universal hash is seen, no nonce is needed, and the same bytes have the same tag. Who lacks the
// key has one chance in 2^60 per attempt with UMAC-64, each of them a file that its owner opens; UMAC-128 takes twice as long.
#pragma once
#include <array>
#include <memory>

#include "base/bytes.h"

namespace dnn {

using Tag = std::array<unsigned char, 16>;

enum class TagHash { Umac64, Umac128 };

// For any number of threads at once. Copies share their keys.
class KeyedTags {
 public:
  // Tags for different purposes have nothing to do with each other.
  KeyedTags(Bytes secret, std::string_view purpose, TagHash hash);
  Tag operator()(Bytes bytes) const;
  // In a time that does not tell where they differ.
  bool holds(Bytes bytes, const Tag& tag) const;

 private:
  struct Keys;
  std::shared_ptr<const Keys> keys_;
};

}  // namespace dnn
