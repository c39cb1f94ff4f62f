// Descriptors as a transport; see transport.h.
#include "base/transport.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace dnn {
namespace {

using Clock = std::chrono::steady_clock;

void set_blocking(int fd, bool blocking) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags >= 0) ::fcntl(fd, F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

}  // namespace

Clock::time_point moment_in(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 3'600'000));
}

FdTransport::FdTransport(int in, int out, std::string name, bool owns)
    : in_(in), out_(out), name_(std::move(name)), owns_(owns) {
  set_blocking(in_, false);
  set_blocking(out_, false);
}

FdTransport::~FdTransport() {
  if (!owns_) {
    set_blocking(in_, true);
    set_blocking(out_, true);
    return;
  }
  ::close(in_);
  if (out_ != in_) ::close(out_);
}

void FdTransport::limit(double seconds, const std::string& set_by) {
  limit_s_ = seconds;
  set_by_ = set_by;
  deadline_ = moment_in(seconds);
}

void FdTransport::wait_for(int fd, short events) {
  pollfd ready{fd, events, 0};
  while (true) {
    const int n = ::poll(&ready, 1, milliseconds_until(deadline_));
    if (n > 0) return;
    if (n < 0 && errno != EINTR) fail_environment(name_, ": cannot wait for it: ", std::strerror(errno));
    if (Clock::now() >= deadline_)
      fail_environment(name_, events == POLLIN ? ": nothing came within " : ": it takes nothing within ", limit_s_,
                       " s, the limit of ", set_by_);
  }
}

size_t FdTransport::read(std::byte* to, size_t n) {
  while (true) {
    const ssize_t got = ::read(in_, to, n);
    if (got >= 0) return got;
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      wait_for(in_, POLLIN);
    } else if (errno == ECONNRESET || errno == ETIMEDOUT || errno == EHOSTUNREACH) {
      return 0;  // the other side, or the way there, is gone
    } else if (errno != EINTR) {
      fail_environment(name_, ": cannot read: ", std::strerror(errno));
    }
  }
}

void FdTransport::write(Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t n = in_ == out_ ? ::send(out_, bytes.data(), bytes.size(), MSG_NOSIGNAL)
                                  : ::write(out_, bytes.data(), bytes.size());
    if (n >= 0) {
      bytes = bytes.subspan(n);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      wait_for(out_, POLLOUT);
    } else if (errno == EPIPE || errno == ECONNRESET || errno == ETIMEDOUT || errno == EHOSTUNREACH) {
      return;
    } else if (errno != EINTR) {
      fail_environment(name_, ": cannot write: ", std::strerror(errno));
    }
  }
}

}  // namespace dnn
