// Files and folders that are put in place whole.
#include "base/file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"

namespace dnn {
namespace {

namespace fs = std::filesystem;

template <class Work>
std::string failure(const Work& work) {
  try {
    work();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Environment);
    return e.what();
  }
  return "";
}

// They do so where a file was there before, too, and behind any links.
TEST(AtomicFile, ErrorsNameTheFileAsTheCallerDid) {
  for (const bool there : {false, true}) {
    const TemporaryFolder folder(::testing::TempDir());
    const std::string inner = folder.path() + "/inner", link = folder.path() + "/link", name = link + "/../link/file";
    fs::create_directory(inner);
    fs::create_directory_symlink(inner, link);
    if (there) write_file(name, "before");
    AtomicFile file(name);
    file.write("after");
    fs::rename(inner, folder.path() + "/elsewhere");
    EXPECT_EQ(failure([&] { file.commit(); }), name + ": cannot write: No such file or directory") << there;
    EXPECT_EQ(failure([&] { AtomicFile again(name); }), name + ": cannot write: No such file or directory");
  }
}

TEST(AtomicFile, ALinkStaysAndItsFileIsReplaced) {
  const TemporaryFolder folder(::testing::TempDir());
  const std::string file = folder.path() + "/file", link = folder.path() + "/link";
  write_file(file, "before");
  fs::create_symlink("file", link);
  write_file(link, "after");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read_file(file), "after");
}

TEST(AtomicFolder, ErrorsNameTheFileThatItWillBe) {
  const TemporaryFolder folder(::testing::TempDir());
  const std::string name = folder.path() + "/saved";
  AtomicFolder saved(name);
  const Content content("numbers");
  saved.add("variables/data", content);
  EXPECT_EQ(failure([&] { saved.add("variables", content); }), name + "/variables: cannot write: Is a directory");
}

}  // namespace
}  // namespace dnn
