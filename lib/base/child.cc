// A child process; see child.h.
#include "base/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/leftovers.h"
#include "base/spawn.h"

namespace dnn {
namespace {

using Clock = std::chrono::steady_clock;

// The last line that says something; of a child that says much, of the end of it.
std::string last_line_of(int fd) {
  constexpr off_t kMost = 1 << 16;
  const off_t size = ::lseek(fd, 0, SEEK_END);
  if (size <= 0) return "";
  std::string text(std::min(size, kMost), '\0');
  const ssize_t n = ::pread(fd, text.data(), text.size(), size - static_cast<off_t>(text.size()));
  text.resize(n < 0 ? 0 : static_cast<size_t>(n));
  std::string last;
  for (const std::string& line : split(text, '\n')) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  }
  constexpr size_t kLongest = 600;
  std::string plain;
  for (const char c : last.substr(0, kLongest)) {
    if (static_cast<unsigned char>(c) >= ' ') plain += c;
  }
  return plain;
}

constexpr int kFailed = 1;

// The whole life of a copy of this process. Its end runs no destructor and flushes no stream of the other's.
[[noreturn]] void work_in_copy(const std::function<std::string()>& work, Transport&& answer, int errors) {
  ::setpgid(0, 0);
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTERM, SIGINT, SIGHUP, SIGXCPU})
    ::signal(signal, SIG_DFL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::dup2(errors, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  int code = kFailed;
  try {
    const std::string text = work();
    constexpr double kLimit_s = 60;  // the other reads all the time
    answer.limit(kLimit_s, "writing the answer");
    answer.write(as_bytes(text));
    code = 0;
  } catch (const std::exception& error) {
    const std::string line = cat(error.what(), "\n");
    if (::write(errors, line.data(), line.size()) < 0) code = kFailed;
  }
  ::_exit(code);
}

}  // namespace

// A socket and no pipes: writing to one that nobody reads is then an error and no signal, whoever uses the library.
ChildProcess::ChildProcess(const std::vector<std::string>& argv, std::string name) : name_(std::move(name)) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    fail_environment(name_, ": cannot make a socket: ", std::strerror(errno));
  // Not a pipe, which would have to be emptied all the time.
  errors_ = ::memfd_create("stderr", MFD_CLOEXEC);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  if (errors_ >= 0) posix_spawn_file_actions_adddup2(&actions, errors_, 2);
  const int failure = start_process(argv, actions, pid_);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  socket_ = ends[0];
  if (failure == 0) {
    ::fcntl(socket_, F_SETFL, O_NONBLOCK);
    return;
  }
  ::close(socket_);
  if (errors_ >= 0) ::close(errors_);
  fail_environment(
      name_, ": cannot run ", argv[0], ": ", std::strerror(failure),
      failure == ENOENT && argv[0].find('/') == std::string::npos ? "; install it, or let PATH have its folder" : "");
}

ChildProcess::~ChildProcess() {
  end(0);
  if (errors_ >= 0) ::close(errors_);
}

void ChildProcess::limit(double seconds, const std::string& set_by) {
  limit_s_ = seconds;
  set_by_ = set_by;
  deadline_ = moment_in(seconds);
}

short ChildProcess::wait_for(short events) {
  pollfd ready{socket_, events, 0};
  while (true) {
    const int n = ::poll(&ready, 1, milliseconds_until(deadline_));
    if (n > 0) return ready.revents;
    if (n < 0 && errno != EINTR) fail_environment(name_, ": cannot wait for it: ", std::strerror(errno));
    if (Clock::now() >= deadline_)
      fail_environment(name_, ": no answer within ", limit_s_, " s, the limit of ", set_by_);
  }
}

size_t ChildProcess::read(std::byte* to, size_t n) {
  if (early_at_ < early_.size()) {
    n = std::min(n, early_.size() - early_at_);
    std::copy_n(early_.begin() + static_cast<std::ptrdiff_t>(early_at_), n, to);
    early_at_ += n;
    return n;
  }
  early_.clear();
  early_at_ = 0;
  while (socket_ >= 0) {
    wait_for(POLLIN);
    const ssize_t got = ::recv(socket_, to, n, 0);
    if (got >= 0) return got;
    if (errno == EINTR || errno == EAGAIN) continue;
    if (errno == ECONNRESET) {  // it ended without reading all; what it wrote is still there
      if (std::exchange(reset_, true)) return 0;
      continue;
    }
    fail_environment(name_, ": cannot read its answer: ", std::strerror(errno));
  }
  return 0;
}

void ChildProcess::keep_early() {
  std::byte buffer[4096];
  const ssize_t n = ::recv(socket_, buffer, sizeof buffer, 0);
  if (n > 0) early_.insert(early_.end(), buffer, buffer + n);
  silent_ = n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
}

void ChildProcess::write(Bytes bytes) {
  constexpr size_t kMostEarly = size_t{64} << 20;
  while (!bytes.empty() && socket_ >= 0) {
    const short ready =
        wait_for(static_cast<short>(silent_ || early_.size() >= kMostEarly ? POLLOUT : POLLOUT | POLLIN));
    if ((ready & POLLOUT) == 0 && (ready & POLLIN) != 0) {
      keep_early();
      continue;
    }
    const ssize_t n = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n >= 0) {
      bytes = bytes.subspan(n);
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return;
    } else if (errno != EINTR && errno != EAGAIN) {
      fail_environment(name_, ": cannot write to it: ", std::strerror(errno));
    }
  }
}

void ChildProcess::close_input() {
  if (socket_ >= 0) ::shutdown(socket_, SHUT_WR);
}

ChildProcess::End ChildProcess::end(double grace_s) {
  End result;
  if (pid_ < 0) return result;
  ::shutdown(socket_, SHUT_WR);
  const Clock::time_point deadline = moment_in(grace_s);
  // It has ended when nothing holds the other end any more; what it still says is dropped.
  char rest[4096];
  pollfd ready{socket_, POLLIN, 0};
  while (grace_s > 0 && Clock::now() < deadline) {
    if (::poll(&ready, 1, milliseconds_until(deadline)) <= 0) continue;
    const ssize_t n = ::recv(socket_, rest, sizeof rest, 0);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) break;
  }
  ::close(socket_);
  socket_ = -1;
  // A moment between closing its output and its end is no reason to kill it. Looked at and left: its number stays its own.
  siginfo_t state{};
  for (int i = 0; grace_s > 0 && i < 50 && state.si_pid == 0; ++i) {
    if (i > 0) ::usleep(10'000);
    if (::waitid(P_PID, static_cast<id_t>(pid_), &state, WEXITED | WNOHANG | WNOWAIT) != 0) break;
  }
  ::kill(-pid_, SIGKILL);  // its children too, where it left some
  result.exit_code = exit_code_of_process(pid_);
  pid_ = -1;
  if (errors_ >= 0) result.last_line = last_line_of(errors_);
  return result;
}

std::string ChildProcess::ending() {
  constexpr double kGrace_s = 2;
  return end(kGrace_s).text();
}

std::string ChildProcess::End::text() const {
  constexpr int kMostSignals = 64;  // ssh's own 255 is none
  std::string text = exit_code > 128 && exit_code <= 128 + kMostSignals
                         ? cat("was ended by signal ", exit_code - 128, " (", ::strsignal(exit_code - 128), ")")
                         : cat("ended with code ", exit_code);
  if (!last_line.empty()) text += ": " + last_line;
  return text;
}

std::string try_in_child(const std::string& name, double limit_s, const std::function<std::string()>& work) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    fail_environment(name, ": cannot make a socket: ", std::strerror(errno));
  const int errors = ::memfd_create("stderr", MFD_CLOEXEC);
  FdTransport here(ends[0], ends[0], name, true);
  const pid_t child = ::fork();
  if (child == 0) work_in_copy(work, FdTransport(ends[1], ends[1], name, true), errors);
  ::close(ends[1]);
  if (child < 0) {
    ::close(errors);
    fail_environment(name, ": no process for it: ", std::strerror(errno));
  }
  ::setpgid(child, child);  // here and there, as nobody knows who comes first
  remember_child(child);
  std::string answer;
  ChildProcess::End end;
  const auto finish = [&] {
    ::kill(-child, SIGKILL);  // one that closed its end has its exit code already; its children end too
    end.exit_code = exit_code_of_process(child);
    end.last_line = last_line_of(errors);
    ::close(errors);
  };
  try {
    here.limit(limit_s, "asking it");
    std::byte buffer[4096];
    while (const size_t n = here.read(buffer, sizeof buffer)) answer += as_text({buffer, n});
  } catch (const Error&) {
    finish();
    throw;
  }
  finish();
  if (end.exit_code == kFailed && !end.last_line.empty()) fail_environment(end.last_line);
  if (end.exit_code != 0) fail_environment(name, " ", end.text());
  return answer;
}

std::vector<std::string> words_of(const std::string& command, const std::string& what) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'') {
      if (++i == command.size()) fail_usage(what, ": nothing follows the last backslash");
      words.back() += command[i];
    } else {
      words.back() += c;
    }
  }
  if (quote != 0) fail_usage(what, ": a ", quote, " is not closed");
  if (words.empty() || words[0].empty()) fail_usage(what, ": no command given");
  return words;
}

}  // namespace dnn
