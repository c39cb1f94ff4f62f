// Links that lead out of a folder; see inside.h.
#include "base/inside.h"

#include <algorithm>

namespace dnn {

// Absolute first, for weakly_canonical leaves a relative path that is not there relative.
bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const std::filesystem::path real = std::filesystem::weakly_canonical(std::filesystem::absolute(path));
  const std::filesystem::path root = std::filesystem::weakly_canonical(std::filesystem::absolute(folder));
  return std::mismatch(root.begin(), root.end(), real.begin(), real.end()).first == root.end();
}

}  // namespace dnn
