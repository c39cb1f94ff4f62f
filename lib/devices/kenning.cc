// Servers of Kenning; see kenning.h.
#include "devices/kenning.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json_text.h"
#include "remote/address.h"
#include "remote/kenning.h"
#include "stream/dialogue.h"

namespace dnn {
namespace {

namespace kenning = remote::kenning;
using KenningMessage = kenning::Message;
using kenning::Wire;
using OrderedJson = nlohmann::ordered_json;

constexpr std::string_view kPrefix = "kenning:", kSlashes = "//";
// Servers since 2025 send a byte at once, ours after a fifth of a second; those of 2021 wait for the client.
constexpr int kSniffMs = 1000;

struct Place {
  remote::Address address;
  std::optional<Wire> wire;
};

Place place_of(const std::string& index) {
  const std::string text = cat(kPrefix, index);
  std::string where = starts_with(index, kSlashes) ? index.substr(kSlashes.size()) : "";
  Place place;
  if (const size_t slash = where.find('/'); slash != std::string::npos) {
    const std::string wire = where.substr(slash + 1);
    if (wire != "2021" && wire != "2026" && !wire.empty())
      fail_usage("device ", text, ": write it as kenning://HOST:PORT, /2021 or /2026 behind it for one protocol");
    if (!wire.empty()) place.wire = wire == "2021" ? Wire::Seed : Wire::Header12;
    where.resize(slash);
  }
  place.address = remote::parse_host_port(where, cat("device ", text));
  place.address.text = text;
  return place;
}

// The description of tensors that a server gets: an entry for each, in the order in which their bytes cross.
OrderedJson entries(const Graph& graph, const std::vector<ValueId>& ids, const std::vector<Type>& types) {
  OrderedJson list = OrderedJson::array();
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!types[i].fixed()) fail_unsupported("a server of Kenning takes no tensor of open shape: give --shape");
    list.push_back({{"name", graph.value(ids[i]).name},
                    {"shape", types[i].fixed_shape()},
                    {"dtype", std::string(dtype_name(types[i].dtype))},
                    {"order", i}});
  }
  return list;
}

class KenningSession : public Session {
 public:
  KenningSession(std::shared_ptr<const Package> package, const std::string& index, const DeviceOptions& options)
      : Session(std::move(package)),
        place_(place_of(index)),
        name_(place_.address.text),
        wait_s_(stream::seconds_to_wait(options.variable ? options.variable(stream::kWaitVariable) : "")),
        transport_(remote::connect(place_.address, options.variable, remote::kConnectSeconds)),
        messages_(*transport_, *transport_, greet(), name_) {
    messages_.on_wait([this](bool) { transport_->limit(wait_s_, stream::kWaitVariable); });
    if (messages_.wire() == Wire::Header12) {  // that of 2021 has no such message
      const OrderedJson spec = {{"input", entries(graph(), graph().inputs, package_->input_types)},
                                {"output", entries(graph(), graph().outputs, package_->output_types)}};
      ask(kenning::kIoSpec, as_bytes(json_text(spec)), "the description of its tensors");
    }
    ask(kenning::kModel, as_bytes(read_file(options.model_file)), cat("the model ", options.model_file));
    // Before the first run, so that it is known what a latency will be. Kenning 0.8.2 measures no time of the device's own.
    if (messages_.wire() == Wire::Header12) device_time_ = times_there().has_value();
  }

  std::optional<int> opt() const override { return std::nullopt; }
  std::optional<int64_t> latency_ns() const override { return latency_ns_; }
  std::optional<int64_t> transport_ns() const override { return transport_ns_; }
  std::string latency_contains() const override {
    return device_time_ ? "the run on a batch in memory, as the server measured it (target_inference_step)"
                        : "protocol_inference_step, from the request to run to the answer that it is done: the server "
                          "says no time of its own";
  }
  std::map<std::string, std::string> facts() const override {
    return {{"server", messages_.wire() == Wire::Seed ? "Kenning, protocol of 2021" : "Kenning, protocol of 2026"}};
  }

  std::vector<Tensor> run(const std::vector<Tensor>& inputs) override {
    check_inputs(inputs);
    using Clock = std::chrono::steady_clock;
    const auto since = [](Clock::time_point start) {
      return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
    };
    std::vector<std::byte> bytes;
    for (const Tensor& input : inputs) {
      if (input.dtype() == DType::String) fail_unsupported(name_, ": texts do not go to a server of Kenning");
      bytes.insert(bytes.end(), input.bytes().begin(), input.bytes().end());
    }
    const Clock::time_point begin = Clock::now();
    ask(kenning::kData, bytes, "inputs");
    const Clock::time_point start = Clock::now();
    ask(kenning::kProcess, {}, "a run");
    if (messages_.wire() == Wire::Seed) answer(kenning::kProcess, "the end of a run");
    latency_ns_ = since(start);
    std::vector<Tensor> outputs = tensors(ask(kenning::kOutput, {}, "outputs"));
    const int64_t whole_ns = since(begin);
    if (device_time_) latency_ns_ = time_there().value_or(*latency_ns_);
    transport_ns_ = std::max<int64_t>(0, whole_ns - *latency_ns_);
    return outputs;
  }

  std::vector<Tensor> trace(const std::vector<Tensor>&, const Observer&) override {
    fail_unsupported(name_, ": a server of Kenning shows outputs, not the values between");
  }

 private:
  // The wire: the named one, or that of who speaks first.
  Wire greet() {
    auto& line = dynamic_cast<FdTransport&>(*transport_);
    pollfd speaks{line.in(), POLLIN, 0};
    const int limit_ms = place_.wire ? static_cast<int>(wait_s_ * 1000) : kSniffMs;
    if (place_.wire == Wire::Seed || ::poll(&speaks, 1, limit_ms) <= 0) {
      if (place_.wire == Wire::Header12) fail_environment(name_, ": it sends no greeting");
      return Wire::Seed;
    }
    std::byte hello{};
    line.limit(wait_s_, stream::kWaitVariable);
    if (line.read(&hello, 1) == 0)
      fail_environment(name_, ": closed the connection: a server of Kenning takes one client at a time");
    if (hello != std::byte{}) fail_malformed(name_, ": does not speak Kenning's protocol");
    return Wire::Header12;
  }

  Bytes ask(uint64_t type, Bytes payload, const std::string& what) {
    messages_.send(type, kenning::Flow::Request, 0, payload);
    return answer(type, what);
  }

  Bytes answer(uint64_t type, const std::string& what) {
    while (true) {
      const std::optional<KenningMessage> message = messages_.receive(remote::kMostAnswer);
      if (!message)
        fail_environment(name_, ": ", transport_->ending(), " where an answer to ", what, " is due", last_log());
      if (messages_.wire() == Wire::Seed) {
        if (message->type == kenning::kOk) return message->payload;
        if (message->type == kenning::kError) fail_unsupported(name_, ": refuses ", what);
        fail_malformed(name_, ": answers with a message of type ", message->type);
      }
      if (message->type == kenning::kLogs) {
        keep_log(message->payload);
        continue;
      }
      if ((message->flags & kenning::kFail) != 0) fail_unsupported(name_, ": refuses ", what, last_log());
      if (message->type != type || message->flow != kenning::Flow::Transmission ||
          (message->flags & kenning::kSuccess) == 0)
        fail_malformed(name_, ": answers a message of type ", type, " with one of type ", message->type);
      return message->payload;
    }
  }

  // Pieces of a line, each behind its length.
  void keep_log(Bytes payload) {
    log_.clear();
    while (!payload.empty()) {
      const size_t size = std::min(static_cast<size_t>(payload[0]), payload.size() - 1);
      log_ += as_text(payload.subspan(1, size));
      payload = payload.subspan(1 + size);
    }
  }
  std::string last_log() const { return log_.empty() ? "" : cat("; it says: ", log_); }

  std::vector<Tensor> tensors(Bytes payload) const {
    std::vector<Tensor> outputs;
    size_t wanted = 0;
    for (const Type& type : package_->output_types) {
      outputs.emplace_back(type.dtype, type.fixed_shape());
      wanted += outputs.back().size_bytes();
    }
    if (payload.size() != wanted)
      fail_malformed(name_, ": gives outputs of ", payload.size(), " bytes, the model's are ", wanted);
    for (Tensor& output : outputs) {
      const size_t size = output.size_bytes();
      if (size > 0) std::memcpy(output.mutable_bytes(), payload.data(), size);
      payload = payload.subspan(size);
    }
    return outputs;
  }

  // The list of the device's own times in the server's statistics; nullopt where they have none.
  std::optional<OrderedJson> times_there() {
    try {
      const Bytes statistics = ask(kenning::kStats, {}, "statistics");
      const OrderedJson json = parse_ordered_json(as_text(statistics));
      if (!json.is_object()) return std::nullopt;
      const auto found = json.find("target_inference_step");
      return found != json.end() && found->is_array() ? std::optional(*found) : std::nullopt;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Unsupported) throw;
      return std::nullopt;
    }
  }

  // The last run's. Where it is missing, it is not asked for again.
  std::optional<int64_t> time_there() {
    const std::optional<OrderedJson> times = times_there();
    constexpr double kMost = 1e6;
    const double seconds = times && !times->empty() && times->back().is_number() ? times->back().get<double>() : -1;
    device_time_ = seconds >= 0 && seconds < kMost;
    return device_time_ ? std::optional(static_cast<int64_t>(seconds * 1e9)) : std::nullopt;
  }

  const Place place_;
  const std::string name_;
  const double wait_s_;
  const std::unique_ptr<Transport> transport_;
  kenning::Messages messages_;
  std::string log_;
  bool device_time_ = true;  // as long as nothing shows that the server says none
  std::optional<int64_t> latency_ns_, transport_ns_;
};

}  // namespace

bool is_kenning(const std::string& device) {
  if (!starts_with(device, kPrefix)) return false;
  place_of(device.substr(kPrefix.size()));
  return true;
}

std::unique_ptr<Session> kenning_open(std::shared_ptr<const Package> package, const std::string& index,
                                      const DeviceOptions& options) {
  if (options.model_file.empty())
    fail_usage("device ", kPrefix, index, ": only dnn-infer runs models on servers of Kenning");
  return std::make_unique<KenningSession>(std::move(package), index, options);
}

std::vector<std::string> kenning_list(const DeviceOptions&) { return {}; }

}  // namespace dnn
