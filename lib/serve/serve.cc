// Serving one client; see serve.h.
#include "serve/serve.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <new>
#include <system_error>

#include "base/threads.h"
#include "base/version.h"
#include "devices/remote.h"
#include "remote/handshake.h"
#include "remote/tensors.h"
#include "serve/store.h"
#include "serve/watch.h"
#include "target/isa.h"
#include "target/processor.h"
#include "usage/machine.h"
#include "usage/sampler.h"

namespace dnn::serve {
namespace {

using remote::flag_of;
using remote::Json;
using remote::Message;
using remote::number_of;
using remote::text_of;

constexpr size_t kMostSessions = 64;

// A device that a client may ask for: one of this machine, which runs packages.
DeviceSpec device_of(const std::string& name) {
  DeviceSpec device = name;
  if (device.is_remote() || device.framework() != nullptr)
    fail_usage("device ", name, ": a server runs packages, on devices of its own machine");
  return device;
}

int64_t bytes_of(const std::vector<Type>& types) {
  int64_t bytes = 0;
  for (const Type& type : types) {
    if (!type.fixed()) fail_unsupported("a package with inputs of open shape does not run on another machine");
    bytes += element_count(type.fixed_shape()) * static_cast<int64_t>(dtype_size(type.dtype));
  }
  return bytes;
}

void refuse_emulated() {
  if (usage::is_emulated()) fail_unsupported(kEmulated);
}

// Packages that come.
class Uploads {
 public:
  Uploads(const Store& store, remote::Frames& frames, const std::string& name, const Options& options)
      : store_(store), frames_(frames), name_(name), options_(options) {}

  void have(const Message& request) {
    const std::string sha256 = text_of(request.map, "sha256");
    check_sha256(sha256);
    const int64_t size = number_of(request.map, "bytes", 1, INT64_MAX);
    upload_.reset();
    if (!store_.find(sha256).empty()) return frames_.send({{"at", size}});
    if (size > options_.limits.upload_bytes)
      fail_unsupported("a package of ", size, " bytes; the server takes ", options_.limits.upload_bytes,
                       " (--max-upload)");
    upload_ = std::make_unique<Upload>(store_, sha256, size);
    if (upload_->at() == size) upload_->finish();  // all had come before it was cut off
    frames_.send({{"at", upload_->at()}});
  }

  // Takes all parts whatever happens, and says then what did: the client does not listen before.
  void put(const Message& request) {
    if (upload_ == nullptr) fail_malformed("an upload that was not asked for");
    number_of(request.map, "at", upload_->at(), upload_->at());
    const std::unique_ptr<Upload> upload = std::move(upload_);
    const int64_t size = upload->size() - upload->at();
    const auto start = std::chrono::steady_clock::now();
    std::optional<Error> failed;
    for (int64_t left = size; left > 0;) {
      const std::optional<Message> part = frames_.receive(remote::kMaxFramePayload);
      if (!part) fail_malformed("the connection ends within an upload");
      if (text_of(part->map, "op") != "data" || part->payload.empty()) fail_malformed("an upload is interrupted");
      left -= static_cast<int64_t>(part->payload.size());
      if (failed) continue;
      try {
        upload->add(part->payload);
      } catch (const Error& error) {
        failed = error;
      }
    }
    if (failed) throw Error(*failed);
    upload->finish();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (options_.note)
      options_.note(cat(name_, ": uploaded ", size, " bytes in ", took.count(), " s: ", upload->sha256()));
    frames_.send({{"done", true}});
  }

 private:
  const Store& store_;
  remote::Frames& frames_;
  const std::string& name_;
  const Options& options_;
  std::unique_ptr<Upload> upload_;
};

// What the machine spends while the client's sessions run.
class Usage {
 public:
  explicit Usage(remote::Frames& frames) : frames_(frames) {}

  void prepare(const Message& request) {
    refuse_emulated();
    constexpr int64_t kMost_ms = 60'000;
    const auto every_ms = static_cast<int>(number_of(request.map, "every_ms", 1, kMost_ms));
    sampler_ = std::make_unique<usage::Sampler>(usage::Roots(), ::getpid(), std::nullopt, every_ms);
    frames_.send({{"energy", sampler_->energy_text()}, {"gpus", sampler_->gpus_text()}});
  }

  void sample(const Message& request) {
    usage::Sampler& sampler = the_sampler();
    if (flag_of(request.map, "on")) {
      sampler.start();
      return frames_.send({{"done", true}});
    }
    sampler.stop();
    const usage::Source::Cost cost = sampler.cost();
    frames_.send({{"count", cost.n_records}, {"interval_ms", cost.interval_ms}, {"share", cost.share}});
  }

  void used(const Message&) {
    for (const stream::Usage& record : the_sampler().take()) waiting_.push_back(stream::record_to_json(record));
    Json records = Json::array();
    constexpr size_t kMostBytes = remote::kMaxMap / 2;
    for (size_t bytes = 0; !waiting_.empty() && bytes < kMostBytes; waiting_.pop_front()) {
      bytes += waiting_.front().size();
      records.push_back(std::move(waiting_.front()));
    }
    frames_.send({{"records", records}, {"more", !waiting_.empty()}});
  }

 private:
  usage::Sampler& the_sampler() {
    if (sampler_ == nullptr) fail_usage("usage that was not asked for");
    return *sampler_;
  }

  remote::Frames& frames_;
  std::unique_ptr<usage::Sampler> sampler_;
  std::deque<std::string> waiting_;  // records that did not fit into an answer
};

class Client {
 public:
  Client(Transport& transport, const std::string& name, bool trusted, const Options& options)
      : transport_(transport),
        name_(name),
        trusted_(trusted),
        options_(options),
        store_(trusted || options.store.empty() ? options.store : options.store + "/strangers",
               options.limits.store_bytes),
        frames_(transport, transport, name),
        uploads_(store_, frames_, name_, options),
        usage_(frames_) {}

  void serve() {
    const Limits& limits = options_.limits;
    const auto deadline = moment_in(limits.greet_s);  // one for all of it
    frames_.on_wait([&](bool) {
      transport_.limit(std::chrono::duration<double>(deadline - std::chrono::steady_clock::now()).count(),
                       "a greeting");
    });
    bool wants_signs = false;
    try {
      if (!remote::greet_client(frames_, options_.key, &wants_signs)) return;
    } catch (const Error& error) {
      refuse(error);
      throw;
    }
    // Whoever has not the key says hello as well as who has: a first request alone shows it.
    bool proven = false;
    Watch watch(frames_, {wants_signs ? limits.alive_s : 0, limits.run_s, options_.gone});
    watch_ = &watch;
    frames_.on_wait([&](bool begins) {
      if (!proven) {
        transport_.limit(std::chrono::duration<double>(deadline - std::chrono::steady_clock::now()).count(),
                         "a first request");
      } else if (begins) {
        transport_.limit(limits.idle_s, "an idle connection (--idle)");
      } else {
        transport_.limit(limits.frame_s, "one frame");
      }
    });
    while (true) {
      std::optional<Message> request;
      try {
        request = frames_.receive(most_payload());
      } catch (const Error& error) {  // what follows would not be understood
        refuse(error);
        throw;
      }
      if (!request) return;
      if (!proven && options_.proven) options_.proven();
      proven = true;
      answer(*request);
    }
  }

 private:
  struct Opened {
    std::shared_ptr<const Package> package;
    std::unique_ptr<Session> session;
    int64_t input_bytes = 0;
  };

  void refuse(const Error& error) {
    try {
      frames_.send(remote::failure(error));
    } catch (const Error&) {  // it has gone
    }
  }

  // What a message may bring: a part of an upload, or the inputs of a session.
  uint64_t most_payload() const {
    auto most = static_cast<int64_t>(remote::kMaxFramePayload);
    for (const auto& [id, opened] : sessions_) most = std::max(most, opened.input_bytes);
    return static_cast<uint64_t>(most);
  }

  void answer(const Message& request) {
    try {
      const std::string op = text_of(request.map, "op");
      for (const Row& row : rows()) {
        if (op == row.op) return (this->*row.work)(request);
      }
      fail_unsupported("a request ", quoted(op.substr(0, 40)), ", which is not known");
    } catch (const Error& error) {
      fail(error);
    } catch (const std::bad_alloc&) {
      fail({ErrorKind::Environment, "the server is out of memory, or above its --max-memory"});
    } catch (const std::length_error&) {
      fail({ErrorKind::Environment, "the server is out of memory, or above its --max-memory"});
    } catch (const std::system_error& error) {
      fail({ErrorKind::Environment, error.what()});
    }
  }

  void fail(const Error& error) {
    if (options_.note) options_.note(cat(name_, ": ", error.what()));
    frames_.send(remote::failure(error));
  }

  // Work that may take its time: what sends meanwhile holds the watch's lock.
  template <class Work>
  auto watched(const Work& work) {
    struct Ends {
      explicit Ends(Watch* watch) : watch(watch) { watch->begin(); }
      ~Ends() { watch->end(); }
      Watch* const watch;
    };
    const Ends ends(watch_);
    return work();
  }

  void facts(const Message& request) {
    stream::Header header;
    usage::describe_machine(&header);
    const DeviceSpec device = device_of(text_of(request.map, "device"));
    frames_.send({{"version", version()},
                  {"isas", supported_isas()},
                  {"processor", processor_kind()},
                  {"on_gpu", device.on_gpu()},
                  {"runs_code", trusted_},
                  {"machine", stream::record_to_json(header)}});
  }

  void list(const Message&) {
    const auto problem = [this](const std::string& why) {
      if (options_.note) options_.note(cat(name_, ": ", why));
    };
    Json lines = Json::array();
    for (const Device& row : devices()) {
      if (!DeviceSpec::runs_packages(row)) continue;
      for (const std::string& line : list_devices(row, options_.device, problem)) lines.push_back(line);
    }
    frames_.send({{"devices", lines}});
  }

  void have(const Message& request) { uploads_.have(request); }
  void put(const Message& request) { uploads_.put(request); }

  void open(const Message& request) {
    const std::string sha256 = text_of(request.map, "sha256");
    check_sha256(sha256);
    const std::string path = store_.find(sha256);
    if (path.empty()) fail_usage("the package ", sha256, " is not here");
    if (sessions_.size() >= kMostSessions) fail_unsupported("more than ", kMostSessions, " sessions at once");
    const DeviceSpec where = device_of(text_of(request.map, "device"));
    DeviceOptions device = options_.device;
    device.isa = text_of(request.map, "isa");
    Opened opened;
    opened.package = watched([&] { return options_.open(path, where, device.isa, trusted_); });
    opened.input_bytes = bytes_of(opened.package->input_types);
    constexpr int64_t kMostThreads = 1024;
    device.threads = static_cast<int>(number_of(request.map, "threads", 0, kMostThreads));
    if (!trusted_) device.threads = std::min(device.threads, available_processors());
    opened.session = watched([&] { return open_session(where, opened.package, device); });
    Json facts = Json::object();
    for (const auto& [key, value] : opened.session->facts()) facts[key] = value;
    if (usage::is_emulated()) facts["emulated"] = "true";
    const int64_t id = next_id_++;
    const Json answer = {{"session", id},
                         {"isa", opened.session->isa()},
                         {"threads", opened.session->threads()},
                         {"plan", plan_digest(opened.session->variant())},
                         {"facts", facts}};
    sessions_[id] = std::move(opened);
    frames_.send(answer);
  }

  Opened& session_of(const Message& request) {
    const auto found = sessions_.find(number_of(request.map, "session", 0, INT64_MAX));
    if (found == sessions_.end()) fail_usage("a session that is not open");
    return found->second;
  }

  std::vector<Tensor> inputs_of(const Opened& opened, const Message& request) const {
    if (static_cast<int64_t>(request.payload.size()) != opened.input_bytes)
      fail_malformed("inputs of ", request.payload.size(), " bytes, the package's are ", opened.input_bytes);
    std::vector<Tensor> inputs;
    size_t at = 0;
    for (const Type& type : opened.package->input_types) {
      Tensor input(type.dtype, type.fixed_shape());
      if (input.size_bytes() > 0) std::memcpy(input.mutable_bytes(), request.payload.data() + at, input.size_bytes());
      at += input.size_bytes();
      inputs.push_back(std::move(input));
    }
    return inputs;
  }

  void run(const Message& request) {
    Opened& opened = session_of(request);
    const std::vector<Tensor> inputs = inputs_of(opened, request);
    send_outputs(opened, [&] { return opened.session->run(inputs); });
  }

  void trace(const Message& request) {
    Opened& opened = session_of(request);
    const std::vector<Tensor> inputs = inputs_of(opened, request);
    send_outputs(opened, [&] {
      return opened.session->trace(inputs, [&](const Graph& graph, ValueId id, const Tensor& value) {
        if (&graph != &opened.session->graph() || value.dtype() == DType::String) return;
        const auto lock = watch_->lock();
        frames_.send({{"value", id}, {"tensors", remote::types_of({value})}}, {value.bytes()});
      });
    });
  }

  template <class Run>
  void send_outputs(const Opened& opened, const Run& run) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    const std::vector<Tensor> outputs = watched(run);
    const int64_t around_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
    Json answer = {{"tensors", remote::types_of(outputs)}};
    if (usage::is_emulated()) {
      answer["emulated"] = true;
    } else {
      answer["latency_ns"] = opened.session->latency_ns().value_or(around_ns);
    }
    frames_.send(answer, remote::bytes_of(outputs));
  }

  void profile(const Message& request) {
    if (!request.map.contains("on")) fail_malformed("a message lacks 'on'");
    if (flag_of(request.map, "on")) refuse_emulated();
    session_of(request).session->enable_profile(flag_of(request.map, "on"));
    frames_.send({{"done", true}});
  }

  void profiled(const Message& request) {
    Json steps = Json::array();
    for (const StepProfile& step : session_of(request).session->profile())
      steps.push_back({{"time_ns", step.time_ns}, {"runs", step.runs}});
    frames_.send({{"steps", steps}});
  }

  void close(const Message& request) {
    session_of(request);
    sessions_.erase(number_of(request.map, "session", 0, INT64_MAX));
    frames_.send({{"done", true}});
  }

  void usage(const Message& request) { usage_.prepare(request); }
  void sample(const Message& request) { usage_.sample(request); }
  void used(const Message& request) { usage_.used(request); }
  void ping(const Message&) { frames_.send({{"done", true}}); }

  struct Row {
    const char* op;
    void (Client::*work)(const Message&);
  };
  static const std::vector<Row>& rows() {
    static const std::vector<Row> all = {
        {"run", &Client::run},         {"trace", &Client::trace},       {"have", &Client::have},
        {"put", &Client::put},         {"open", &Client::open},         {"close", &Client::close},
        {"profile", &Client::profile}, {"profiled", &Client::profiled}, {"facts", &Client::facts},
        {"list", &Client::list},       {"ping", &Client::ping},         {"usage", &Client::usage},
        {"sample", &Client::sample},   {"used", &Client::used},
    };
    return all;
  }

  Transport& transport_;
  const std::string name_;
  const bool trusted_;
  const Options& options_;
  const Store store_;
  remote::Frames frames_;
  Uploads uploads_;
  Usage usage_;
  Watch* watch_ = nullptr;  // while it serves
  std::map<int64_t, Opened> sessions_;
  int64_t next_id_ = 0;
};

}  // namespace

int64_t largest_file(const Limits& limits) {
  constexpr int64_t kLeast = int64_t{256} << 20;  // object files and kernels
  return std::max(limits.upload_bytes, kLeast);
}

void serve_client(Transport& client, const std::string& name, bool trusted, const Options& options) {
  Client(client, name, trusted, options).serve();
}

}  // namespace dnn::serve
