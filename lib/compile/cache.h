// The cache of compiled packages: one file each, the least recently used go when they are too much together.
#pragma once
#include <cstdint>
#include <string>

namespace dnn {

// Says that a cached file is in use now; its time decides when it goes. Nothing when it cannot be said.
void touch_cached(const std::string& path);

// Removes packages of `folder`, the longest unused first, until the rest take at most `limit_bytes`; never `keep`. What
// cannot be removed stays; a package that another process has mapped stays readable to it.
void trim_cache(const std::string& folder, int64_t limit_bytes, const std::string& keep);

}  // namespace dnn
