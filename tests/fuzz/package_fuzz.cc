// Fuzz target: the package reader on hostile bytes, as they come and signed with this user's key, as if they were ours.
// What is read writes the same bytes again and again, and its source graph goes as far as a compilation's first step.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "base/sha256.h"
#include "fuzz/fuzz.h"
#include "ops/op.h"
#include "package/file.h"

namespace {

using namespace dnn;

constexpr size_t kSizeAt = 8, kDigestAt = 16, kSumAt = 48, kHead = 56;  // see schemas/package.fbs

const PackageKey& key() {
  static const PackageKey the_key{std::string(32, 'k')};
  return the_key;
}

std::string written(const Package& package) {
  StringSink sink;
  write_package(package, sink, key());
  return sink.text();
}

// The bytes with a signature and a checksum that hold, where they have room for them.
std::string signed_copy(std::string bytes) {
  if (bytes.size() < kHead) return bytes;
  uint64_t size = 0;
  std::memcpy(&size, bytes.data() + kSizeAt, sizeof size);
  if (size > bytes.size() - kHead) return bytes;
  const uint64_t sum = XXH3_64bits(bytes.data() + kHead, size);
  std::memcpy(bytes.data() + kSumAt, &sum, sizeof sum);
  const Sha256 digest = hmac_sha256(as_bytes(key().secret), as_bytes(bytes).subspan(kHead, size));
  std::memcpy(bytes.data() + kDigestAt, digest.data(), digest.size());
  return bytes;
}

void check_package(const std::string& bytes, bool may_be_trusted) {
  fuzz::refuse_or_accept([&] {
    const auto owner = std::make_shared<const std::string>(bytes);
    const OpenedPackage opened = parse_package(as_bytes(*owner), owner, key());
    if (opened.trusted && !may_be_trusted) std::abort();
    const std::string once = written(*opened.package);
    const auto again = std::make_shared<const std::string>(once);
    const OpenedPackage reread = parse_package(as_bytes(*again), again, key());
    if (!reread.trusted || written(*reread.package) != once) std::abort();
    const SourceGraph& held = opened.package->source;
    Graph source = held.kept() ? held.graph() : held.structure();
    to_text(source, {.inline_elements = 32, .inline_all = true});
    if (held.kept()) infer_types(source);
  });
}

}  // namespace

DNN_FUZZ(package) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  check_package(bytes, false);
  check_package(signed_copy(bytes), true);
  return 0;
}
