// What others may change is refused, or copied before it is looked at.
#include "base/private.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>

#include "base/file.h"

namespace dnn {
namespace {

std::string refusal(const std::function<void()>& use) {
  try {
    use();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Environment) << e.what();
    return e.what();
  }
  return "";
}

unsigned mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

TEST(Private, FoldersAreMadeForTheirUserAlone) {
  const TemporaryFolder folder(::testing::TempDir());
  const std::string cache = folder.path() + "/a/cache";
  make_private_folder(cache);
  EXPECT_EQ(mode_of(cache), 0700u);
  make_private_folder(cache);
  ::chmod(cache.c_str(), 0755);
  make_private_folder(cache);  // others may read it
  for (const mode_t mode : {0770, 0707, 01777}) {
    ::chmod(cache.c_str(), mode);
    EXPECT_NE(refusal([&] { make_private_folder(cache); }).find("others may write it"), std::string::npos) << mode;
  }
  ::chmod(cache.c_str(), 0700);
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(::chown(cache.c_str(), 12345, static_cast<gid_t>(-1)), 0);
  EXPECT_NE(refusal([&] { make_private_folder(cache); }).find("belongs to user 12345"), std::string::npos);
}

TEST(Private, TemporaryFoldersWantAPlaceWhereNobodyReplacesThem) {
  const TemporaryFolder folder(::testing::TempDir());
  ::chmod(folder.path().c_str(), 0777);
  EXPECT_NE(refusal([&] { const TemporaryFolder inside(folder.path()); }).find("TMPDIR"), std::string::npos);
  ::chmod(folder.path().c_str(), 01777);  // as /tmp
  EXPECT_EQ(refusal([&] { const TemporaryFolder inside(folder.path()); }), "");
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(::chown(folder.path().c_str(), 12345, static_cast<gid_t>(-1)), 0);
  EXPECT_NE(refusal([&] { const TemporaryFolder inside(folder.path()); }).find("TMPDIR"), std::string::npos);
}

void overwrite(const std::string& path, char c, size_t n) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const std::string text(n, c);
  EXPECT_EQ(::pwrite(fd, text.data(), n, 0), static_cast<ssize_t>(n));
  ::close(fd);
}

TEST(Private, BytesOfAFileThatOthersMayWriteDoNotChange) {
  const TemporaryFolder folder(::testing::TempDir());
  const std::string path = folder.path() + "/model";
  constexpr size_t kBytes = 1 << 20;
  write_file(path, std::string(kBytes, 'a'));
  ::chmod(path.c_str(), 0666);
  const MappedFile file(path);
  overwrite(path, 'b', kBytes);
  EXPECT_EQ(as_text(file.bytes()), std::string(kBytes, 'a'));
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ::chmod(path.c_str(), 0600);
  ASSERT_EQ(::chown(path.c_str(), 12345, static_cast<gid_t>(-1)), 0);
  const MappedFile theirs(path);
  overwrite(path, 'c', kBytes);
  EXPECT_EQ(as_text(theirs.bytes()), std::string(kBytes, 'b'));
}

TEST(Private, AFileIsWrittenWithTheModeThatIsAskedFor) {
  const TemporaryFolder folder(::testing::TempDir());
  write_file(folder.path() + "/private", "x", 0600);
  EXPECT_EQ(mode_of(folder.path() + "/private"), 0600u);
}

TEST(Private, ARegularFileIsWantedAndNothingIsWaitedFor) {
  const TemporaryFolder folder(::testing::TempDir());
  const std::string pipe = folder.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, std::string("/dev/zero"), folder.path()}) {
    EXPECT_NE(refusal([&] { read_regular_file(path); }).find("not a regular file"), std::string::npos) << path;
    EXPECT_EQ(read_head(path, 8), "") << path;
  }
}

TEST(Private, NoOtherFileIsWrittenInPlaceOfOneThatGrows) {
  const TemporaryFolder folder(::testing::TempDir());
  const std::string path = folder.path() + "/grows", victim = folder.path() + "/victim";
  for (int i = 0; i < 2; ++i) {  // made, then taken up
    const int fd = open_growing(path, O_WRONLY | O_APPEND);
    EXPECT_EQ(::write(fd, "ab", 2), 2);
    ::close(fd);
  }
  EXPECT_EQ(read_file(path), "abab");
  const auto refused = [&](const std::string& reason) {
    const std::string said = refusal([&] { open_growing(path, O_RDWR); });
    EXPECT_EQ(said, path + ": " + reason + ", and is not written to: remove it, or choose another folder");
    ::unlink(path.c_str());
  };
  write_file(victim, "keep");
  ASSERT_EQ(::link(path.c_str(), (folder.path() + "/same").c_str()), 0);
  refused("has another name, too");
  ASSERT_EQ(::symlink("victim", path.c_str()), 0);
  refused("is a symbolic link");
  ASSERT_EQ(::symlink("nowhere", path.c_str()), 0);
  refused("is a symbolic link");
  EXPECT_NE(::access((folder.path() + "/nowhere").c_str(), F_OK), 0);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  refused("is no regular file");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_NE(refusal([&] { open_growing(path, O_WRONLY); }), "");  // nobody reads it
  ::unlink(path.c_str());
  EXPECT_EQ(read_file(victim), "keep");
  EXPECT_NE(refusal([&] { open_growing(folder.path() + "/no/file", O_RDWR); }).find("cannot write"), std::string::npos);
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  write_file(path, "theirs");
  ASSERT_EQ(::chown(path.c_str(), 12345, static_cast<gid_t>(-1)), 0);
  refused("belongs to user 12345");
}

}  // namespace
}  // namespace dnn
