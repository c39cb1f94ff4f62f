// A tool that a signal ends leaves no child and no temporary file behind; a file that shrinks is a message, not a bus error.
#include "cli/signals.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "base/file.h"
#include "base/spawn.h"
#include "cli/console.h"

namespace dnn {
namespace {

struct Ended {
  int status = 0;
  std::string said;  // on standard output and error
};

// Runs `work` in a process of its own.
Ended apart(const std::function<void()>& work) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], 1);
    ::dup2(ends[1], 2);
    ::close(ends[0]);
    ::close(ends[1]);
    cli::console().tool = "dnn-x";
    for (const int signal : {SIGTERM, SIGHUP, SIGINT}) ::signal(signal, SIG_DFL);
    work();
    ::_exit(99);
  }
  ::close(ends[1]);
  Ended ended;
  char buffer[256];
  // To its end, which comes only when all who inherited the pipe have ended.
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    ended.said.append(buffer, static_cast<size_t>(n));
  ::close(ends[0]);
  ::waitpid(child, &ended.status, 0);
  return ended;
}

TEST(Signals, EndChildrenAndRemoveTemporaryFiles) {
  const TemporaryFolder here(::testing::TempDir());
  for (const int signal : {SIGTERM, SIGHUP, SIGINT}) {
    const Ended ended = apart([&] {
      cli::end_cleanly_by_signals();
      const TemporaryFolder folder(here.path());
      write_file(folder.path() + "/kernels.c", "int x;");
      make_folders(folder.path() + "/a/b");
      write_file(folder.path() + "/a/b/c", "c");
      // It holds our pipe, and would for an hour.
      posix_spawn_file_actions_t actions;
      posix_spawn_file_actions_init(&actions);
      pid_t child = 0;
      if (start_process({"sh", "-c", "sleep 3600 & sleep 3600"}, actions, child) != 0) ::_exit(98);
      ::usleep(100'000);
      ::raise(signal);
    });
    EXPECT_TRUE(WIFSIGNALED(ended.status) && WTERMSIG(ended.status) == signal) << ended.status;
    EXPECT_TRUE(std::filesystem::is_empty(here.path())) << "after signal " << signal;
  }
}

TEST(Signals, WhatTheCallerIgnoresStaysIgnored) {
  const Ended ended = apart([] {
    ::signal(SIGHUP, SIG_IGN);  // as nohup does
    cli::end_cleanly_by_signals();
    ::raise(SIGHUP);
    ::_exit(7);
  });
  EXPECT_EQ(WEXITSTATUS(ended.status), 7);
}

TEST(Signals, AFileThatShrinksIsMalformed) {
  const TemporaryFolder here(::testing::TempDir());
  const std::string path = here.path() + "/model.onnx";
  write_file(path, std::string(1 << 20, 'x'));
  const Ended ended = apart([&] {
    cli::report_bus_errors();
    const TemporaryFolder folder(here.path());
    const MappedFile file(path);
    if (::truncate(path.c_str(), 10) != 0) ::_exit(98);
    volatile std::byte last = file.bytes().back();
    ::_exit(static_cast<int>(last));
  });
  EXPECT_TRUE(WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 3) << ended.status;
  EXPECT_EQ(ended.said, "dnn-x: error: " + path + ": shrank while it was read\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(here.path()), {}), 1);  // the model
}

}  // namespace
}  // namespace dnn
