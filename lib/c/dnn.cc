// The functions of dnn.h over the library's own; no exception leaves them.
#include "c/dnn.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "base/version.h"
#include "devices/device.h"
#include "infer/setup.h"
#include "place/package.h"

namespace {

using namespace dnn;

// One of a network's inputs or outputs, and what its dnn_tensor points to.
struct Described {
  std::string name;
  Type type;
  Shape shape;
  dnn_tensor tensor;
};

struct Request {
  NetworkOptions network;
  DeviceOptions device;
  std::set<std::string> given;  // names of options
};

std::string& last_error() {
  static thread_local std::string text;
  return text;
}

// The status of `work`, its message kept for dnn_error(), as printable as the tools' are.
template <class Work>
dnn_status guarded(Work&& work) noexcept {
  const auto failed = [](ErrorKind kind, const char* message) noexcept {
    try {
      last_error() = clean(message);
    } catch (...) {  // no memory for a message
    }
    return static_cast<dnn_status>(kind);
  };
  try {
    work();
    return DNN_OK;
  } catch (const Error& e) {
    return failed(e.kind(), e.what());
  } catch (const std::bad_alloc&) {
    return failed(ErrorKind::Environment, "out of memory");
  } catch (const std::exception& e) {
    return failed(ErrorKind::Internal, e.what());
  } catch (...) {
    return failed(ErrorKind::Internal, "not an exception of the standard library");
  }
}

std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

int64_t number_of(const std::string& name, const std::string& text, int64_t least) {
  int64_t value = 0;
  if (!parse_int(text, &value) || value < least || value > 1 << 20)
    fail_usage("option ", name, "=", text, ": a number from ", least, " is wanted");
  return value;
}

bool yes_or_no(const std::string& name, const std::string& text) {
  if (text != "yes" && text != "no") fail_usage("option ", name, "=", text, ": yes or no is wanted");
  return text == "yes";
}

void set_option(Request* request, const std::string& name, const std::string& value) {
  NetworkOptions& n = request->network;
  if (name == "device") {
    n.device = value;
  } else if (name == "opt") {
    n.level = value;
  } else if (name == "threads") {
    request->device.threads = static_cast<int>(number_of(name, value, 1));
  } else if (name == "isa") {
    n.isa = request->device.isa = value;
  } else if (name == "pass") {
    n.passes = value;
  } else if (name == "precision") {
    n.precision = value;
  } else if (name == "arithmetic") {
    n.arithmetic = value;
  } else if (name == "shape") {
    n.shapes.push_back(value);
  } else if (name == "batch") {
    n.batch = number_of(name, value, 1);
  } else if (name == "key") {
    request->device.key_file = value;
  } else if (name == "trust") {
    n.trust = yes_or_no(name, value);
  } else {
    fail_usage("option ", name,
               " is none of device, opt, threads, isa, pass, precision, arithmetic, shape, batch, key, trust");
  }
}

Request read_options(const char* const* options) {
  Request request;
  request.device.variable = variable;
  for (; options != nullptr && *options != nullptr; ++options) {
    const std::string text = *options;
    const size_t equals = text.find('=');
    if (equals == std::string::npos) fail_usage("option ", text, ": name=value is wanted");
    request.given.insert(text.substr(0, equals));
    set_option(&request, text.substr(0, equals), text.substr(equals + 1));
  }
  return request;
}

std::unique_ptr<Session> open(const std::string& file, const char* const* options) {
  Request request = read_options(options);
  NetworkOptions& network = request.network;
  if (network.device.framework() != nullptr)
    fail_usage("option device=", network.device, ": frameworks and programs are devices of dnn-infer alone");
  network.device.connect(request.device);
  OpenOptions opened = open_options(network);
  use_folders(&opened, variable);
  std::shared_ptr<const Package> package = open_package(file, opened);
  check_package(file, network, *package, plan_batch(*package));
  if (package->placed != nullptr) {
    for (const char* name : {"device", "threads", "isa"}) {
      if (request.given.count(name) != 0)
        fail_usage("option ", name, ": ", file, " is placed on ", join(package->placed->parts), "; leave it out");
    }
    return std::make_unique<place::PlacedSession>(std::move(package), place::PlacedOptions{request.device});
  }
  if (request.given.count("device") == 0) network.device = device_of_package(*package);
  return open_session(network.device, std::move(package), request.device);
}

std::vector<Described> describe(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<Described> result;
  for (ValueId v : values) {
    const Value& value = graph.value(v);
    const size_t element = dtype_size(value.type.dtype);
    if (element == 0)
      fail_unsupported(value.name, ": tensors of ", dtype_name(value.type.dtype), " have no bytes to hand over");
    Described& d = result.emplace_back();
    d.name = value.name;
    d.type = value.type;
    d.shape = value.type.fixed_shape();
    d.tensor.bytes = static_cast<size_t>(element_count(d.shape)) * element;
    d.tensor.type = static_cast<int32_t>(value.type.dtype);
  }
  for (Described& d : result) {  // where they stay
    d.tensor.name = d.name.c_str();
    d.tensor.shape = d.shape.data();
    d.tensor.rank = d.shape.size();
  }
  return result;
}

void check_buffers(const char* what, const std::vector<Described>& tensors, const dnn_buffer* buffers, size_t count) {
  if (count != tensors.size()) fail_usage("the network has ", tensors.size(), " ", what, "s, ", count, " are given");
  for (size_t i = 0; i < count; ++i) {
    const Described& d = tensors[i];
    if (buffers[i].bytes != d.tensor.bytes || (buffers[i].data == nullptr && d.tensor.bytes > 0))
      fail_usage(what, " ", d.name, " has ", d.tensor.bytes, " bytes, the buffer ",
                 buffers[i].data == nullptr ? cat("no memory") : cat(buffers[i].bytes));
  }
}

}  // namespace

struct dnn_network {
  std::unique_ptr<dnn::Session> session;
  std::vector<Described> inputs, outputs;
};

dnn_status dnn_load(const char* file, const char* const* options, dnn_network** network) {
  if (network != nullptr) *network = nullptr;
  return guarded([&] {
    if (file == nullptr || network == nullptr) fail_usage("dnn_load: file and network may not be NULL");
    auto loaded = std::make_unique<dnn_network>();
    loaded->session = open(file, options);
    const Graph& graph = loaded->session->graph();
    loaded->inputs = describe(graph, graph.inputs);
    loaded->outputs = describe(graph, graph.outputs);
    *network = loaded.release();
  });
}

const dnn_tensor* dnn_input(const dnn_network* network, size_t index) {
  return network != nullptr && index < network->inputs.size() ? &network->inputs[index].tensor : nullptr;
}

const dnn_tensor* dnn_output(const dnn_network* network, size_t index) {
  return network != nullptr && index < network->outputs.size() ? &network->outputs[index].tensor : nullptr;
}

dnn_status dnn_run(dnn_network* network, const dnn_buffer* inputs, size_t n_inputs, const dnn_buffer* outputs,
                   size_t n_outputs) {
  return guarded([&] {
    if (network == nullptr || (inputs == nullptr && n_inputs > 0) || (outputs == nullptr && n_outputs > 0))
      fail_usage("dnn_run: network, inputs and outputs may not be NULL");
    check_buffers("input", network->inputs, inputs, n_inputs);
    check_buffers("output", network->outputs, outputs, n_outputs);
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < n_inputs; ++i) {
      const Described& d = network->inputs[i];
      Tensor& tensor = tensors.emplace_back(d.type.dtype, d.shape);
      if (inputs[i].bytes > 0) std::memcpy(tensor.mutable_bytes(), inputs[i].data, inputs[i].bytes);
    }
    const std::vector<Tensor> results = network->session->run(tensors);
    for (size_t i = 0; i < n_outputs; ++i) {
      const Bytes bytes = results[i].bytes();
      if (bytes.size() != outputs[i].bytes)
        fail_internal("output ", network->outputs[i].name, " came with ", bytes.size(), " bytes");
    }
    for (size_t i = 0; i < n_outputs; ++i) {
      const Bytes bytes = results[i].bytes();
      if (!bytes.empty()) std::memcpy(outputs[i].data, bytes.data(), bytes.size());
    }
  });
}

void dnn_free(dnn_network* network) { delete network; }

const char* dnn_error(void) { return last_error().c_str(); }

const char* dnn_version(void) {
  static const std::string text = dnn::version();
  return text.c_str();
}
