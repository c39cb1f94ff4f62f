// SHA-256 by nettle, which is there at once: libcrypto's loading and start took 3 of the 94 ms of a first prediction.
#include "base/sha256.h"

#include <nettle/hmac.h>
#include <nettle/memops.h>

namespace dnn {
namespace {

const unsigned char* octets(Bytes bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

}  // namespace

std::string sha256_hex(Bytes bytes) { return sha256_hex({bytes}); }

std::string sha256_hex(std::initializer_list<Bytes> parts) {
  Sha256Stream stream;
  for (const Bytes part : parts) stream.add(part);
  return stream.hex();
}

struct Sha256Stream::State {
  sha256_ctx context;
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) { sha256_init(&state_->context); }

Sha256Stream::~Sha256Stream() = default;

void Sha256Stream::add(Bytes bytes) { sha256_update(&state_->context, bytes.size(), octets(bytes)); }

std::string Sha256Stream::hex() {
  Sha256 digest;
  sha256_digest(&state_->context, digest.size(), digest.data());
  return hex_text({reinterpret_cast<const std::byte*>(digest.data()), digest.size()});
}

std::string hex_text(Bytes bytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (const std::byte b : bytes) {
    const auto octet = static_cast<unsigned>(b);
    text += kHex[octet >> 4];
    text += kHex[octet & 15];
  }
  return text;
}

Sha256 hmac_sha256(Bytes key, Bytes message) {
  hmac_sha256_ctx state;
  hmac_sha256_set_key(&state, key.size(), octets(key));
  hmac_sha256_update(&state, message.size(), octets(message));
  Sha256 digest;
  hmac_sha256_digest(&state, digest.size(), digest.data());
  return digest;
}

bool same_digest(const Sha256& digest, Bytes other) {
  return other.size() == digest.size() && memeql_sec(digest.data(), other.data(), digest.size()) != 0;
}

}  // namespace dnn
