// ZipWriter: what is written reads back here and in Python's zipfile.
#include "base/zip_write.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/process.h"
#include "base/zip.h"

namespace dnn {
namespace {

std::string sample(size_t alignment) {
  static const std::string numbers("\0\1\2\3\4\5\6\7", 8);
  ZipWriter zip(alignment);
  zip.add("net/version", "3\n");
  Content view;
  view.append(SharedBytes{as_bytes(numbers), nullptr});
  zip.add("net/data/0", view);
  zip.add("net/empty", "");
  zip.add("net/\xc3\xa4.txt", "umlaut");
  EXPECT_EQ(zip.content().size(), zip.content().text().size());
  return zip.content().text();
}

TEST(ZipWriter, WhatIsWrittenReadsBack) {
  const std::string file = sample(1);
  const ZipArchive zip(as_bytes(file));
  ASSERT_EQ(zip.entries().size(), 4u);
  EXPECT_EQ(zip.read(*zip.find("net/version")), "3\n");
  EXPECT_EQ(zip.read(*zip.find("net/data/0")), std::string("\0\1\2\3\4\5\6\7", 8));
  EXPECT_EQ(zip.read(*zip.find("net/empty")), "");
  EXPECT_EQ(zip.read(*zip.find("net/\xc3\xa4.txt")), "umlaut");
}

TEST(ZipWriter, ContentsStartAtTheAlignment) {
  for (const size_t alignment : {size_t{8}, size_t{64}}) {
    const std::string file = sample(alignment);
    const ZipArchive zip(as_bytes(file));
    for (const ZipArchive::Entry& entry : zip.entries()) {
      const auto at = reinterpret_cast<const char*>(zip.packed(entry).data()) - file.data();
      EXPECT_EQ(static_cast<size_t>(at) % alignment, 0u) << entry.name;
    }
    EXPECT_EQ(zip.read(*zip.find("net/version")), "3\n");
  }
}

TEST(ZipWriter, MoreEntriesThan16BitsCount) {
  ZipWriter zip;
  for (int i = 0; i < 66000; ++i) zip.add(cat(i), i == 65999 ? "last" : "");
  const std::string file = zip.content().text();
  const ZipArchive read(as_bytes(file));
  ASSERT_EQ(read.entries().size(), 66000u);
  EXPECT_EQ(read.read(read.entries().back()), "last");
}

TEST(ZipWriter, RefusesANameTwice) {
  ZipWriter zip;
  zip.add("a", "1");
  EXPECT_THROW(zip.add("a", "2"), Error);
}

TEST(ZipWriter, OtherReadersTakeIt) {
  const TemporaryFolder folder("");
  const std::string path = folder.path() + "/sample.zip";
  write_file(path, sample(64));
  const std::string script =
      "import sys, zipfile\n"
      "z = zipfile.ZipFile(sys.argv[1])\n"
      "assert z.testzip() is None\n"
      "assert z.read('net/data/0') == bytes(range(8))\n"
      "assert z.read('net/\\u00e4.txt') == b'umlaut'\n"
      "assert {i.date_time for i in z.infolist()} == {(1980, 1, 1, 0, 0, 0)}\n";
  const ProcessResult python = run_process({"python3", "-c", script, path}, "", 60);
  EXPECT_EQ(python.exit_code, 0) << python.output;
}

}  // namespace
}  // namespace dnn
