// Models as files and folders: what a folder may name, and how one is replaced.
#include "formats/format.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"

namespace dnn {
namespace {

TEST(ModelSource, ReadsFilesOfAFolderOnDiskAndInMemory) {
  const TemporaryFolder folder(::testing::TempDir());
  make_folders(folder.path() + "/m/variables");
  write_file(folder.path() + "/m/variables/index", "on disk");
  write_file(folder.path() + "/outside", "secret");
  const ModelSource disk = open_model(folder.path() + "/m");
  EXPECT_TRUE(disk.folder);
  EXPECT_EQ(as_text(disk.inside("variables/index").bytes), "on disk");
  EXPECT_FALSE(disk.has("../outside"));
  EXPECT_FALSE(disk.has(folder.path() + "/outside"));
  std::filesystem::create_symlink(folder.path() + "/outside", folder.path() + "/m/variables/link");
  EXPECT_THROW(disk.inside("variables/link"), Error);
  EXPECT_THROW(disk.inside("absent"), Error);
  const ModelSource memory = model_in_memory("m", {{"/variables/index", "in memory"}});
  EXPECT_TRUE(memory.folder);
  EXPECT_EQ(as_text(memory.inside("variables/index").bytes), "in memory");
  EXPECT_FALSE(memory.has("variables"));
}

TEST(CheckNames, RefusesWhatIsNotUtf8) {
  Graph graph;
  graph.metadata = {{"labels", "Käse\nпри́вет"}};
  graph.add_value("x");
  EXPECT_NO_THROW(check_names(graph));
  for (const char* bad : {"\xff", "a\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
    graph.value(0).name = bad;
    EXPECT_THROW(check_names(graph), Error) << bad;
  }
}

TEST(AtomicFolder, IsWholeOrNotThere) {
  const TemporaryFolder parent(::testing::TempDir());
  const std::string path = parent.path() + "/m";
  const auto entries = [&] {
    return std::distance(std::filesystem::directory_iterator(parent.path()), std::filesystem::directory_iterator());
  };
  {
    AtomicFolder folder(path);
    folder.add("a/b", "one");
  }
  EXPECT_EQ(entries(), 0);
  for (const char* text : {"first", "second"}) {
    AtomicFolder folder(path);
    folder.add(text, text);
    folder.commit();
  }
  EXPECT_EQ(entries(), 1);
  EXPECT_FALSE(std::filesystem::exists(path + "/first"));
  EXPECT_EQ(read_file(path + "/second"), "second");
}

}  // namespace
}  // namespace dnn
