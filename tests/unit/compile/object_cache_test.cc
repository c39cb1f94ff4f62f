// The cache of objects: what others put there is not linked.
#include "compile/object_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>

#include "base/file.h"
#include "compile/build_c.h"

namespace dnn {
namespace {

namespace fs = std::filesystem;

Variant code_that_returns(int value) {
  Variant variant;
  variant.target = {"c", "x86-64", {}, ""};
  variant.code.source = cat(kUnitDivider, "int kernel(void) { return ", value, "; }\n");
  return variant;
}

std::vector<std::string> objects_in(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path().string());
  return paths;
}

struct Place {
  TemporaryFolder folder{::testing::TempDir()};
  std::string cache = folder.path() + "/objects", key = folder.path() + "/key";
  std::vector<std::string> warnings;

  std::string build(int value) {
    BuildOptions options;
    options.cache_folder = cache;
    options.key_path = key;
    options.jobs = 1;
    options.warn = [this](const std::string& message) { warnings.push_back(message); };
    Variant variant = code_that_returns(value);
    build_code(variant, options);
    return variant.code.binary;
  }
};

TEST(ObjectCache, KeepsWhatItsKeyVouchesFor) {
  const TemporaryFolder folder(::testing::TempDir());
  const ObjectCache cache(folder.path() + "/a", PackageKey{std::string(32, 'k')});
  const ObjectCache other(folder.path() + "/a", PackageKey{std::string(32, 'l')});
  EXPECT_EQ(cache.find("x"), "");
  cache.keep("x", "object");
  EXPECT_EQ(cache.find("x"), "object");
  EXPECT_EQ(other.find("x"), "");
  fs::copy_file(folder.path() + "/a/x.signed", folder.path() + "/a/y.signed");
  EXPECT_EQ(cache.find("y"), "") << "under another name";
  struct stat status {};
  ASSERT_EQ(::stat((folder.path() + "/a/x.signed").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(ObjectCache, APlantedObjectIsNotLinked) {
  Place place, attacker;
  const std::string right = place.build(1), wrong = attacker.build(2);
  ASSERT_NE(right, wrong);
  const std::vector<std::string> kept = objects_in(place.cache);
  ASSERT_EQ(kept.size(), 2u) << "the unit, and what it is linked to";
  EXPECT_EQ(place.build(1), right);
  for (const std::string& with_tag :
       {read_file(objects_in(attacker.cache).at(0)), read_file(objects_in(attacker.cache).at(1))}) {
    for (const std::string& planted : {with_tag, with_tag.substr(32)}) {
      for (const std::string& path : kept) write_file(path, planted);
      EXPECT_TRUE(place.build(1) == right);
      for (const std::string& path : kept) EXPECT_TRUE(read_file(path) != planted) << "it was made anew";
    }
  }
  EXPECT_TRUE(place.warnings.empty());
}

// The linked code is taken as it is; without it, the units are; a unit more is another library.
TEST(ObjectCache, CodeIsLinkedOnce) {
  Place place;
  BuildOptions options;
  options.cache_folder = place.cache;
  options.key_path = place.key;
  const std::string right = place.build(1);
  const auto written = [&] {
    std::map<std::string, fs::file_time_type> times;
    for (const std::string& path : objects_in(place.cache)) times[path] = fs::last_write_time(path);
    return times;
  };
  const auto before = written();
  EXPECT_TRUE(place.build(1) == right);
  EXPECT_TRUE(written() == before);
  for (const auto& [path, time] : before) {
    fs::remove(path);
    EXPECT_TRUE(place.build(1) == right) << path;
  }
  Variant two = code_that_returns(1);
  two.code.source += cat(kUnitDivider, "int other(void) { return 3; }\n");
  build_code(two, options);
  EXPECT_TRUE(two.code.binary != right);
  EXPECT_EQ(objects_in(place.cache).size(), 4u);
}

TEST(ObjectCache, AFolderThatOthersMayWriteIsNotUsed) {
  Place place;
  const std::string right = place.build(1);
  ::chmod(place.cache.c_str(), 0777);
  for (const std::string& path : objects_in(place.cache)) fs::remove(path);
  EXPECT_TRUE(place.build(1) == right);
  EXPECT_TRUE(fs::is_empty(place.cache));
  ASSERT_EQ(place.warnings.size(), 1u);
  EXPECT_NE(place.warnings[0].find("others may write it"), std::string::npos) << place.warnings[0];
}

}  // namespace
}  // namespace dnn
