// The cache of compiled kernels: an object file each, which is linked only where this user's key vouches for it.
#pragma once
#include <string>

#include "base/sha256.h"
#include "package/file.h"

namespace dnn {

class ObjectCache {
 public:
  // Makes the folder (mode 0700). Throws Environment, with the way out, where others may change it.
  ObjectCache(std::string folder, const PackageKey& key);
  // The object kept under this name; "" where there is none that was kept with the key.
  std::string find(const std::string& name) const;
  // Throws Environment.
  void keep(const std::string& name, const std::string& object) const;

 private:
  std::string path_of(const std::string& name) const { return folder_ + "/" + name + ".signed"; }
  Sha256 digest_of(const std::string& name, const std::string& object) const;

  std::string folder_, secret_;
};

}  // namespace dnn
