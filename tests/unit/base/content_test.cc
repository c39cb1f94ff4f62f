// Content: pieces of all kinds in order, in memory and on the disk.
#include "base/content.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace dnn {
namespace {

TEST(Content, KeepsPiecesInOrder) {
  static const std::string kLong = "view";
  Content content("head ");
  content.append(std::string("text "));
  content.append(SharedBytes{as_bytes(kLong), nullptr});
  int produced = 0;
  content.append(5, [&produced](ByteSink& to) {
    to.write(as_bytes(" made"));
    ++produced;
  });
  Content twice = content;
  twice.append(std::string(" "));
  twice.append(content);
  EXPECT_EQ(produced, 0);
  EXPECT_EQ(content.text(), "head text view made");
  EXPECT_EQ(content.size(), content.text().size());
  EXPECT_EQ(twice.text(), "head text view made head text view made");
  EXPECT_EQ(as_text(twice.whole().bytes), twice.text());
}

TEST(Content, OnePieceIsNotCopied) {
  static const std::string kLong = "view";
  Content content;
  EXPECT_TRUE(content.empty());
  content.append(SharedBytes{as_bytes(kLong), nullptr});
  EXPECT_EQ(static_cast<const void*>(content.whole().bytes.data()), kLong.data());
}

TEST(Content, LiesInAFileWithoutAName) {
  const TemporaryFolder folder(::testing::TempDir());
  const SharedBytes written = write_nameless(folder.path(), std::string("on the disk"));
  EXPECT_EQ(as_text(written.bytes), "on the disk");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_TRUE(write_nameless(folder.path(), Content()).bytes.empty());
}

}  // namespace
}  // namespace dnn
