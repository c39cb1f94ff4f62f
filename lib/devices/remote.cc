// Devices of other machines; see remote.h.
#include "devices/remote.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/sha256.h"
#include "package/file.h"
#include "remote/handshake.h"
#include "remote/tensors.h"
#include "stream/dialogue.h"

namespace dnn {
namespace {

using remote::ConnectionEnded;
using remote::Message;
using remote::number_of;
using remote::text_of;
using stream::Json;

// That of --key, else of the environment.
std::string key_file_of(const DeviceOptions& options) {
  if (!options.key_file.empty() || !options.variable) return options.key_file;
  return options.variable("DNN_KEY");
}

// The environment's key is for TCP alone, which needs one.
std::string key_of(const remote::Address& address, const DeviceOptions& options) {
  const std::string file = key_file_of(options);
  if (file.empty() || (options.key_file.empty() && address.kind != remote::Address::Kind::Tcp)) return "";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored))
    fail_environment(file, ": there is no such key; copy the file that dnn-serve --key made");
  return load_or_make_key(file).secret;
}

std::vector<std::string> isas_in(const Json& facts) {
  std::vector<std::string> names;
  const auto isas = facts.find("isas");
  if (isas == facts.end() || !isas->is_array()) return names;
  for (const Json& isa : *isas) {
    if (isa.is_string()) names.push_back(isa.get<std::string>());
  }
  return names;
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
    const size_t skipped = std::min<uint64_t>(skip_, bytes.size());
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

struct RemoteHost::Connection {
  Connection(std::unique_ptr<Transport> way, const std::string& name, double wait_s)
      : transport(std::move(way)), frames(*transport, *transport, name) {
    frames.on_wait([this, wait_s](bool) { transport->limit(wait_s, stream::kWaitVariable); });
  }
  const std::unique_ptr<Transport> transport;
  remote::Frames frames;
};

RemoteHost::RemoteHost(const remote::Address& address, const std::string& device, const DeviceOptions& options, Way way)
    : address_(address),
      device_(device),
      options_(options),
      way_(way ? std::move(way)
               : [this] { return remote::connect(address_, options_.variable, remote::kConnectSeconds); }),
      wait_s_(stream::seconds_to_wait(options.variable ? options.variable(stream::kWaitVariable) : "")) {
  const std::lock_guard lock(mutex_);
  const Json facts = first_connect();
  facts_.version = text_of(facts, "version");
  facts_.processor = text_of(facts, "processor");
  facts_.isas = isas_in(facts);
  facts_.gpu = remote::flag_of(facts, "on_gpu");
  facts_.runs_code = remote::flag_of(facts, "runs_code");
  const std::optional<stream::Record> machine = stream::record_from_json(text_of(facts, "machine"));
  const auto* header = machine ? std::get_if<stream::Header>(&*machine) : nullptr;
  if (header == nullptr) fail_malformed(address_.text, ": does not say what machine it is");
  facts_.machine = *header;
}

RemoteHost::~RemoteHost() = default;

// A connection may end while it greets, too. Whoever has started the server is told at once why that ended.
Json RemoteHost::first_connect() {
  for (const int wait_ms : {20, 100, 300}) {
    try {
      return connect();
    } catch (const ConnectionEnded&) {
      if (address_.starts_server()) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
    }
  }
  return connect();
}

// What the server says of its machine.
Json RemoteHost::connect() {
  connection_.reset();  // a serial line is taken once at a time
  connection_ = std::make_unique<Connection>(way_(), address_.text, wait_s_);
  ++number_;
  const std::string key = key_of(address_, options_);
  try {
    remote::greet_server(frames(), key, address_.text);
  } catch (const Error& error) {
    // An ssh that fails, or a program that is no dnn-serve, says why on its standard error.
    if (error.kind() != ErrorKind::Environment && error.kind() != ErrorKind::Malformed) throw;
    if (!address_.starts_server()) throw;
    const char* way_out =
        address_.kind == remote::Address::Kind::Adb ? " (scripts/deploy copies dnn-serve-target to a device)" : "";
    const std::string why = cat(error.what(), "; its process ", connection_->transport->ending(), way_out);
    if (dynamic_cast<const ConnectionEnded*>(&error) != nullptr) throw ConnectionEnded(ErrorKind::Environment, why);
    fail_environment(why);
  }
  Json facts;
  try {
    exchange({{"op", "facts"}, {"device", device_}}, {}, 0, [&](const Message& answer) {
      facts = answer.map;
      return true;
    });
  } catch (const Error& error) {
    if (key.empty() || error.kind() != ErrorKind::Malformed || dynamic_cast<const ConnectionEnded*>(&error) != nullptr)
      throw;
    fail_environment(error.what(), ": the key of ", key_file_of(options_), " is not that of the server");
  }
  return facts;
}

remote::Frames& RemoteHost::frames() {
  if (connection_ == nullptr) throw ConnectionEnded(ErrorKind::Environment, address_.text + ": is not connected");
  return connection_->frames;
}

Message RemoteHost::next(uint64_t most_payload) {
  while (true) {
    std::optional<Message> answer = frames().receive(most_payload);
    if (!answer)
      throw ConnectionEnded(ErrorKind::Environment, cat(address_.text, ": ", connection_->transport->ending()));
    if (answer->map.contains("alive")) continue;  // it is at it
    remote::throw_failure(answer->map, address_.text);
    return std::move(*answer);
  }
}

void RemoteHost::exchange(const Json& map, const std::vector<Bytes>& payload, uint64_t most_payload, const Last& last) {
  frames().send(map, payload);
  while (!last(next(most_payload))) {
  }
}

void RemoteHost::ask(const Json& map, const std::vector<Bytes>& payload, uint64_t most_payload, const Last& last) {
  const std::lock_guard lock(mutex_);
  exchange(map, payload, most_payload, last);
}

Json RemoteHost::ask(const Json& map) {
  Json result;
  ask(map, {}, 0, [&](const Message& answer) {
    result = answer.map;
    return true;
  });
  return result;
}

int64_t RemoteHost::connection() const {
  const std::lock_guard lock(mutex_);
  return number_;
}

void RemoteHost::insist(const std::function<void()>& work) {
  constexpr int kMostTries = 5;
  for (int tries = 1;; ++tries) {
    const int64_t used = connection();
    try {
      return work();
    } catch (const ConnectionEnded& error) {
      if (stays_ || tries == kMostTries)
        fail_environment(error.what(), tries > 1 ? cat(", ", tries, " times in a row") : "");
      reconnect(used, error);
    }
  }
}

// Unless another thread has done it. A server that does not answer is not asked again: it has had its time.
void RemoteHost::reconnect(int64_t ended, const Error& why) {
  const std::lock_guard lock(mutex_);
  if (number_ != ended) return;
  std::string last;
  for (const int wait_ms : {20, 100, 300, 1000, 2000, 4000}) {
    std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
    try {
      const Json facts = connect();
      if (isas_in(facts) != facts_.isas || text_of(facts, "processor") != facts_.processor)
        fail_environment(address_.text, ": another machine answers now");
      return;
    } catch (const ConnectionEnded& error) {
      last = error.what();
    } catch (const Error& error) {
      if (connection_ != nullptr) throw;
      last = error.what();
    }
    connection_.reset();
  }
  fail_environment(why.what(), "; it cannot be reached again: ", last);
}

std::string RemoteHost::give(const Package& package) {
  Package named = package;  // a path is nothing to the other machine
  named.info.model_path = std::filesystem::path(package.info.model_path).filename().string();
  // Weights cross once: as kernels read them, and the model's only to whoever compiles it anew.
  named.source = facts_.runs_code ? package.source.without_constants() : SourceGraph(package.source.graph());
  const PackageBytes bytes(named, {});
  HashSink hash;
  bytes.write(hash);
  std::string sha256 = hash.hex();
  const auto size = static_cast<int64_t>(hash.size());
  const Json have = ask({{"op", "have"}, {"sha256", sha256}, {"bytes", size}});
  const int64_t at = number_of(have, "at", 0, size);
  if (at == size) return sha256;
  const std::lock_guard lock(mutex_);
  frames().send({{"op", "put"}, {"at", at}});
  UploadSink upload(frames(), static_cast<uint64_t>(at));
  bytes.write(upload);
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
      : Session(std::move(package)),
        host_(std::move(host)),
        device_(device),
        asked_isa_(options.isa),
        asked_threads_(options.threads) {
    host_->insist([&] { reopen(); });
    const std::string plan = plan_;
    for (const Variant& variant : package_->variants) {
      if (same_plan_ || plan_digest(variant) != plan) continue;
      variant_ = &variant;
      same_plan_ = true;
    }
    if (!same_plan_) facts_["compiled"] = "by the server anew: it does not take code of this connection";
  }
  ~RemoteSession() override {
    try {
      if (host_->connection() == connection_) host_->ask({{"op", "close"}, {"session", id_}});
    } catch (const Error&) {  // it has gone
    }
  }

  std::string isa() const override { return isa_; }
  int threads() const override { return threads_; }
  std::map<std::string, std::string> facts() const override { return facts_; }
  const stream::Header* machine() const override { return &host_->facts().machine; }
  std::optional<int64_t> latency_ns() const override { return latency_ns_; }
  std::optional<int64_t> transport_ns() const override { return transport_ns_; }
  bool is_emulated() const override { return facts_.contains("emulated"); }
  std::string latency_contains() const override { return "the run on a batch in memory, measured over there"; }

  std::vector<Tensor> run(const std::vector<Tensor>& inputs) override { return exchange("run", inputs, {}); }

  std::vector<Tensor> trace(const std::vector<Tensor>& inputs, const Observer& observe) override {
    check_same_plan("--trace");
    return exchange("trace", inputs, observe);
  }

  void enable_profile(bool on) override {
    check_same_plan("--profile");
    if (on == profiles_) return;
    profiles_ = on;
    const int64_t before = connection_;
    host_->insist([&] {
      reopen();
      if (connection_ == before) ask_for_profile();
    });
  }
  std::vector<StepProfile> profile() const override {
    host_->insist([&] {
      reopen();
      read_profile();
    });
    return profile_;
  }

 private:
  void check_same_plan(const char* what) const {
    if (!same_plan_)
      fail_unsupported(host_->name(), ": ", what,
                       " wants the code that was compiled here, and the server runs its own; start "
                       "it with --key, or reach it over ssh or a Unix socket");
  }

  // Opens the session, unless it is open on the connection that there is now.
  void reopen() const {
    if (const int64_t now = host_->connection(); now != connection_) {
      const Json opened = host_->ask({{"op", "open"},
                                      {"sha256", host_->give(*package_)},
                                      {"device", device_},
                                      {"isa", asked_isa_},
                                      {"threads", asked_threads_}});
      id_ = number_of(opened, "session", 0, INT32_MAX);
      isa_ = text_of(opened, "isa");
      threads_ = static_cast<int>(number_of(opened, "threads", 1, 1 << 20));
      const std::string plan = text_of(opened, "plan");
      if (connection_ != 0 && plan != plan_) fail_environment(host_->name(), ": runs another plan than before");
      plan_ = plan;
      facts_["server"] = cat("dnn-serve ", host_->facts().version);
      if (const auto facts = opened.find("facts"); facts != opened.end() && facts->is_object()) {
        for (const auto& [key, value] : facts->items()) {
          if (value.is_string()) facts_[key] = value.get<std::string>();
        }
      }
      connection_ = now;
      earlier_ = profile_;
      if (profiles_) ask_for_profile();
    }
  }

  void ask_for_profile() const { host_->ask({{"op", "profile"}, {"session", id_}, {"on", profiles_}}); }

  // What the server has counted, behind what was read of it before a connection ended.
  void read_profile() const {
    const Json answer = host_->ask({{"op", "profiled"}, {"session", id_}});
    std::vector<StepProfile> steps;
    const auto found = answer.find("steps");
    if (found == answer.end() || !found->is_array() || found->size() != variant_->steps.size())
      fail_malformed(host_->name(), ": profiles other steps than the package has");
    for (const Json& step : *found) {
      if (!step.is_object()) fail_malformed(host_->name(), ": a step is no map");
      const StepProfile before = earlier_.empty() ? StepProfile() : earlier_[steps.size()];
      constexpr int64_t kMost = INT64_MAX / 2;
      steps.push_back({before.time_ns + number_of(step, "time_ns", 0, kMost - before.time_ns),
                       before.runs + number_of(step, "runs", 0, kMost - before.runs)});
    }
    profile_ = steps;
  }

  std::vector<Tensor> exchange(const char* op, const std::vector<Tensor>& inputs, const Observer& observe) {
    check_inputs(inputs);
    using Clock = std::chrono::steady_clock;
    std::vector<Tensor> outputs;
    size_t shown = 0;  // values, by connections that ended
    int64_t whole_ns = 0;
    host_->insist([&] {
      reopen();
      const Clock::time_point start = Clock::now();
      size_t seen = 0;
      host_->ask({{"op", op}, {"session", id_}}, remote::bytes_of(inputs), remote::kMostAnswer,
                 [&](const Message& answer) {
                   const auto types = answer.map.find("tensors");
                   if (types == answer.map.end()) fail_malformed(host_->name(), ": an answer without tensors");
                   std::vector<Tensor> tensors = remote::tensors_of(*types, answer.payload);
                   if (answer.map.contains("value")) {
                     const int64_t id = number_of(answer.map, "value", 0, graph().value_count() - 1);
                     if (tensors.size() != 1 || !observe)
                       fail_malformed(host_->name(), ": a value that is not asked for");
                     if (++seen <= shown) return false;
                     shown = seen;
                     observe(graph(), static_cast<ValueId>(id), tensors[0]);
                     return false;
                   }
                   // What an emulator takes is no time of the processor that it stands for.
                   latency_ns_.reset();
                   if (!answer.map.contains("emulated"))
                     latency_ns_ = number_of(answer.map, "latency_ns", 0, INT64_MAX);
                   outputs = std::move(tensors);
                   return true;
                 });
      whole_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
    });
    check_outputs(outputs);
    transport_ns_.reset();  // without a latency it is not known which part of the time was the run
    if (latency_ns_) transport_ns_ = std::max<int64_t>(0, whole_ns - *latency_ns_);
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
  const std::string device_, asked_isa_;
  const int asked_threads_;
  bool same_plan_ = false, profiles_ = false;
  std::optional<int64_t> latency_ns_, transport_ns_;
  // Of the session over there, which a new connection opens anew.
  mutable int64_t connection_ = 0, id_ = 0;
  mutable std::string isa_, plan_;
  mutable int threads_ = 1;
  mutable std::map<std::string, std::string> facts_;
  mutable std::vector<StepProfile> profile_, earlier_;
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
