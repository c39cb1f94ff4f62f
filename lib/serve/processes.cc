// Parts that servers share; see processes.h.
#include "serve/processes.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace dnn::serve {

EndingSignals::EndingSignals() {
  sigset_t ending;
  sigemptyset(&ending);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigaddset(&ending, signal);
  ::pthread_sigmask(SIG_BLOCK, &ending, &before_);
  fd_ = ::signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd_ < 0) fail_environment("cannot wait for signals: ", std::strerror(errno));
}

EndingSignals::~EndingSignals() {
  ::close(fd_);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool EndingSignals::ends() const {
  bool ends = false;
  signalfd_siginfo info{};
  while (::read(fd_, &info, sizeof info) == sizeof info) ends = ends || info.ssi_signo != SIGCHLD;
  return ends;
}

bool begin_client_process(pid_t server) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != server) return false;
  sigset_t none;
  sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  return true;
}

void limit_memory(int64_t bytes, bool trusted) {
  const int64_t half = ::sysconf(_SC_PHYS_PAGES) / 2 * ::sysconf(_SC_PAGESIZE);
  if (!trusted && half > 0 && (bytes == 0 || bytes > half)) bytes = half;
  if (bytes == 0) return;
  const rlimit limit{static_cast<rlim_t>(bytes), static_cast<rlim_t>(bytes)};
  if (::setrlimit(RLIMIT_AS, &limit) != 0) fail_environment("cannot limit memory: ", std::strerror(errno));
}

}  // namespace dnn::serve
