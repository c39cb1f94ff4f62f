// The folder that paths have in common, and what stands below it.
#include "metrics/common_folder.h"

#include <gtest/gtest.h>

#include <vector>

namespace dnn::metrics {
namespace {

std::vector<std::string> below(const std::vector<std::string>& paths) {
  CommonFolder folder;
  for (const std::string& path : paths) folder.add(path);
  std::vector<std::string> rest;
  for (const std::string& path : paths) rest.emplace_back(folder.below(path));
  return rest;
}

using Names = std::vector<std::string>;

TEST(CommonFolder, WholeFoldersAreCut) {
  EXPECT_EQ(below({"imgs/cat/a.png", "imgs/cat/b.png"}), (Names{"a.png", "b.png"}));
  EXPECT_EQ(below({"imgs/cat/a.png", "imgs/cap/b.png", "imgs/c"}), (Names{"cat/a.png", "cap/b.png", "c"}));
  EXPECT_EQ(below({"/a/b/c", "/x"}), (Names{"a/b/c", "x"}));
  EXPECT_EQ(below({"/a/b", "x"}), (Names{"/a/b", "x"}));
  EXPECT_EQ(below({"a//b", "a/c"}), (Names{"/b", "c"}));
  EXPECT_EQ(below({"one"}), (Names{"one"}));
  EXPECT_EQ(below({"f/", "f/g"}), (Names{"", "g"}));
  EXPECT_EQ(below({"", "a/b"}), (Names{"", "a/b"}));
  EXPECT_EQ(CommonFolder().below("a/b"), "a/b");
}

}  // namespace
}  // namespace dnn::metrics
