// The handshake; see handshake.h.
#include "remote/handshake.h"

#include <unistd.h>

#include <array>

#include "base/sha256.h"
#include "base/version.h"

namespace dnn::remote {
namespace {

constexpr size_t kMostHello = 4096;
constexpr size_t kHandshakeNonceBytes = 32;

std::string new_nonce() {
  std::array<std::byte, kHandshakeNonceBytes> bytes;
  if (::getentropy(bytes.data(), bytes.size()) != 0) fail_environment("no random bytes for a nonce");
  return hex_text(bytes);
}

std::string nonce_of(const Json& map) {
  std::string nonce = text_of(map, "nonce");
  if (nonce.size() != 2 * kHandshakeNonceBytes) fail_malformed("a nonce of ", nonce.size(), " digits");
  return nonce;
}

void begin_signing(Frames& frames, const std::string& key, const std::string& of_client, const std::string& of_server,
                   bool serves) {
  const Sha256 secret =
      hmac_sha256(as_bytes(key), as_bytes(cat("dnn-serve ", kProtocol, " ", of_client, " ", of_server)));
  frames.authenticate({reinterpret_cast<const std::byte*>(secret.data()), secret.size()}, serves);
}

}  // namespace

std::string text_of(const Json& map, const char* key) {
  const auto it = map.find(key);
  if (it == map.end() || !it->is_string()) fail_malformed("a message lacks the text '", key, "'");
  return it->get<std::string>();
}

int64_t number_of(const Json& map, const char* key, int64_t least, int64_t most) {
  const auto it = map.find(key);
  if (it == map.end() || !it->is_number_integer()) fail_malformed("a message lacks the number '", key, "'");
  if (it->is_number_unsigned() && it->get<uint64_t>() > uint64_t{INT64_MAX})
    fail_malformed("'", key, "' is ", it->get<uint64_t>());
  const auto value = it->get<int64_t>();
  if (value < least || value > most) fail_malformed("'", key, "' is ", value, ", not ", least, " to ", most);
  return value;
}

bool flag_of(const Json& map, const char* key) {
  const auto it = map.find(key);
  return it != map.end() && it->is_boolean() && it->get<bool>();
}

Json failure(const Error& error) {
  constexpr size_t kLongest = 4096;
  return {{"error", std::string(error.what()).substr(0, kLongest)}, {"kind", error.exit_code()}};
}

void throw_failure(const Json& map, const std::string& name) {
  if (!map.contains("error")) return;
  auto kind = ErrorKind::Environment;
  const int64_t code = number_of(map, "kind", 0, 255);
  for (const ErrorKind known :
       {ErrorKind::Negative, ErrorKind::Usage, ErrorKind::Malformed, ErrorKind::Unsupported, ErrorKind::Internal}) {
    if (static_cast<int>(known) == code) kind = known;
  }
  throw Error(kind, cat(name, ": ", text_of(map, "error")));
}

void greet_server(Frames& frames, const std::string& key, const std::string& name) {
  const std::string nonce = new_nonce();
  frames.send({{"op", "hello"}, {"protocol", kProtocol}, {"version", version()}, {"nonce", nonce}, {"alive", true}});
  const std::optional<Message> answer = frames.receive(0, kMostHello);
  if (!answer)
    throw ConnectionEnded(ErrorKind::Environment, cat(name, ": closed the connection before it said anything"));
  throw_failure(answer->map, name);
  const int64_t protocol = number_of(answer->map, "protocol", 0, INT32_MAX);
  if (protocol != kProtocol)
    fail_unsupported(name, ": speaks protocol ", protocol, " of dnn-serve ", text_of(answer->map, "version"),
                     ", this is ", kProtocol);
  const bool wants_key = flag_of(answer->map, "signs");
  if (wants_key && key.empty()) fail_environment(name, ": wants a key: give its file by --key FILE");
  if (!wants_key && !key.empty()) fail_environment(name, ": was started without --key, so nothing shows that it is it");
  if (wants_key) begin_signing(frames, key, nonce, nonce_of(answer->map), false);
}

bool greet_client(Frames& frames, const std::string& key, bool* wants_signs) {
  const std::optional<Message> hello = frames.receive(0, kMostHello);
  if (!hello) return false;
  if (text_of(hello->map, "op") != "hello") fail_malformed("a client begins with something else than hello");
  if (wants_signs != nullptr) *wants_signs = flag_of(hello->map, "alive");
  const std::string of_client = nonce_of(hello->map), nonce = new_nonce();
  frames.send({{"protocol", kProtocol}, {"version", version()}, {"nonce", nonce}, {"signs", !key.empty()}});
  const int64_t protocol = number_of(hello->map, "protocol", 0, INT32_MAX);
  if (protocol != kProtocol) fail_unsupported("a client speaks protocol ", protocol, ", this is ", kProtocol);
  if (!key.empty()) begin_signing(frames, key, of_client, nonce, true);
  return true;
}

}  // namespace dnn::remote
