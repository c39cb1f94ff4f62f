// Starting a program and waiting for its end; see spawn.h.
#include "base/spawn.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/leftovers.h"

extern char** environ;

namespace dnn {

int start_process(const std::vector<std::string>& argv, const posix_spawn_file_actions_t& actions, pid_t& child) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t ignored;
  sigemptyset(&ignored);
  sigaddset(&ignored, SIGPIPE);
  sigaddset(&ignored, SIGXFSZ);
  posix_spawnattr_setsigdefault(&attributes, &ignored);
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const int failure = ::posix_spawnp(&child, argv[0].c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (failure == 0) remember_child(child);
  return failure;
}

int exit_code_of_process(pid_t child) {
  // Until it is waited for its number is its own, so that nobody else is ended in its place.
  siginfo_t state{};
  while (::waitid(P_PID, static_cast<id_t>(child), &state, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  forget_child(child);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace dnn
