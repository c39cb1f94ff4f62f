// Listening; see listen.h.
#include "serve/listen.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <list>

#include "remote/handshake.h"
#include "serve/processes.h"

namespace dnn::serve {
namespace {

class Children {
 public:
  ~Children() {
    if (mine_) end();
  }
  size_t count() {
    for (auto at = running_.begin(); at != running_.end();)
      at = ::waitpid(at->pid, nullptr, WNOHANG) == at->pid ? running_.erase(at) : std::next(at);
    return running_.size();
  }
  // `unproven` hangs up as soon as the client has shown that it may be here.
  void add(pid_t pid, Descriptor unproven) { running_.push_back({pid, std::move(unproven)}); }
  // Ends the one that has been waiting for longest for a client to show that; whether there was one.
  bool end_unproven() {
    for (auto at = running_.begin(); at != running_.end(); ++at) {
      pollfd hung_up{at->unproven.get(), 0, 0};
      if (::poll(&hung_up, 1, 0) != 0) continue;
      ::kill(at->pid, SIGKILL);
      ::waitpid(at->pid, nullptr, 0);
      running_.erase(at);
      return true;
    }
    return false;
  }
  // In a child, which has none.
  void forget() {
    running_.clear();
    mine_ = false;
  }

 private:
  void end() {
    constexpr int kGrace_ms = 3000, kStep_ms = 10;
    for (const Child& child : running_) ::kill(child.pid, SIGTERM);
    for (int waited = 0; count() > 0 && waited < kGrace_ms; waited += kStep_ms) ::usleep(kStep_ms * 1000);
    for (const Child& child : running_) {
      ::kill(child.pid, SIGKILL);
      ::waitpid(child.pid, nullptr, 0);
    }
  }

  struct Child {
    pid_t pid;
    Descriptor unproven;
  };
  std::list<Child> running_;  // in the order in which they came
  bool mine_ = true;
};

// A socket's file, which goes with the server that made it. One that nobody listens at any more is replaced.
class SocketFile {
 public:
  explicit SocketFile(const remote::Address& address) {
    if (address.kind != remote::Address::Kind::Unix) return;
    struct stat status {};
    if (::lstat(address.path.c_str(), &status) == 0) {
      if (!S_ISSOCK(status.st_mode)) fail_environment(address.path, ": is there already, and is no socket");
      const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      const remote::Endpoint at = remote::find_endpoints(address, false)[0];
      const auto* to = reinterpret_cast<const sockaddr*>(at.address.data());
      if (::connect(probe.get(), to, static_cast<socklen_t>(at.address.size())) == 0 || errno != ECONNREFUSED)
        fail_environment(address.path, ": another server listens there");
      ::unlink(address.path.c_str());
    }
    path_ = address.path;
  }
  ~SocketFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  SocketFile(const SocketFile&) = delete;
  SocketFile& operator=(const SocketFile&) = delete;
  void forget() { path_.clear(); }

 private:
  std::string path_;
};

Descriptor bound(const remote::Address& address, const remote::Endpoint& endpoint) {
  Descriptor fd(::socket(endpoint.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) fail_environment(address.text, ": cannot make a socket: ", std::strerror(errno));
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const mode_t mask = ::umask(0177);  // a socket's file is this user's alone
  const int failed = ::bind(fd.get(), reinterpret_cast<const sockaddr*>(endpoint.address.data()),
                            static_cast<socklen_t>(endpoint.address.size()));
  const int reason = errno;
  ::umask(mask);
  constexpr int kWaiting = 64;
  if (failed != 0) fail_environment(address.text, ": cannot listen: ", std::strerror(reason));
  if (::listen(fd.get(), kWaiting) != 0) fail_environment(address.text, ": cannot listen: ", std::strerror(errno));
  return fd;
}

// With the port that the system chose, where that was left to it.
std::string address_of(int fd, const remote::Address& address) {
  if (address.kind == remote::Address::Kind::Unix) return address.text;
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) != 0)
    fail_environment(address.text, ": ", std::strerror(errno));
  uint16_t port = 0;
  if (at.ss_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &at, sizeof v6);
    port = v6.sin6_port;
  } else {
    sockaddr_in v4{};
    std::memcpy(&v4, &at, sizeof v4);
    port = v4.sin_port;
  }
  return cat(address.text.substr(0, address.text.rfind(':')), ":", ntohs(port));
}

bool is_this_user(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

void turn_away(int fd, const Options& options, int clients) {
  if (options.protocol) {  // our refusal would not be understood
    ::close(fd);
    return;
  }
  FdTransport transport(fd, fd, "a client", true);
  remote::Frames frames(transport, transport, "a client");
  constexpr double kWait_s = 0.05;  // while others wait, too
  transport.limit(kWait_s, "a refusal");
  try {
    frames.send(remote::failure({ErrorKind::Environment, cat("serves ", clients, " clients already (--clients)")}));
    // Closed over bytes that nobody has read, TCP would take back what was sent.
    ::shutdown(fd, SHUT_WR);
    std::byte rest[4096];
    while (transport.read(rest, sizeof rest) > 0) {
    }
  } catch (const Error&) {  // it has gone
  }
}

// In the process of a client; what ends the connection ends it quietly.
void serve_alone(FdTransport& transport, const std::string& name, bool trusted, const Options& options) {
  try {
    limit_process(options.limits.memory_bytes, largest_file(options.limits), trusted);
    if (options.protocol) return options.protocol->serve(transport, name, trusted, options);
    serve_client(transport, name, trusted, options);
  } catch (const Error& error) {
    if (options.note) options.note(error.what());
  }
}

}  // namespace

void serve_standard(const Options& options) {
  const Descriptor out(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  if (out.get() < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    fail_environment("standard output: cannot be kept: ", std::strerror(errno));
  limit_process(options.limits.memory_bytes, largest_file(options.limits), true);
  FdTransport transport(STDIN_FILENO, out.get(), "the client", false);
  Options own = options;
  own.gone = [&out] { return is_hung_up(out.get(), false); };
  serve_client(transport, "the client", true, own);
}

void listen(const remote::Address& address, const Options& options,
            const std::function<void(const std::string&)>& ready) {
  const std::vector<remote::Endpoint> endpoints = remote::find_endpoints(address, true);
  const bool local = address.kind == remote::Address::Kind::Unix;
  if (!endpoints[0].loopback && options.protocol)
    fail_usage(address.text, ": other machines reach this address, and ", options.protocol->name,
               " knows no keys; listen on 127.0.0.1 and forward the port by ssh -L");
  if (!endpoints[0].loopback && options.key.empty())
    fail_usage(address.text, ": other machines reach this address, so give --key FILE");
  SocketFile file(address);
  Descriptor listener = bound(address, endpoints[0]);
  EndingSignals signals;
  Children children;
  ready(address_of(listener.get(), address));
  for (int64_t n = 1;;) {
    pollfd waits[] = {{listener.get(), POLLIN, 0}, {signals.fd(), POLLIN, 0}};
    if (::poll(waits, 2, -1) < 0 && errno != EINTR) fail_environment("cannot wait for clients: ", std::strerror(errno));
    if (signals.ends()) return;
    const size_t running = children.count();
    if ((waits[0].revents & POLLIN) == 0) continue;
    Descriptor socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (socket.get() < 0) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) ::usleep(10'000);
      continue;
    }
    if (running >= static_cast<size_t>(options.limits.clients) && !children.end_unproven()) {
      turn_away(socket.release(), options, options.limits.clients);
      continue;
    }
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) continue;
    Descriptor unproven(ends[0]), tells(ends[1]);
    const pid_t server = ::getpid(), child = ::fork();
    if (child < 0) {
      turn_away(socket.release(), options, static_cast<int>(running));
      continue;
    }
    if (child > 0) {
      children.add(child, std::move(unproven));
      ++n;
      continue;
    }
    children.forget();
    file.forget();
    if (!begin_client_process(server)) return;
    ::close(listener.release());
    remote::prepare_socket(socket.get());
    const bool trusted = local ? is_this_user(socket.get()) : !options.key.empty();
    const int fd = socket.release();
    FdTransport transport(fd, fd, cat("client ", n), true);
    Options own = options;
    own.proven = [&tells] { ::close(tells.release()); };
    own.gone = [fd] { return is_hung_up(fd, true); };
    return serve_alone(transport, cat("client ", n), trusted, own);
  }
}

}  // namespace dnn::serve
