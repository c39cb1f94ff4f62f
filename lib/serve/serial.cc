// Serving a serial line; see serial.h.
#include "serve/serial.h"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "remote/serial.h"
#include "serve/processes.h"

namespace dnn::serve {
namespace {

// The process of a client, which ends with this.
class Talk {
 public:
  explicit Talk(pid_t pid) : pid_(pid) {}
  ~Talk() {
    if (pid_ < 0) return;
    constexpr int kGrace_ms = 3000, kStep_ms = 10;
    ::kill(pid_, SIGTERM);
    for (int waited = 0; waited < kGrace_ms && !has_ended(); waited += kStep_ms) ::usleep(kStep_ms * 1000);
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Talk(const Talk&) = delete;
  Talk& operator=(const Talk&) = delete;
  bool has_ended() {
    if (pid_ >= 0 && ::waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = -1;
    return pid_ < 0;
  }
  bool was_killed() const { return WIFSIGNALED(status_); }

 private:
  pid_t pid_;
  int status_ = 0;
};

void serve_talk(remote::SerialTransport& line, const Options& options) {
  constexpr double kYear = 3e7;
  Options own = options;
  own.limits.frame_s = std::min(own.limits.frame_s, remote::kTalkSilence);
  try {
    limit_process(options.limits.memory_bytes, largest_file(options.limits), true);
    line.limit(kYear, "a call");
    if (options.protocol) return options.protocol->serve(line, "the client", true, own);
    remote::await_talk(line, line);
    serve_client(line, "the client", true, own);
  } catch (const Error& error) {
    if (options.note) options.note(error.what());
  }
}

}  // namespace

void serve_serial(const remote::Address& address, const Options& options,
                  const std::function<void(const std::string&)>& ready) {
  remote::SerialTransport line(address.path, address.baud);
  const EndingSignals signals;
  ready(address.text);
  while (true) {
    const pid_t server = ::getpid(), child = ::fork();
    if (child < 0) fail_environment("no process for a client: ", std::strerror(errno));
    if (child == 0) {
      if (begin_client_process(server)) serve_talk(line, options);
      return;
    }
    Talk talk(child);
    while (!talk.has_ended()) {
      pollfd wait{signals.fd(), POLLIN, 0};
      if (::poll(&wait, 1, -1) < 0 && errno != EINTR) fail_environment("cannot wait: ", std::strerror(errno));
      if (signals.ends()) return;
    }
    if (line.hung_up()) fail_environment(address.text, ": the line is hung up");
    if (talk.was_killed() && !options.protocol) {
      // The client waits for an answer: it gets one that is no frame.
      line.limit(1, "a last word");
      try {
        line.write(as_bytes("dnn-serve: the process that served this line has ended\n"));
      } catch (const Error&) {  // nobody listens
      }
    }
    constexpr int kPause_us = 20'000;  // so that a line that fails at once does not keep a processor busy
    ::usleep(kPause_us);
  }
}

}  // namespace dnn::serve
