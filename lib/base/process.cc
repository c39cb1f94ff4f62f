// Running another program; see process.h.
#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "base/spawn.h"

namespace dnn {

ProcessResult run_process(const std::vector<std::string>& argv, const std::string& folder, double time_limit_s) {
  int pipe_fds[2];
  if (::pipe2(pipe_fds, O_CLOEXEC) != 0) fail_environment("cannot make a pipe: ", std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], 1);
  posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], 2);
  if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t child = 0;
  const int failure = start_process(argv, actions, child);
  posix_spawn_file_actions_destroy(&actions);
  ::close(pipe_fds[1]);
  if (failure != 0) {
    ::close(pipe_fds[0]);
    fail_environment("cannot run ", argv[0], ": ", std::strerror(failure));
  }
  ProcessResult result;
  using Clock = std::chrono::steady_clock;
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time_limit_s));
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      result.timed_out = true;
      ::kill(-child, SIGKILL);
      break;
    }
    pollfd ready{pipe_fds[0], POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(left)) <= 0) continue;
    char buffer[4096];
    const ssize_t n = ::read(pipe_fds[0], buffer, sizeof buffer);
    if (n <= 0) break;
    if (result.output.size() < (1u << 20)) result.output.append(buffer, n);
  }
  ::close(pipe_fds[0]);
  result.exit_code = exit_code_of_process(child);
  return result;
}

}  // namespace dnn
