// The cache of compiled packages: one file each, the least recently used go when they are too much together.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace dnn {

// $XDG_CACHE_HOME/dnn-tools, or its place under `home`, from the two values; "" where neither names a folder.
std::string default_cache_folder(const char* xdg_cache_home, const char* home);

// Says that a cached file is in use now; its time decides when it goes. Nothing when it cannot be said.
void touch_cached(const std::string& path);

// Removes files of `folder` with that extension, the longest unused first, until the rest take at most `limit_bytes`. `remove` says
// whether one is gone; one that is not stays. Returns the bytes of the rest.
int64_t trim_folder(const std::string& folder, const std::string& extension, int64_t limit_bytes,
                    const std::function<bool(const std::string& path)>& remove);

// Removes packages of `folder`, the longest unused first, until the rest take at most `limit_bytes`; never `keep`. What
// cannot be removed stays; a package that another process has mapped stays readable to it.
void trim_cache(const std::string& folder, int64_t limit_bytes, const std::string& keep);

}  // namespace dnn
