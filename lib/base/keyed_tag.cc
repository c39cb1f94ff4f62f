// Tags of bytes under a secret; see keyed_tag.h.
#include "base/keyed_tag.h"

#include <nettle/memops.h>
#include <nettle/umac.h>

#include <algorithm>
#include <string>
#include <variant>

#include "base/sha256.h"

namespace dnn {

namespace {

constexpr size_t kMaxState = UMAC128_DIGEST_SIZE + sizeof(uint64_t);

// Into `state`, as many bytes as are given.
size_t digest_of(umac64_ctx hash, Bytes bytes, unsigned char* state) {
  umac64_update(&hash, bytes.size(), reinterpret_cast<const unsigned char*>(bytes.data()));
  umac64_digest(&hash, UMAC64_DIGEST_SIZE, state);
  return UMAC64_DIGEST_SIZE;
}

size_t digest_of(umac128_ctx hash, Bytes bytes, unsigned char* state) {
  umac128_update(&hash, bytes.size(), reinterpret_cast<const unsigned char*>(bytes.data()));
  umac128_digest(&hash, UMAC128_DIGEST_SIZE, state);
  return UMAC128_DIGEST_SIZE;
}

}  // namespace

struct KeyedTags::Keys {
  std::variant<umac64_ctx, umac128_ctx> hash;
  Sha256 last;
};

KeyedTags::KeyedTags(Bytes secret, std::string_view purpose, TagHash hash) {
  const auto derived = [&](std::string_view part) {
    return hmac_sha256(secret, as_bytes("dnn-tools tags: " + std::string(purpose) + ": " + std::string(part)));
  };
  auto keys = std::make_shared<Keys>();
  const Sha256 key = derived("hash");  // its first 16 bytes
  if (hash == TagHash::Umac64)
    umac64_set_key(&keys->hash.emplace<umac64_ctx>(), key.data());
  else
    umac128_set_key(&keys->hash.emplace<umac128_ctx>(), key.data());
  keys->last = derived("tag");
  keys_ = std::move(keys);
}

Tag KeyedTags::operator()(Bytes bytes) const {
  std::array<unsigned char, kMaxState> state{};
  const size_t hashed = std::visit([&](const auto& hash) { return digest_of(hash, bytes, state.data()); }, keys_->hash);
  for (size_t i = 0; i < sizeof(uint64_t); ++i)
    state[hashed + i] = static_cast<unsigned char>(uint64_t{bytes.size()} >> (8 * i));
  const auto as_octets = [](const auto& array, size_t n) {
    return Bytes(reinterpret_cast<const std::byte*>(array.data()), n);
  };
  const Sha256 digest =
      hmac_sha256(as_octets(keys_->last, keys_->last.size()), as_octets(state, hashed + sizeof(uint64_t)));
  Tag tag{};
  std::copy_n(digest.begin(), tag.size(), tag.begin());
  return tag;
}

bool KeyedTags::holds(Bytes bytes, const Tag& tag) const {
  const Tag right = (*this)(bytes);
  return memeql_sec(right.data(), tag.data(), tag.size()) != 0;
}

}  // namespace dnn
