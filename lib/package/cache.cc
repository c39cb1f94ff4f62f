// Keeping the cache small; see cache.h.
#include "package/cache.h"

#include <algorithm>
#include <filesystem>
#include <vector>

namespace dnn {

namespace fs = std::filesystem;

std::string default_cache_folder(const char* xdg_cache_home, const char* home) {
  if (xdg_cache_home != nullptr && *xdg_cache_home == '/') return std::string(xdg_cache_home) + "/dnn-tools";
  return home == nullptr || *home == '\0' ? "" : std::string(home) + "/.cache/dnn-tools";
}

void touch_cached(const std::string& path) {
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
}

int64_t trim_folder(const std::string& folder, const std::string& extension, int64_t limit_bytes,
                    const std::function<bool(const std::string& path)>& remove) {
  struct Entry {
    fs::file_time_type used;
    int64_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  std::error_code failure;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure)) {
    if (at->path().extension() != extension) continue;
    std::error_code gone;
    const auto bytes = static_cast<int64_t>(at->file_size(gone));
    const fs::file_time_type used = at->last_write_time(gone);
    if (gone) continue;
    entries.push_back({used, bytes, at->path()});
    total += bytes;
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= limit_bytes) break;
    if (remove(entry.path.string())) total -= entry.bytes;
  }
  return total;
}

void trim_cache(const std::string& folder, int64_t limit_bytes, const std::string& keep) {
  trim_folder(folder, ".dnnpkg", limit_bytes, [&](const std::string& path) {
    std::error_code stays;
    return fs::path(path) != fs::path(keep) && fs::remove(path, stays);
  });
}

}  // namespace dnn
