// A cache that is too large: some of it goes, the rest stays.
#include "package/cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/file.h"

namespace dnn {
namespace {

namespace fs = std::filesystem;

class Cache : public testing::Test {
 protected:
  // A package of 100 bytes, used so many hours ago.
  std::string put(const std::string& name, int hours) {
    std::string path = folder_.path() + "/" + name;
    write_file(path, std::string(100, 'x'));
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
    return path;
  }
  std::set<std::string> names() const {
    std::set<std::string> result;
    for (const auto& entry : fs::directory_iterator(folder_.path())) result.insert(entry.path().filename());
    return result;
  }
  TemporaryFolder folder_{testing::TempDir()};
};

TEST_F(Cache, TheLongestUnusedGoFirst) {
  const std::string a = put("a.dnnpkg", 4);
  put("b.dnnpkg", 3);
  put("c.dnnpkg", 2);
  put("d.dnnpkg", 1);
  trim_cache(folder_.path(), 400, "");
  EXPECT_EQ(names().size(), 4u);
  touch_cached(a);
  trim_cache(folder_.path(), 250, "");
  EXPECT_EQ(names(), (std::set<std::string>{"a.dnnpkg", "d.dnnpkg"}));
}

TEST_F(Cache, OnlyPackagesGoAndNotTheOneInUse) {
  const std::string mine = put("mine.dnnpkg", 9);
  put("other.dnnpkg", 1);
  put("notes.txt", 10);
  trim_cache(folder_.path(), 0, mine);
  EXPECT_EQ(names(), (std::set<std::string>{"mine.dnnpkg", "notes.txt"}));
  trim_cache(folder_.path() + "/missing", 0, "");
}

}  // namespace
}  // namespace dnn
