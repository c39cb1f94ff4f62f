// Devices of other machines; see remote.h.
#include "devices/remote.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/sha256.h"
#include "base/threads.h"
#include "package/file.h"
#include "remote/handshake.h"
#include "remote/tensors.h"
#include "stream/dialogue.h"

namespace dnn {
namespace {

using remote::Message;
using remote::number_of;
using remote::text_of;
using stream::Json;

constexpr double kConnectSeconds = 10;
constexpr uint64_t kMostAnswer = uint64_t{8} << 30;  // bytes of outputs

std::string key_of(const DeviceOptions& options) {
  if (options.key_file.empty()) return "";
  std::error_code ignored;
  if (!std::filesystem::exists(options.key_file, ignored))
    fail_environment(options.key_file, ": there is no such key; copy the file that dnn-serve --key made");
  return load_or_make_key(options.key_file).secret;
}

class HashSink : public ByteSink {
 public:
  void write(Bytes bytes) override {
    hash_.add(bytes);
    size_ += bytes.size();
  }
  uint64_t size() const { return size_; }
  std::string hex() { return hash_.hex(); }

 private:
  Sha256Stream hash_;
  uint64_t size_ = 0;
};

// What is written, but for the bytes before `skip`, as messages of one frame each.
class UploadSink : public ByteSink {
 public:
  UploadSink(remote::Frames& frames, uint64_t skip) : frames_(frames), skip_(skip) {}
  void write(Bytes bytes) override {
    const auto skipped = static_cast<size_t>(std::min<uint64_t>(skip_, bytes.size()));
    skip_ -= skipped;
    bytes = bytes.subspan(skipped);
    while (!bytes.empty()) {
      if (waiting_.empty() && bytes.size() >= remote::kMaxFramePayload) {
        send(bytes.first(remote::kMaxFramePayload));
        bytes = bytes.subspan(remote::kMaxFramePayload);
        continue;
      }
      const size_t n = std::min(bytes.size(), remote::kMaxFramePayload - waiting_.size());
      waiting_.insert(waiting_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
      bytes = bytes.subspan(n);
      if (waiting_.size() == remote::kMaxFramePayload) flush();
    }
  }
  void flush() {
    if (!waiting_.empty()) send(waiting_);
    waiting_.clear();
  }

 private:
  void send(Bytes part) { frames_.send({{"op", "data"}}, {part}); }

  remote::Frames& frames_;
  uint64_t skip_;
  std::vector<std::byte> waiting_;
};

}  // namespace

RemoteHost::RemoteHost(const remote::Address& address, const std::string& device, const DeviceOptions& options)
    : address_(address),
      wait_s_(stream::seconds_to_wait(options.variable ? options.variable(stream::kWaitVariable) : "")),
      transport_(remote::connect(address, options.variable, kConnectSeconds)),
      frames_(*transport_, *transport_, address.text) {
  frames_.on_wait([this](bool) { transport_->limit(wait_s_, stream::kWaitVariable); });
  const std::string key = key_of(options);
  try {
    remote::greet_server(frames_, key, address_.text);
  } catch (const Error& error) {
    // An ssh that fails, or a program that is no dnn-serve, says why on its standard error.
    if (error.kind() != ErrorKind::Environment && error.kind() != ErrorKind::Malformed) throw;
    if (address_.kind != remote::Address::Kind::Ssh) throw;
    fail_environment(error.what(), "; its process ", transport_->ending());
  }
  Json facts;
  try {
    facts = ask({{"op", "facts"}, {"device", device}});
  } catch (const Error& error) {
    if (key.empty() || error.kind() != ErrorKind::Malformed) throw;
    fail_environment(error.what(), ": the key of ", options.key_file, " is not that of the server");
  }
  facts_.version = text_of(facts, "version");
  facts_.processor = text_of(facts, "processor");
  if (const auto isas = facts.find("isas"); isas != facts.end() && isas->is_array()) {
    for (const Json& isa : *isas) {
      if (isa.is_string()) facts_.isas.push_back(isa.get<std::string>());
    }
  }
  const auto gpu = facts.find("on_gpu");
  facts_.gpu = gpu != facts.end() && gpu->is_boolean() && gpu->get<bool>();
  const auto runs_code = facts.find("runs_code");
  facts_.runs_code = runs_code != facts.end() && runs_code->is_boolean() && runs_code->get<bool>();
  const std::optional<stream::Record> machine = stream::record_from_json(text_of(facts, "machine"));
  const auto* header = machine ? std::get_if<stream::Header>(&*machine) : nullptr;
  if (header == nullptr) fail_malformed(address_.text, ": does not say what machine it is");
  facts_.machine = *header;
}

Message RemoteHost::next(uint64_t most_payload) {
  std::optional<Message> answer = frames_.receive(most_payload);
  if (!answer) fail_environment(address_.text, ": ", transport_->ending());
  remote::throw_failure(answer->map, address_.text);
  return std::move(*answer);
}

void RemoteHost::ask(const Json& map, const std::vector<Bytes>& payload, uint64_t most_payload, const Last& last) {
  const std::lock_guard lock(mutex_);
  frames_.send(map, payload);
  while (!last(next(most_payload))) {
  }
}

Json RemoteHost::ask(const Json& map) {
  Json result;
  ask(map, {}, 0, [&](const Message& answer) {
    result = answer.map;
    return true;
  });
  return result;
}

std::string RemoteHost::give(const Package& package) {
  Package named = package;  // a path is nothing to the other machine
  named.info.model_path = std::filesystem::path(package.info.model_path).filename().string();
  // Weights cross once: as kernels read them, and the model's only to whoever compiles it anew.
  named.source = facts_.runs_code ? package.source.without_constants() : SourceGraph(package.source.graph());
  HashSink hash;
  write_package(named, hash, {});
  std::string sha256 = hash.hex();
  const auto size = static_cast<int64_t>(hash.size());
  const Json have = ask({{"op", "have"}, {"sha256", sha256}, {"bytes", size}});
  const int64_t at = number_of(have, "at", 0, size);
  if (at == size) return sha256;
  const std::lock_guard lock(mutex_);
  frames_.send({{"op", "put"}, {"at", at}});
  UploadSink upload(frames_, static_cast<uint64_t>(at));
  write_package(named, upload, {});
  upload.flush();
  next(0);
  return sha256;
}

std::vector<std::string> RemoteHost::list() {
  std::vector<std::string> lines;
  const Json answer = ask({{"op", "list"}});
  if (const auto found = answer.find("devices"); found != answer.end() && found->is_array()) {
    for (const Json& line : *found) {
      if (line.is_string()) lines.push_back(line.get<std::string>());
    }
  }
  return lines;
}

namespace {

class RemoteSession : public Session {
 public:
  RemoteSession(std::shared_ptr<RemoteHost> host, const std::string& device, std::shared_ptr<const Package> package,
                const DeviceOptions& options)
      : Session(std::move(package)), host_(std::move(host)) {
    const Json opened = host_->ask({{"op", "open"},
                                    {"sha256", host_->give(*package_)},
                                    {"device", device},
                                    {"isa", options.isa},
                                    {"threads", options.threads}});
    id_ = number_of(opened, "session", 0, INT32_MAX);
    isa_ = text_of(opened, "isa");
    threads_ = static_cast<int>(number_of(opened, "threads", 1, 1 << 20));
    const std::string plan = text_of(opened, "plan");
    for (const Variant& variant : package_->variants) {
      if (same_plan_ || plan_digest(variant) != plan) continue;
      variant_ = &variant;
      same_plan_ = true;
    }
    facts_["server"] = cat("dnn-serve ", host_->facts().version);
    if (const auto facts = opened.find("facts"); facts != opened.end() && facts->is_object()) {
      for (const auto& [key, value] : facts->items()) {
        if (value.is_string()) facts_[key] = value.get<std::string>();
      }
    }
    if (!same_plan_) facts_["compiled"] = "by the server anew: it does not take code of this connection";
  }
  ~RemoteSession() override {
    try {
      host_->ask({{"op", "close"}, {"session", id_}});
    } catch (const Error&) {  // it has gone
    }
  }

  std::string isa() const override { return isa_; }
  int threads() const override { return threads_; }
  std::map<std::string, std::string> facts() const override { return facts_; }
  const stream::Header* machine() const override { return &host_->facts().machine; }
  std::optional<int64_t> latency_ns() const override { return latency_ns_; }
  std::optional<int64_t> transport_ns() const override { return transport_ns_; }
  std::string latency_contains() const override { return "the run on a batch in memory, measured over there"; }

  std::vector<Tensor> run(const std::vector<Tensor>& inputs) override { return exchange("run", inputs, {}); }

  std::vector<Tensor> trace(const std::vector<Tensor>& inputs, const Observer& observe) override {
    check_same_plan("--trace");
    return exchange("trace", inputs, observe);
  }

  void enable_profile(bool on) override {
    check_same_plan("--profile");
    host_->ask({{"op", "profile"}, {"session", id_}, {"on", on}});
  }
  std::vector<StepProfile> profile() const override {
    const Json answer = host_->ask({{"op", "profiled"}, {"session", id_}});
    std::vector<StepProfile> steps;
    const auto found = answer.find("steps");
    if (found == answer.end() || !found->is_array() || found->size() != variant_->steps.size())
      fail_malformed(host_->name(), ": profiles other steps than the package has");
    for (const Json& step : *found) {
      if (!step.is_object()) fail_malformed(host_->name(), ": a step is no map");
      steps.push_back({number_of(step, "time_ns", 0, INT64_MAX), number_of(step, "runs", 0, INT64_MAX)});
    }
    return steps;
  }

 private:
  void check_same_plan(const char* what) const {
    if (!same_plan_)
      fail_unsupported(host_->name(), ": ", what,
                       " wants the code that was compiled here, and the server runs its own; start "
                       "it with --key, or reach it over ssh or a Unix socket");
  }

  std::vector<Tensor> exchange(const char* op, const std::vector<Tensor>& inputs, const Observer& observe) {
    check_inputs(inputs);
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    std::vector<Tensor> outputs;
    host_->ask({{"op", op}, {"session", id_}}, remote::bytes_of(inputs), kMostAnswer, [&](const Message& answer) {
      const auto types = answer.map.find("tensors");
      if (types == answer.map.end()) fail_malformed(host_->name(), ": an answer without tensors");
      std::vector<Tensor> tensors = remote::tensors_of(*types, answer.payload);
      if (answer.map.contains("value")) {
        const int64_t id = number_of(answer.map, "value", 0, graph().value_count() - 1);
        if (tensors.size() != 1 || !observe) fail_malformed(host_->name(), ": a value that is not asked for");
        observe(graph(), static_cast<ValueId>(id), tensors[0]);
        return false;
      }
      // What an emulator takes is no time of the processor that it stands for.
      latency_ns_.reset();
      if (!answer.map.contains("emulated")) latency_ns_ = number_of(answer.map, "latency_ns", 0, INT64_MAX);
      outputs = std::move(tensors);
      return true;
    });
    check_outputs(outputs);
    const int64_t whole_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
    transport_ns_ = std::max<int64_t>(0, whole_ns - latency_ns_.value_or(0));
    return outputs;
  }

  void check_outputs(const std::vector<Tensor>& outputs) const {
    const std::vector<Type>& types = package_->output_types;
    if (outputs.size() != types.size())
      fail_malformed(host_->name(), ": gives ", outputs.size(), " outputs, the model has ", types.size());
    for (size_t i = 0; i < types.size(); ++i) {
      if (outputs[i].dtype() != types[i].dtype || (types[i].fixed() && outputs[i].shape() != types[i].fixed_shape()))
        fail_malformed(host_->name(), ": output ", i, " is ", Type(outputs[i]).text(), ", the model's is ",
                       types[i].text());
    }
  }

  const std::shared_ptr<RemoteHost> host_;
  int64_t id_ = 0;
  std::string isa_;
  int threads_ = 1;
  bool same_plan_ = false;
  std::map<std::string, std::string> facts_;
  std::optional<int64_t> latency_ns_, transport_ns_;
};

}  // namespace

std::string plan_digest(const Variant& variant) {
  Sha256Stream hash;
  const auto add = [&](const std::string& text) { hash.add(as_bytes(text + "\n")); };
  for (ValueId id = 0; id < variant.graph->value_count(); ++id) add(variant.graph->value(id).name);
  for (const Step& step : variant.steps) add(cat(step.node, " ", step.kernel));
  return hash.hex();
}

std::unique_ptr<Session> open_remote(std::shared_ptr<RemoteHost> host, const std::string& device,
                                     std::shared_ptr<const Package> package, const DeviceOptions& options) {
  return std::make_unique<RemoteSession>(std::move(host), device, std::move(package), options);
}

}  // namespace dnn
