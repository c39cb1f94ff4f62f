// Addresses, and connecting to them; see address.h.
#include "remote/address.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/child.h"
#include "remote/serial.h"

namespace dnn::remote {
namespace {

constexpr std::string_view kTcp = "tcp://", kSsh = "ssh://", kAdb = "adb://", kUnix = "unix:", kSerial = "serial:";
// The folder of Android whose programs its shell may run; it is no home and sets none.
constexpr const char* kAdbServe = "/data/local/tmp/dnn-tools/dnn-serve-target --store /data/local/tmp/dnn-tools/served";
constexpr const char* kAdbPort = "5037";  // of adb's server, as adb has it

// What ssh and the resolver take for a host or user, and for nothing else: no option, no command.
bool plain_name(const std::string& name) {
  return !name.empty() && name[0] != '-' && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == ':' || c == '%';
  });
}

// A socket that connects within so many seconds, or why not.
int connected(const Endpoint& endpoint, double wait_s, std::string* why) {
  const int fd = ::socket(endpoint.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) {
    *why = std::strerror(errno);
    return -1;
  }
  const auto* address = reinterpret_cast<const sockaddr*>(endpoint.address.data());
  int error = 0;
  if (::connect(fd, address, static_cast<socklen_t>(endpoint.address.size())) != 0) {
    error = errno;
    if (error == EINPROGRESS) {
      pollfd ready{fd, POLLOUT, 0};
      const auto deadline = moment_in(wait_s);
      int n = 0;
      while ((n = ::poll(&ready, 1, milliseconds_until(deadline))) < 0 && errno == EINTR) {
      }
      socklen_t size = sizeof error;
      if (n <= 0) {
        error = ETIMEDOUT;
      } else {
        ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
      }
    }
  }
  if (error == 0) return fd;
  *why = error == ETIMEDOUT ? cat("no answer within ", wait_s, " s") : std::strerror(error);
  ::close(fd);
  return -1;
}

// What starts the dnn-serve over there.
std::vector<std::string> command_of(const Address& address, const Variable& variable) {
  const auto given = [&](const char* name, const char* otherwise) {
    const std::string text = variable ? variable(name) : "";
    return words_of(text.empty() ? otherwise : text, name);
  };
  const bool adb = address.kind == Address::Kind::Adb;
  std::vector<std::string> command = adb ? given("DNN_ADB", "adb") : given("DNN_SSH", "ssh");
  if (adb) {
    if (const std::string server = variable ? variable("DNN_ADB_HOST") : ""; !server.empty()) {
      const bool has_port = server.find(':') != std::string::npos;
      const Address at = parse_host_port(has_port ? server : cat(server, ":", kAdbPort), cat("--adb-host ", server));
      command.insert(command.end(), {"-H", at.host, "-P", std::to_string(at.port)});
    }
    // Without a terminal, which would change bytes.
    command.insert(command.end(), {"-s", address.host, "shell", "-T"});
  } else {
    if (address.port != 0) command.insert(command.end(), {"-p", std::to_string(address.port)});
    command.push_back(address.user.empty() ? address.host : cat(address.user, "@", address.host));
  }
  for (const std::string& word : given("DNN_SERVE", adb ? kAdbServe : "dnn-serve")) command.push_back(word);
  command.emplace_back("--stdio");
  return command;
}

}  // namespace

Variable with_adb_host(Variable variable, const std::string& adb_host) {
  if (adb_host.empty()) return variable;
  return [variable = std::move(variable), adb_host](const std::string& name) {
    return name == "DNN_ADB_HOST" ? adb_host : variable ? variable(name) : "";
  };
}

Address parse_host_port(const std::string& text, const std::string& what) {
  Address address;
  const size_t colon = text.rfind(':');
  int64_t port = -1;
  if (colon != std::string::npos) {
    address.host = text.substr(0, colon);
    if (!parse_int(text.substr(colon + 1), &port)) port = -1;
  }
  if (address.host.size() > 2 && address.host.front() == '[' && address.host.back() == ']')
    address.host = address.host.substr(1, address.host.size() - 2);
  if (port < 0 || port > 65535 || !plain_name(address.host))
    fail_usage(what, ": write it as HOST:PORT, a port from 0 to 65535");
  address.port = static_cast<int>(port);
  address.text = cat(kTcp, text);
  return address;
}

void check_key(const std::string& key, const std::string& devices) {
  const auto kinds = {kTcp, kSsh, kAdb, kUnix, kSerial};
  if (!key.empty() && std::none_of(kinds.begin(), kinds.end(),
                                   [&](std::string_view kind) { return devices.find(kind) != devices.npos; }))
    fail_usage("--key is for a device tcp://HOST:PORT/cpu, not ", devices);
}

Address parse_serial(const std::string& text) {
  Address address;
  address.kind = Address::Kind::Serial;
  address.path = text;
  address.baud = kSerialBaud;
  int64_t baud = 0;
  const size_t colon = text.rfind(':');
  if (colon != std::string::npos && parse_int(text.substr(colon + 1), &baud)) {
    if (baud < 1 || baud > INT32_MAX) fail_usage("serial line ", text, ": write it as TTY:BAUD");
    address.baud = static_cast<int>(baud);
    address.path.resize(colon);
  }
  if (address.path.empty()) fail_usage("serial line ", text, ": write it as TTY or TTY:BAUD");
  address.text = cat(kSerial, text);
  return address;
}

namespace {

// What stands behind the last slash of a path, where it is a device: taken off the path.
void take_device(std::string* path, const std::function<bool(const std::string&)>& is_device, std::string* device) {
  const size_t slash = path->rfind('/');
  if (slash == std::string::npos || !is_device(path->substr(slash + 1))) return;
  *device = path->substr(slash + 1);
  path->resize(slash);
}

}  // namespace

std::optional<Address> parse_address(const std::string& text, const std::function<bool(const std::string&)>& is_device,
                                     std::string* device) {
  Address address;
  if (starts_with(text, kUnix)) {
    *device = "cpu";
    address.kind = Address::Kind::Unix;
    address.path = text.substr(kUnix.size());
    take_device(&address.path, is_device, device);
    if (address.path.empty() || address.path.size() >= sizeof(sockaddr_un::sun_path))
      fail_usage("device ", text, ": write it as unix:PATH/DEVICE, a path of 1 to ", sizeof(sockaddr_un::sun_path) - 1,
                 " bytes");
    address.text = cat(kUnix, address.path);
    return address;
  }
  if (starts_with(text, kSerial)) {
    *device = "cpu";
    std::string line = text.substr(kSerial.size());
    take_device(&line, is_device, device);
    return parse_serial(line);
  }
  const bool tcp = starts_with(text, kTcp), adb = starts_with(text, kAdb);
  if (!tcp && !adb && !starts_with(text, kSsh)) return std::nullopt;
  *device = "cpu";
  std::string where = text.substr(kTcp.size());
  if (const size_t slash = where.find('/'); slash != std::string::npos) {
    if (slash + 1 < where.size()) *device = where.substr(slash + 1);
    where.resize(slash);
  }
  if (tcp) return parse_host_port(where, cat("device ", text));
  if (adb) {
    address.kind = Address::Kind::Adb;
    address.text = cat(kAdb, where);
    address.host = where;
    if (!plain_name(where)) fail_usage("device ", text, ": write it as adb://SERIAL/DEVICE, a serial of adb devices");
    return address;
  }
  address.kind = Address::Kind::Ssh;
  address.text = cat(kSsh, where);
  if (const size_t at = where.find('@'); at != std::string::npos) {
    address.user = where.substr(0, at);
    where = where.substr(at + 1);
  }
  int64_t port = 0;
  if (const size_t colon = where.find(':'); colon != std::string::npos) {
    if (!parse_int(where.substr(colon + 1), &port)) port = -1;
    where.resize(colon);
  }
  if (!plain_name(where) || port < 0 || port > 65535 ||
      (address.text.find('@') != std::string::npos && !plain_name(address.user)))
    fail_usage("device ", text, ": write it as ssh://USER@HOST:PORT/DEVICE");
  address.host = where;
  address.port = static_cast<int>(port);
  return address;
}

std::vector<Endpoint> find_endpoints(const Address& address, bool to_listen) {
  std::vector<Endpoint> endpoints;
  if (address.kind == Address::Kind::Unix) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::copy(address.path.begin(), address.path.end(), at.sun_path);
    const auto* bytes = reinterpret_cast<const std::byte*>(&at);
    endpoints.push_back({{bytes, bytes + sizeof at}, AF_UNIX, true});
    return endpoints;
  }
#ifdef DNN_STATIC
  // Names are looked up by libraries of the system, which a static program has not.
  const std::string& host = address.host == "localhost" ? std::string("127.0.0.1") : address.host;
  (void)to_listen;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(static_cast<uint16_t>(address.port));
    const auto* bytes = reinterpret_cast<const std::byte*>(&v4);
    endpoints.push_back({{bytes, bytes + sizeof v4}, AF_INET, (ntohl(v4.sin_addr.s_addr) >> 24) == 127});
  } else if (::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(static_cast<uint16_t>(address.port));
    const auto* bytes = reinterpret_cast<const std::byte*>(&v6);
    endpoints.push_back({{bytes, bytes + sizeof v6}, AF_INET6, IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr) != 0});
  } else {
    fail_usage(address.text, ": a static program looks no names up: give the address in numbers");
  }
#else
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (to_listen) hints.ai_flags = AI_PASSIVE;
  const int failure = ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (failure != 0) fail_environment(address.text, ": ", ::gai_strerror(failure));
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    const auto* bytes = reinterpret_cast<const std::byte*>(at->ai_addr);
    Endpoint endpoint{{bytes, bytes + at->ai_addrlen}, at->ai_family, false};
    if (at->ai_family == AF_INET) {
      sockaddr_in v4{};
      std::memcpy(&v4, bytes, sizeof v4);
      endpoint.loopback = (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
    } else if (at->ai_family == AF_INET6) {
      sockaddr_in6 v6{};
      std::memcpy(&v6, bytes, sizeof v6);
      endpoint.loopback = IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
    } else {
      continue;
    }
    endpoints.push_back(std::move(endpoint));
  }
  ::freeaddrinfo(found);
  if (endpoints.empty()) fail_environment(address.text, ": has no address");
#endif
  return endpoints;
}

namespace {

// A socket's file may lie where others made it: what listens there gets the model, and its answers are believed.
void check_server(int socket, const std::string& name) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == ::geteuid() || peer.uid == 0))
    return;
  fail_environment(name, ": user ", peer.uid, " serves there, not you: start a dnn-serve of your own");
}

}  // namespace

void prepare_socket(int socket) {
  constexpr int kIdle_s = 60, kEvery_s = 10, kProbes = 6;
  const auto set = [&](int level, int option, int value) { ::setsockopt(socket, level, option, &value, sizeof value); };
  // Of a Unix socket these are refused, which needs none.
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kIdle_s);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kEvery_s);
  set(IPPROTO_TCP, TCP_KEEPCNT, kProbes);
}

std::unique_ptr<Transport> connect(const Address& address, const Variable& variable, double wait_s) {
  if (address.starts_server()) return std::make_unique<ChildProcess>(command_of(address, variable), address.text);
  if (address.kind == Address::Kind::Serial) {
    auto line = std::make_unique<SerialTransport>(address.path, address.baud);
    begin_talk(*line, address.text);
    return line;
  }
  std::string why;
  for (const Endpoint& endpoint : find_endpoints(address, false)) {
    const int fd = connected(endpoint, wait_s, &why);
    if (fd < 0) continue;
    prepare_socket(fd);
    auto transport = std::make_unique<FdTransport>(fd, fd, address.text, true);
    if (address.kind == Address::Kind::Unix) check_server(fd, address.text);
    return transport;
  }
  fail_environment(address.text, ": cannot connect: ", why, " (is dnn-serve running there?)");
}

}  // namespace dnn::remote
