// Tags of bytes under a secret; see keyed_tag.h.
#include "base/keyed_tag.h"

#include <nettle/memops.h>
#include <nettle/umac.h>

#include <algorithm>
#include <string>

#include "base/sha256.h"

namespace dnn {

struct KeyedTags::Keys {
  umac128_ctx hash;
  Sha256 last;
};

KeyedTags::KeyedTags(Bytes secret, std::string_view purpose) {
  const auto derived = [&](std::string_view part) {
    return hmac_sha256(secret, as_bytes("dnn-tools tags: " + std::string(purpose) + ": " + std::string(part)));
  };
  auto keys = std::make_shared<Keys>();
  umac128_set_key(&keys->hash, derived("hash").data());  // its first 16 bytes
  keys->last = derived("tag");
  keys_ = std::move(keys);
}

Tag KeyedTags::operator()(Bytes bytes) const {
  umac128_ctx hash = keys_->hash;
  std::array<unsigned char, UMAC128_DIGEST_SIZE + sizeof(uint64_t)> state{};
  umac128_update(&hash, bytes.size(), reinterpret_cast<const unsigned char*>(bytes.data()));
  umac128_digest(&hash, UMAC128_DIGEST_SIZE, state.data());
  for (size_t i = 0; i < sizeof(uint64_t); ++i)
    state[UMAC128_DIGEST_SIZE + i] = static_cast<unsigned char>(uint64_t{bytes.size()} >> (8 * i));
  const auto as_octets = [](const auto& array) {
    return Bytes(reinterpret_cast<const std::byte*>(array.data()), array.size());
  };
  const Sha256 digest = hmac_sha256(as_octets(keys_->last), as_octets(state));
  Tag tag{};
  std::copy_n(digest.begin(), tag.size(), tag.begin());
  return tag;
}

bool KeyedTags::holds(Bytes bytes, const Tag& tag) const {
  const Tag right = (*this)(bytes);
  return memeql_sec(right.data(), tag.data(), tag.size()) != 0;
}

}  // namespace dnn
