// A planted reader: what it opens, sends, starts and changes fails in the box, and what it may read it reads.
#include "base/box.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <thread>

#include "base/file.h"

namespace dnn {
namespace {

class Box : public ::testing::Test {
 protected:
  Box() {
    const BoxSupport support = box_support();
    const auto keeps = [&](const char* what) {
      return std::find(support.kept.begin(), support.kept.end(), what) != support.kept.end();
    };
    files_ = keeps("files");
    calls_ = keeps("calls");
    for (const char* name : {"own", "other"}) {
      make_folders(path(name));
      write_file(path(name) + "/file", name);
    }
  }
  ~Box() override { set_sandbox(Sandbox::Off); }

  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  BoxRules own() const { return {{path("own")}, false}; }

  const TemporaryFolder folder_{::testing::TempDir()};
  bool files_ = false, calls_ = false;
};

TEST_F(Box, KeepsAPlantedReaderFromFiles) {
  if (!files_) GTEST_SKIP() << "this kernel has no Landlock";
  set_sandbox(Sandbox::Auto);
  in_box(own(), [&] {
    EXPECT_EQ(read_file(path("own") + "/file"), "own");
    EXPECT_THROW(read_file(path("other") + "/file"), Error);
    EXPECT_THROW(read_file(path("own") + "/../other/file"), Error);
    EXPECT_THROW(read_file("/etc/passwd"), Error);
    EXPECT_THROW(write_file(path("own") + "/planted", "x"), Error);
    EXPECT_NE(::unlink((path("own") + "/file").c_str()), 0);
  });
  EXPECT_EQ(read_file(path("other") + "/file"), "other");  // who asked for the box is not in it
  EXPECT_EQ(read_file(path("own") + "/file"), "own");
}

TEST_F(Box, KeepsAPlantedReaderFromSocketsProgramsAndChanges) {
  if (!calls_) GTEST_SKIP() << "this kernel has no seccomp";
  set_sandbox(Sandbox::Auto);
  BoxRules all;
  all.reads_all = true;
  in_box(all, [&] {
    EXPECT_EQ(read_file(path("other") + "/file"), "other");
    EXPECT_EQ(::socket(AF_INET, SOCK_STREAM, 0), -1);
    EXPECT_EQ(::socket(AF_UNIX, SOCK_STREAM, 0), -1);
    EXPECT_EQ(::kill(::getpid(), 0), -1);
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    EXPECT_EQ(child, -1);
    char name[] = "/bin/true";
    char* argv[] = {name, nullptr};
    EXPECT_EQ(::execv(name, argv), -1);
    for (const int flags : {O_WRONLY, O_RDWR, O_RDONLY | O_CREAT, O_RDONLY | O_TRUNC})
      EXPECT_EQ(::open((path("own") + "/file").c_str(), flags, 0600), -1) << flags;
    EXPECT_NE(::chmod((path("own") + "/file").c_str(), 0666), 0);
    EXPECT_NE(::rename((path("own") + "/file").c_str(), path("moved").c_str()), 0);
    std::thread([] { EXPECT_EQ(::socket(AF_INET, SOCK_STREAM, 0), -1); }).join();  // what it starts is in the box
  });
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  EXPECT_GE(fd, 0);
  ::close(fd);
}

TEST_F(Box, KeepsAPlantedReaderFromOtherProcessesAndTheTerminal) {
  if (!calls_) GTEST_SKIP() << "this kernel has no seccomp";
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(terminal, 0);
  const auto refused = [](long result) { return result == -1 && errno == EPERM; };
  char key = 'x';
  set_sandbox(Sandbox::Auto);
  in_box({}, [&] {
    EXPECT_TRUE(refused(::ioctl(terminal, TIOCSTI, &key)));
    EXPECT_TRUE(refused(::ioctl(terminal, TIOCLINUX, &key)));
    winsize size{};
    EXPECT_EQ(::ioctl(terminal, TIOCGWINSZ, &size), 0);  // others go on
    const pid_t parent = ::getppid();
    siginfo_t info{};
    EXPECT_TRUE(refused(::syscall(SYS_tgkill, parent, parent, 0)));
    EXPECT_TRUE(refused(::syscall(SYS_rt_sigqueueinfo, parent, 0, &info)));
    EXPECT_TRUE(refused(::syscall(SYS_rt_tgsigqueueinfo, parent, parent, 0, &info)));
    EXPECT_EQ(::syscall(SYS_tgkill, ::getpid(), ::gettid(), 0), 0);  // abort() is of this process
    rlimit limit{};
    EXPECT_TRUE(refused(::prlimit(parent, RLIMIT_CORE, nullptr, &limit)));
    EXPECT_EQ(::getrlimit(RLIMIT_CORE, &limit), 0);
    // Calls by which root changes more than files, with arguments that do nothing where it is not refused.
    EXPECT_TRUE(refused(::syscall(SYS_reboot, 0, 0, 0, nullptr)));
    EXPECT_TRUE(refused(::syscall(SYS_open_tree, -1, nullptr, 0)));
    EXPECT_TRUE(refused(::syscall(SYS_fsopen, nullptr, 0)));
    EXPECT_TRUE(refused(::syscall(SYS_sethostname, nullptr, size_t{1} << 20)));
    EXPECT_TRUE(refused(::syscall(SYS_shmget, -1, 0, 0)));
  });
  ::close(terminal);
}

// For images: the thread is closed, is the same for each piece of work, and passes on what is thrown.
TEST_F(Box, KeepsAClosedThread) {
  if (!calls_) GTEST_SKIP() << "this kernel has no seccomp";
  set_sandbox(Sandbox::Auto);
  pid_t first = 0, second = 0, within = 0;
  in_kept_box([&] {
    first = ::gettid();
    EXPECT_EQ(read_file(path("other") + "/file"), "other");
    EXPECT_EQ(::socket(AF_INET, SOCK_STREAM, 0), -1);
    EXPECT_EQ(::open((path("own") + "/file").c_str(), O_WRONLY), -1);
    in_kept_box([&] { within = ::gettid(); });
  });
  in_kept_box([&] { second = ::gettid(); });
  EXPECT_NE(first, ::gettid());
  EXPECT_EQ(first, second);
  EXPECT_EQ(first, within);
  EXPECT_THROW(in_kept_box([] { fail_malformed("as read"); }), Error);
  std::thread([&] { in_kept_box([&] { EXPECT_NE(::gettid(), first); }); }).join();
  const pid_t child = ::fork();  // whose copy of this thread has no such thread beside it
  if (child == 0) {
    int done = 0;
    in_kept_box([&] { done = 1; });
    ::_exit(done == 1 ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  set_sandbox(Sandbox::Off);
  in_kept_box([&] { EXPECT_EQ(::gettid(), ::getpid()); });
}

TEST_F(Box, PassesOnWhatIsThrownAndIsOffAtFirst) {
  in_box({}, [&] { EXPECT_EQ(read_file(path("other") + "/file"), "other"); });
  set_sandbox(Sandbox::Auto);
  EXPECT_THROW(in_box({}, [] { fail_malformed("as read"); }), Error);
  if (files_ && calls_) {
    set_sandbox(Sandbox::On);
    int made = 0;
    in_box({}, [&] { made = 1; });
    EXPECT_EQ(made, 1);
  }
}

}  // namespace
}  // namespace dnn
