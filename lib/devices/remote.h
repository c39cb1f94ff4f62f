// Devices of other machines: a dnn-serve over there runs the package on one of its own. docs/reference/serve.md has the protocol.
//
// One connection serves all sessions of a DeviceSpec and its copies. A package crosses it once for each machine: it is named by its
// SHA-256, and the server keeps it.
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
  // Connects, and asks for the facts that matter to the device. Throws Environment, Usage.
  RemoteHost(const remote::Address& address, const std::string& device, const DeviceOptions& options);

  const RemoteFacts& facts() const { return facts_; }
  const std::string& name() const { return address_.text; }

  // An exchange, of as many answers as there are until `last` says of one that it is; other threads wait meanwhile. Throws what the
  // server says went wrong.
  using Last = std::function<bool(const remote::Message& answer)>;
  void ask(const stream::Json& map, const std::vector<Bytes>& payload, uint64_t most_payload, const Last& last);
  stream::Json ask(const stream::Json& map);

  // Sees to it that the server has the package; its SHA-256.
  std::string give(const Package& package);
  // Lines "device<tab>description" of what is there.
  std::vector<std::string> list();

 private:
  remote::Message next(uint64_t most_payload);

  const remote::Address address_;
  const double wait_s_;
  std::unique_ptr<Transport> transport_;
  remote::Frames frames_;
  RemoteFacts facts_;
  std::mutex mutex_;
};

// Of names of values and steps: what traces and profiles of the two sides speak of by number is the same where this is.
std::string plan_digest(const Variant& variant);

// A session on `device`, of the machine that `host` leads to.
std::unique_ptr<Session> open_remote(std::shared_ptr<RemoteHost> host, const std::string& device,
                                     std::shared_ptr<const Package> package, const DeviceOptions& options);

}  // namespace dnn
