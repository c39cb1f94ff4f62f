// The cache of compiled kernels; see object_cache.h. A file is an HMAC-SHA256 of its name and the object, and the object; its name
// ends in .signed, as earlier versions link what ends in .o.
#include "compile/object_cache.h"

#include <filesystem>

#include "base/file.h"
#include "base/private.h"
#include "base/sha256.h"

namespace dnn {

ObjectCache::ObjectCache(std::string folder, const PackageKey& key) : folder_(std::move(folder)) {
  make_private_folder(folder_);
  // Another key than manifests are signed with.
  const Sha256 own = hmac_sha256(as_bytes(key.secret), as_bytes("dnn-tools objects"));
  secret_.assign(own.begin(), own.end());
}

Sha256 ObjectCache::digest_of(const std::string& name, const std::string& object) const {
  return hmac_sha256(as_bytes(secret_), as_bytes(name + '\n' + object));
}

std::string ObjectCache::find(const std::string& name) const {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path_of(name), ignored)) return "";
  const std::string file = read_file(path_of(name));
  constexpr size_t kDigest = sizeof(Sha256);
  if (file.size() <= kDigest) return "";
  std::string object = file.substr(kDigest);
  return same_digest(digest_of(name, object), as_bytes(file).first(kDigest)) ? object : "";
}

void ObjectCache::keep(const std::string& name, const std::string& object) const {
  const Sha256 digest = digest_of(name, object);
  write_file(path_of(name), std::string(digest.begin(), digest.end()) + object, 0600);
}

}  // namespace dnn
