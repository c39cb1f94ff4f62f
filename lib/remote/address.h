// Addresses of a dnn-serve, "tcp://HOST:PORT/DEVICE", "unix:PATH/DEVICE", "ssh://USER@HOST:PORT/DEVICE", "adb://SERIAL/DEVICE",
// "serial:TTY:BAUD/DEVICE", and connecting to one.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/transport.h"

namespace dnn::remote {

struct Address {
  enum class Kind : uint8_t { Tcp, Unix, Ssh, Adb, Serial } kind = Kind::Tcp;
  std::string text;              // without the device
  std::string user, host, path;  // host: of adb the device's serial number; path: of a Unix socket or a serial line
  int port = 0;                  // 0: ssh's own
  int baud = 0;                  // of a serial line

  // True where the tool starts the dnn-serve over there itself, by a program of this machine.
  bool starts_server() const { return kind == Kind::Ssh || kind == Kind::Adb; }
};

// Nullopt for a text that is no address; `device` gets what stands behind the address ("cpu" where nothing does), which is told from
// a socket's path by `is_device`. Throws Usage for an address that is written wrongly.
std::optional<Address> parse_address(const std::string& text, const std::function<bool(const std::string&)>& is_device,
                                     std::string* device);
// Throws Usage where a key is given and none of these devices is behind an address: "C=cpu@0,D=tcp://board:7000/cpu" has one.
void check_key(const std::string& key, const std::string& devices);
// "HOST:PORT" or "[HOST]:PORT". Throws Usage.
Address parse_host_port(const std::string& text, const std::string& what);
// "TTY" or "TTY:BAUD".
Address parse_serial(const std::string& text);

// `variable` gives the environment's: DNN_SSH and DNN_ADB, the commands with their options, DNN_ADB_HOST, the machine whose adb server
// has the device, and DNN_SERVE, the dnn-serve over there. Throws Environment where nothing answers within so many seconds.
using Variable = std::function<std::string(const std::string&)>;
// The same, but for DNN_ADB_HOST, which is what --adb-host gives unless that is "".
Variable with_adb_host(Variable variable, const std::string& adb_host);
inline constexpr double kConnectSeconds = 10;               // what a client waits
inline constexpr uint64_t kMostAnswer = uint64_t{8} << 30;  // bytes of outputs that a client takes
std::unique_ptr<Transport> connect(const Address& address, const Variable& variable, double wait_s);

// A socket's other side, found by getaddrinfo: what listen and connect are given.
struct Endpoint {
  std::vector<std::byte> address;  // a sockaddr
  int family = 0;
  bool loopback = false;
};
std::vector<Endpoint> find_endpoints(const Address& address, bool to_listen);

// Sends what is written at once, and finds out within two minutes that the other machine is gone.
void prepare_socket(int socket);

}  // namespace dnn::remote
