// Serving a client of Kenning; see serve_kenning.h.
#include "kenning/serve_kenning.h"

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/counted.h"
#include "base/json_text.h"
#include "base/version.h"
#include "kenning/uart.h"
#include "remote/serial.h"

namespace dnn::serve {
namespace {

namespace kenning = remote::kenning;
using Json = nlohmann::json;
using kenning::Flow;
using kenning::Message;
using kenning::Wire;

constexpr int kSniffMs = 200;
constexpr int64_t kMostSpec = int64_t{1} << 20;
// A client of 2021 fails where it finds both answers to a PROCESS in one recv().
constexpr auto kBetweenAnswers = std::chrono::milliseconds(5);

// The number of the action that an answer reports: Kenning's ServerAction.
enum Action : uint8_t {
  kUploadIoSpec = 2,
  kUploadModel = 3,
  kUploadUnoptimized = 4,
  kUploadInput = 5,
  kProcessing = 6,
  kExtract = 7,
  kStatistics = 8,
  kOptimizing = 9,
  kUploadOptimizers = 10,
  kUploadRuntime = 11,
  kIdle = 12
};

// Tensors of an io_spec in the order in which their bytes cross.
std::vector<std::string> names_in_order(const Json& spec, const char* key) {
  std::vector<std::pair<int64_t, std::string>> entries;
  const auto found = spec.find(key);
  if (found == spec.end()) return {};
  if (!found->is_array()) fail_malformed("io_spec: '", key, "' is no list");
  for (const Json& entry : *found) {
    if (!entry.is_object()) fail_malformed("io_spec: '", key, "' holds what is no tensor");
    const auto name = entry.find("name");
    const auto order = entry.find("order");
    entries.emplace_back(order != entry.end() && order->is_number_integer() ? order->get<int64_t>()
                                                                            : static_cast<int64_t>(entries.size()),
                         name != entry.end() && name->is_string() ? name->get<std::string>() : "");
  }
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (auto& [order, name] : entries) names.push_back(std::move(name));
  return names;
}

// The tensors of a model in that order: by name where all are known, else as the model has them.
std::vector<size_t> order_of(const Graph& graph, const std::vector<ValueId>& ids,
                             const std::vector<std::string>& names) {
  std::vector<size_t> order;
  for (const std::string& name : names) {
    for (size_t i = 0; i < ids.size(); ++i) {
      if (graph.value(ids[i]).name == name && std::find(order.begin(), order.end(), i) == order.end())
        order.push_back(i);
    }
  }
  if (order.size() == ids.size()) return order;
  order.clear();
  for (size_t i = 0; i < ids.size(); ++i) order.push_back(i);
  return order;
}

// An upload as a file that is on no disk and goes with this.
class MemoryFile {
 public:
  explicit MemoryFile(Bytes bytes) : fd_(::memfd_create("dnn-model", MFD_CLOEXEC)) {
    if (fd_ < 0) fail_environment("cannot make a memory file: ", std::strerror(errno));
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        ::close(fd_);
        fail_environment("cannot write a memory file: ", std::strerror(errno));
      }
      bytes = bytes.subspan(n);
    }
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return cat("/proc/self/fd/", fd_); }

 private:
  int fd_;
};

class Client {
 public:
  Client(Transport& transport, const std::string& name, Wire wire, bool trusted, const Options& options)
      : transport_(transport),
        name_(name),
        trusted_(trusted),
        on_line_(dynamic_cast<remote::SerialTransport*>(&transport) != nullptr),
        options_(options),
        messages_(transport, transport, wire, name,
                  on_line_ ? kenning::Manner{uart::kPiece, true} : kenning::Manner()) {}

  void serve() {
    const Limits& limits = options_.limits;
    const bool opened = on_line_ && messages_.wire() == Wire::Header12;
    if (opened) uart::await_opening(transport_);
    messages_.on_wait([&](bool begins) {
      if (begins) {
        transport_.limit(limits.idle_s, "an idle connection (--idle)");
      } else {
        transport_.limit(on_line_ ? std::min(limits.frame_s, uart::kSilenceSeconds) : limits.frame_s, "a message");
      }
    });
    if (opened) {
      answer({kenning::kPing, Flow::Request, kenning::kSuccess, {}});
      log(cat("dnn-serve ", version()));
    } else if (messages_.wire() == Wire::Header12) {
      transport_.limit(limits.greet_s, "a greeting");
      const std::byte hello{};  // which a client waits for before it speaks
      transport_.write(Bytes(&hello, 1));
      log(cat("dnn-serve ", version()));
    }
    bool proven = false;
    while (const std::optional<Message> request = messages_.receive(static_cast<uint64_t>(limits.upload_bytes))) {
      // Until its first message a client may have to go for others; Kenning loads its model between connecting and that.
      if (!proven && options_.proven) options_.proven();
      proven = true;
      // Anything else than a request answers nothing of ours.
      if (messages_.wire() == Wire::Header12 && request->flow != Flow::Request) continue;
      if (request->damaged) {  // its client sends it again
        messages_.send(request->type, Flow::Acknowledge, kenning::kFail | kenning::kIsKenning, {});
        continue;
      }
      answer(*request);
      if (closed_) return;
    }
  }

 private:
  struct Row {
    uint64_t type;
    Action action;
    void (Client::*work)(const Message&);  // null: not known here
  };
  static const Row& row_of(uint64_t type) {
    static const Row rows[] = {
        {kenning::kProcess, kProcessing, &Client::process},
        {kenning::kData, kUploadInput, &Client::data},
        {kenning::kOutput, kExtract, &Client::output},
        {kenning::kModel, kUploadModel, &Client::model},
        {kenning::kIoSpec, kUploadIoSpec, &Client::io_spec},
        {kenning::kStats, kStatistics, &Client::stats},
        {kenning::kPing, kIdle, &Client::ping},
        {kenning::kStatus, kIdle, &Client::done},
        {kenning::kLogs, kIdle, &Client::done},
        {kenning::kOptimizers, kUploadOptimizers, nullptr},
        {kenning::kOptimizeModel, kOptimizing, nullptr},
        {kenning::kUnoptimizedModel, kUploadUnoptimized, nullptr},
        {kenning::kRuntime, kUploadRuntime, nullptr},
    };
    static const Row unknown = {0, kIdle, nullptr};
    for (const Row& row : rows) {
      if (row.type == type) return row;
    }
    return unknown;
  }

  void answer(const Message& request) {
    const Row& row = row_of(request.type);
    action_ = row.action;
    current_ = request.type;
    try {
      // OK and ERROR stand there in 2021's protocol, which a client does not ask with.
      const bool known = messages_.wire() == Wire::Header12 || request.type >= kenning::kData;
      if (row.work == nullptr || !known)
        fail_unsupported("message type ", request.type, " is not served here: models are compiled by dnn-serve itself");
      (this->*row.work)(request);
    } catch (const Error& error) {
      fail(error.what());
    } catch (const std::bad_alloc&) {
      fail("the server is out of memory, or above its --max-memory");
    } catch (const std::length_error&) {
      fail("the server is out of memory, or above its --max-memory");
    } catch (const nlohmann::json::exception&) {
      fail("what came is no JSON");
    }
  }

  void fail(const std::string& why) {
    if (options_.note) options_.note(cat(name_, ": ", why));
    if (messages_.wire() == Wire::Seed) return messages_.send(kenning::kError, Flow::Request, 0, {});
    log(why);
    const auto action = static_cast<std::byte>(action_);
    messages_.send(current_, Flow::Transmission, kenning::kFail | kenning::kIsKenning, Bytes(&action, 1));
  }

  // The answer to a request, of the wire: an action where it brings nothing.
  void succeed(const Message& request, std::optional<Bytes> payload = std::nullopt) {
    if (messages_.wire() == Wire::Seed)
      return messages_.send(kenning::kOk, Flow::Request, 0, payload.value_or(Bytes()));
    const auto action = static_cast<std::byte>(action_);
    messages_.send(request.type, Flow::Transmission, kenning::kSuccess | kenning::kIsKenning,
                   payload.value_or(Bytes(&action, 1)));
  }

  // A line among the client's own logs: pieces of at most 255 bytes of ASCII, each behind its length.
  void log(const std::string& text) {
    if (messages_.wire() == Wire::Seed) return;
    std::string record;
    for (size_t at = 0; at < text.size(); at += 255) {
      const std::string piece = text.substr(at, 255);
      record += static_cast<char>(piece.size());
      for (const char c : piece) record += c >= ' ' && c <= '~' ? c : '?';
    }
    messages_.send(kenning::kLogs, Flow::Transmission, kenning::kIsKenning, as_bytes(record));
  }

  void done(const Message& request) { succeed(request); }

  // On a serial line a talk opens with success, closes with failure, and opens anew with both.
  void ping(const Message& request) {
    const bool opens = (request.flags & kenning::kSuccess) != 0;
    closed_ = on_line_ && !opens && (request.flags & kenning::kFail) != 0;
    if (on_line_ && opens) forget();
    succeed(request);
  }

  void forget() {
    session_.reset();
    package_.reset();
    inputs_.clear();
    outputs_.clear();
    times_s_.clear();
    stamps_s_.clear();
    input_names_.clear();
    output_names_.clear();
  }

  void io_spec(const Message& request) {
    if (static_cast<int64_t>(request.payload.size()) > kMostSpec)
      fail_malformed("io_spec: ", request.payload.size(), " bytes");
    input_names_.clear();
    output_names_.clear();
    if (on_line_ && uart::is_structure(request.payload)) return succeed(request);
    const Json spec = parse_json(as_text(request.payload));
    if (!spec.is_object()) fail_malformed("io_spec: no object");
    input_names_ = names_in_order(spec, spec.contains("processed_input") ? "processed_input" : "input");
    output_names_ = names_in_order(spec, "output");
    succeed(request);
  }

  void model(const Message& request) {
    if (request.payload.empty()) fail_unsupported("an empty model: dnn-serve has none of its own");
    session_.reset();
    inputs_.clear();
    outputs_.clear();
    const MemoryFile file(request.payload);
    const DeviceSpec here = "cpu";
    package_ = options_.open(file.path(), here, "", trusted_);
    for (const Type& type : package_->input_types) {
      if (!type.fixed()) fail_unsupported("an input of ", type.text(), ": only a batch may be open");
    }
    input_order_ = order_of(package_->graph(), package_->graph().inputs, input_names_);
    output_order_ = order_of(package_->graph(), package_->graph().outputs, output_names_);
    DeviceOptions device = options_.device;
    session_ = open_session(here, package_, device);
    log(cat("compiled for ", session_->isa(), ", ", counted(session_->threads(), "thread")));
    succeed(request);
  }

  Session& session() {
    if (session_ == nullptr) fail_usage("there is no model yet");
    return *session_;
  }

  void data(const Message& request) {
    session();
    uint64_t wanted = 0;
    std::vector<Tensor> inputs(package_->input_types.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      inputs[i] = Tensor(package_->input_types[i].dtype, package_->input_types[i].fixed_shape());
      wanted += inputs[i].size_bytes();
    }
    if (request.payload.size() != wanted)
      fail_malformed("inputs of ", request.payload.size(), " bytes; the model's are ", wanted);
    size_t at = 0;
    for (const size_t i : input_order_) {
      if (inputs[i].size_bytes() > 0)
        std::memcpy(inputs[i].mutable_bytes(), request.payload.data() + at, inputs[i].size_bytes());
      at += inputs[i].size_bytes();
    }
    inputs_ = std::move(inputs);
    succeed(request);
  }

  void process(const Message& request) {
    if (inputs_.size() != package_inputs()) fail_usage("there are no inputs yet");
    using Clock = std::chrono::steady_clock;
    const bool seed = messages_.wire() == Wire::Seed;
    if (seed) succeed(request);  // it has begun
    const Clock::time_point start = Clock::now();
    outputs_ = session().run(inputs_);
    const Clock::time_point end = Clock::now();
    times_s_.push_back(std::chrono::duration<double>(end - start).count());
    stamps_s_.push_back(std::chrono::duration<double>(start.time_since_epoch()).count());
    if (seed) std::this_thread::sleep_until(start + kBetweenAnswers);
    succeed(request);
  }

  size_t package_inputs() {
    session();
    return package_->input_types.size();
  }

  void output(const Message& request) {
    if (outputs_.empty()) fail_usage("nothing has been computed yet");
    std::vector<std::byte> bytes;
    for (const size_t i : output_order_) {
      if (outputs_[i].dtype() == DType::String) fail_unsupported("an output of strings");
      const Bytes one = outputs_[i].bytes();
      bytes.insert(bytes.end(), one.begin(), one.end());
    }
    succeed(request, Bytes(bytes));
  }

  void stats(const Message& request) {
    if (on_line_ && messages_.wire() == Wire::Header12)
      return succeed(request, as_bytes(times_s_.empty() ? "" : uart::statistics(times_s_.back())));
    const Json json = {{"target_inference_step", times_s_}, {"target_inference_step_timestamp", stamps_s_}};
    const std::string text = json_text(json);
    succeed(request, as_bytes(text));
  }

  Transport& transport_;
  const std::string name_;
  const bool trusted_, on_line_;  // of a serial line
  const Options& options_;
  kenning::Messages messages_;
  uint64_t current_ = 0;
  Action action_ = kIdle;
  bool closed_ = false;
  std::vector<std::string> input_names_, output_names_;
  std::shared_ptr<const Package> package_;
  std::unique_ptr<Session> session_;
  std::vector<size_t> input_order_, output_order_;
  std::vector<Tensor> inputs_, outputs_;
  std::vector<double> times_s_, stamps_s_;
};

}  // namespace

void serve_kenning(Transport& client, const std::string& name, std::optional<Wire> wire, bool trusted,
                   const Options& options) {
  const auto* socket = dynamic_cast<FdTransport*>(&client);
  if (!wire && socket == nullptr) wire = Wire::Header12;
  if (!wire) {
    pollfd speaks{socket->in(), POLLIN, 0};
    wire = ::poll(&speaks, 1, kSniffMs) > 0 ? Wire::Seed : Wire::Header12;
  }
  Client(client, name, *wire, trusted, options).serve();
}

}  // namespace dnn::serve
