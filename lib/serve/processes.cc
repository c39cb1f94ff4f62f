// Parts that servers share; see processes.h.
#include "serve/processes.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/sanitized.h"

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

namespace {

// Below what the process has anyway no privilege is needed, above it none is asked for.
void lower(int resource, int64_t bytes, const char* what) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 ||
      limit.rlim_cur <= static_cast<rlim_t>(bytes))
    return;
  limit.rlim_cur = limit.rlim_max = static_cast<rlim_t>(bytes);
  if (::setrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0)
    fail_environment("cannot limit ", what, ": ", std::strerror(errno));
}

}  // namespace

void limit_process(int64_t memory_bytes, int64_t file_bytes, bool trusted) {
  const int64_t half = ::sysconf(_SC_PHYS_PAGES) / 2 * ::sysconf(_SC_PAGESIZE);
  if (!trusted && half > 0 && (memory_bytes == 0 || memory_bytes > half)) memory_bytes = half;
  if (memory_bytes > 0 && !kSanitized) lower(RLIMIT_AS, memory_bytes, "memory");
  ::signal(SIGXFSZ, SIG_IGN);  // writing then fails, and says why
  lower(RLIMIT_FSIZE, file_bytes, "files");
  lower(RLIMIT_CORE, 0, "core files");
}

bool is_hung_up(int fd, bool half) {
  pollfd state{fd, static_cast<short>(half ? POLLRDHUP : 0), 0};
  return ::poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR | POLLNVAL | POLLRDHUP)) != 0;
}

}  // namespace dnn::serve
