// The loopback device: the interpreter behind a pair of sockets, which a thread of this process answers. It is the least that a device
// over a transport needs: messages of tensors there, messages of tensors back.
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "base/transport.h"
#include "devices/device.h"
#include "remote/tensors.h"

namespace dnn {
namespace {

constexpr uint64_t kMostPayload = uint64_t{1} << 32;
constexpr double kMostSeconds = 86400;  // of one run, or between two

// Answers until the other side closes.
void answer_loopback(const Graph& graph, int socket) {
  FdTransport transport(socket, socket, "loopback", true);
  remote::Frames frames(transport, transport, "loopback");
  frames.on_wait([&](bool) { transport.limit(kMostSeconds, "loopback"); });
  while (const auto message = frames.receive(kMostPayload)) {
    std::vector<Tensor> outputs;
    try {
      outputs = interpret(graph, remote::tensors_of(message->map.at("tensors"), message->payload));
    } catch (const Error& error) {
      frames.send({{"error", error.what()}});
      continue;
    }
    frames.send({{"tensors", remote::types_of(outputs)}}, remote::bytes_of(outputs));
  }
}

class LoopbackSession : public Session {
 public:
  explicit LoopbackSession(std::shared_ptr<const Package> package) : Session(std::move(package)) {
    int sockets[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
      fail_environment("loopback: no pair of sockets: ", std::strerror(errno));
    transport_ = std::make_unique<FdTransport>(sockets[0], sockets[0], "loopback", true);
    frames_ = std::make_unique<remote::Frames>(*transport_, *transport_, "loopback");
    frames_->on_wait([this](bool) { transport_->limit(kMostSeconds, "loopback"); });
    server_ = std::thread([graph = variant_->graph, socket = sockets[1]] { answer_loopback(*graph, socket); });
  }
  ~LoopbackSession() override {
    frames_.reset();
    transport_.reset();
    server_.join();
  }
  std::string isa() const override { return "reference"; }
  int threads() const override { return 1; }
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) override {
    check_inputs(inputs);
    frames_->send({{"tensors", remote::types_of(inputs)}}, remote::bytes_of(inputs));
    const auto message = frames_->receive(kMostPayload);
    if (!message) fail_environment("loopback: ", transport_->ending());
    if (message->map.contains("error")) fail_unsupported(message->map.at("error").get<std::string>());
    return remote::tensors_of(message->map.at("tensors"), message->payload);
  }
  std::vector<Tensor> trace(const std::vector<Tensor>&, const Observer&) override {
    fail_unsupported("loopback: no value of a run is shown");
  }

 private:
  std::unique_ptr<FdTransport> transport_;
  std::unique_ptr<remote::Frames> frames_;
  std::thread server_;
};

}  // namespace

std::unique_ptr<Session> loopback_open(std::shared_ptr<const Package> package, const std::string&,
                                       const DeviceOptions&) {
  return std::make_unique<LoopbackSession>(std::move(package));
}

std::vector<std::string> loopback_list(const DeviceOptions&) {
  return {"loopback\tthe interpreter behind a pair of sockets"};
}

}  // namespace dnn
