// Devices of other machines: a dnn-serve over there runs the package on one of its own. docs/reference/serve.md has the protocol.
//
// One connection serves all sessions of a DeviceSpec and its copies. A package crosses it once for each machine: it is named by its
// SHA-256, and the server keeps it. A connection that ends is made again, and what was not answered is asked again: a run is a function
// of its inputs.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "devices/device.h"
#include "remote/address.h"
#include "remote/frame.h"
#include "stream/records.h"

namespace dnn {

// What the machine over there is.
struct RemoteFacts {
  std::string version;  // of dnn-tools
  std::vector<std::string> isas;
  std::string processor;   // its kind, a row of target/processors.def
  bool gpu = false;        // the device asked for computes on one
  bool runs_code = false;  // of this client; else it compiles the package's model anew
  stream::Header machine;  // what a run's header says of it
};

class RemoteHost {
 public:
  // Connects, by remote::connect() unless there is another way, and asks for the facts that matter to the device. Throws Environment,
  // Usage.
  using Way = std::function<std::unique_ptr<Transport>()>;
  RemoteHost(const remote::Address& address, const std::string& device, const DeviceOptions& options, Way way = {});
  ~RemoteHost();

  const RemoteFacts& facts() const { return facts_; }
  const std::string& name() const { return address_.text; }

  // An exchange, of as many answers as there are until `last` says of one that it is; other threads wait meanwhile. Throws what the
  // server says went wrong, and remote::ConnectionEnded.
  using Last = std::function<bool(const remote::Message& answer)>;
  void ask(const stream::Json& map, const std::vector<Bytes>& payload, uint64_t most_payload, const Last& last);
  stream::Json ask(const stream::Json& map);

  // Does `work`, and does it again over another connection where the one that it used has ended. Throws what `work` throws, and
  // Environment where there is no other connection to the same machine.
  void insist(const std::function<void()>& work);
  // Counts connections. What the server holds for a client, its sessions, goes with one.
  int64_t connection() const;
  // From now on the end of the connection is the end of what insist() does: the server holds what could not be had again.
  void stay() { stays_ = true; }

  // Sees to it that the server has the package; its SHA-256.
  std::string give(const Package& package);
  // Lines "device<tab>description" of what is there.
  std::vector<std::string> list();

 private:
  struct Connection;
  stream::Json connect();
  stream::Json first_connect();
  void reconnect(int64_t ended, const Error& why);
  void exchange(const stream::Json& map, const std::vector<Bytes>& payload, uint64_t most_payload, const Last& last);
  remote::Message next(uint64_t most_payload);
  remote::Frames& frames();

  const remote::Address address_;
  const std::string device_;
  const DeviceOptions options_;
  const Way way_;
  const double wait_s_;
  std::unique_ptr<Connection> connection_;
  int64_t number_ = 0;
  bool stays_ = false;
  RemoteFacts facts_;
  mutable std::mutex mutex_;
};

// Of names of values and steps: what traces and profiles of the two sides speak of by number is the same where this is.
std::string plan_digest(const Variant& variant);

// A session on `device`, of the machine that `host` leads to.
std::unique_ptr<Session> open_remote(std::shared_ptr<RemoteHost> host, const std::string& device,
                                     std::shared_ptr<const Package> package, const DeviceOptions& options);

}  // namespace dnn
