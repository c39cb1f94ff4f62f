// The table of devices; see device.h.
#include "devices/device.h"

#include <algorithm>
#include <utility>

#include "devices/activations.h"
#include "devices/kenning.h"
#include "devices/library.h"
#include "devices/remote.h"
#include "package/placed.h"
#include "remote/address.h"
#include "target/isa.h"
#include "target/processor.h"

namespace dnn {

#define DNN_DEVICE(kind, usage, prefix)                                                                             \
  std::unique_ptr<Session> prefix##_open(std::shared_ptr<const Package>, const std::string&, const DeviceOptions&); \
  std::vector<std::string> prefix##_list(const DeviceOptions&);
#include "devices/devices.def"
#undef DNN_DEVICE

#ifndef DNN_STATIC
bool opencl_on_gpu(const std::string& index);
#else
static bool opencl_on_gpu(const std::string&) { return false; }
#endif

const std::vector<Device>& devices() {
  static const std::vector<Device> rows = {
#define DNN_DEVICE(kind, usage, prefix) {kind, usage, prefix##_open, prefix##_list},
#include "devices/devices.def"
#undef DNN_DEVICE
  };
  return rows;
}

std::vector<std::string> list_devices(const Device& row, const DeviceOptions& options,
                                      const std::function<void(const std::string& why)>& problem) {
  try {
    return row.list(options);
  } catch (const Error& error) {
    problem(cat("device ", row.kind, ": ", error.what()));
    return {};
  }
}

namespace {

// Whether what follows a device's colon is what its usage, "cpu[:f64]" or "opencl:N", has there.
bool allowed(const Device& device, const std::string& after) {
  if (ends_with(device.usage, "[:f64]")) return after == "f64";
  int64_t n = 0;
  return parse_int(after, &n) && n >= 0;
}

}  // namespace

DeviceSpec::DeviceSpec(const std::string& given) : text_(given), name_there_(given) {
  const auto is_device = [](const std::string& name) {
    return std::any_of(devices().begin(), devices().end(),
                       [&](const Device& row) { return name.substr(0, name.find(':')) == row.kind; });
  };
  if (const std::optional<remote::Address> address = remote::parse_address(given, is_device, &name_there_))
    address_ = std::make_shared<const remote::Address>(*address);
  const std::string& text = name_there_;
  const size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  std::vector<std::string> kinds;
  for (const Device& device : devices()) {
    if (kind == device.kind) device_ = &device;
    kinds.emplace_back(device.kind);
  }
  if (device_ == nullptr) {
    if (kind == kGpu)
      fail_usage("device ", text, ": name the GPU as opencl:0 (any maker's) or cuda:0 (NVIDIA's); ",
                 "dnn-infer --list-devices shows those of this machine, dnn-doctor what is missing");
    const std::string near = nearest_word(kind, kinds);
    fail_usage("device ", text, ": there is no such kind of device", near.empty() ? "" : "; did you mean " + near + "?",
               " (see dnn-infer --list-devices)");
  }
  if (colon != std::string::npos) index_ = text.substr(colon + 1);
  framework_ = find_framework(text);
  if (framework_ == nullptr && colon != std::string::npos && !allowed(*device_, index_))
    fail_usage("device ", text, ": write it as ", device_->usage);
  if (is_remote() && framework_ != nullptr)
    fail_usage("device ", given, ": only devices that run packages are reached on another machine");
}

void DeviceSpec::connect(const DeviceOptions& options) {
  if (!is_remote()) remote::check_key(options.key_file, text_);
  if (is_remote() && remote_ == nullptr) remote_ = std::make_shared<RemoteHost>(*address_, name_there_, options);
}

const std::shared_ptr<RemoteHost>& DeviceSpec::remote() const {
  if (remote_ == nullptr) fail_usage("device ", text_, ": only dnn-infer and dnn-localize reach other machines");
  return remote_;
}

const char* DeviceSpec::kind() const { return device_->kind; }

bool DeviceSpec::is_program() const { return framework_ != nullptr && *framework_->formats == 0; }

// Of the others each device is a framework, a program or a server that loads models.
bool DeviceSpec::runs_packages(const Device& row) {
  return row.open != library_open && row.open != program_open && row.open != kenning_open;
}

bool DeviceSpec::float64() const { return framework_ == nullptr && index_ == "f64"; }

bool DeviceSpec::on_gpu() const {
  const Backend* backend = backend_of_device(kind());
  if (is_remote()) return backend != nullptr && remote()->facts().gpu;
  if (backend == nullptr || isas_of(backend->language, true).empty()) return false;
  return isas_of(backend->language, false).empty() || opencl_on_gpu(index_);
}

const char* Device::target() const {
  const Backend* backend = backend_of_device(kind);
  return backend == nullptr ? "" : backend->name;
}

void Session::submit(const std::vector<Tensor>& inputs) { submitted_ = inputs; }

std::vector<Tensor> Session::collect() {
  const std::vector<Tensor> inputs = std::exchange(submitted_, {});
  return run(inputs);
}

std::vector<Tensor> Session::fork(const std::vector<Tensor>&, const Fork&) {
  fail_unsupported("this device cannot go on from the middle of a network");
}

void refuse_emulated(const Session& session, const DeviceSpec& device) {
  if (session.is_emulated()) fail_unsupported("device ", device, ": ", kEmulated);
}

std::unique_ptr<Session> open_session(const DeviceSpec& device, std::shared_ptr<const Package> package,
                                      const DeviceOptions& options) {
  const Device& row = device.device();
  if (package->placed != nullptr && device.framework() == nullptr)
    fail_usage("the package is placed on ", join(package->placed->parts), ", not on ", device,
               ": run it with dnn-infer, without --device, or compile the model for ", device);
  for (const Device& other : devices()) {
    if (package->backend() == other.target() && package->backend() != row.target() && device.framework() == nullptr) {
      fail_usage("the package is for ", other.kind, ", ", device, " is asked for: give --device ", other.kind,
                 ", or compile it with --device ", row.kind);
    }
  }
  if (device.is_remote()) return open_remote(device.remote(), device.name_there(), std::move(package), options);
  return row.open(std::move(package), device.index(), options);
}

std::vector<Tensor> Session::with_state(const std::vector<Tensor>& inputs) const {
  std::vector<Tensor> filled = inputs;
  for (size_t i = 0; i < variant_->state.size(); ++i) {
    const size_t at = variant_->state[i].input;
    if (at >= filled.size() || filled[at].defined()) continue;
    if (i >= state_.size())
      fail_usage("input '", graph().value(graph().inputs[at]).name,
                 "' is state that no run has left yet: give it once");
    filled[at] = state_[i];
  }
  return filled;
}

// A run's input is free again when the run has ended, if nobody else holds it: two memories take turns.
void Session::keep_state(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
  const bool first = state_.empty();
  state_.resize(variant_->state.size());
  spare_.resize(variant_->state.size());
  for (size_t i = 0; i < variant_->state.size(); ++i) {
    const auto [output, input] = variant_->state[i];
    const bool own = !first && state_[i].defined() && inputs[input].bytes().data() == state_[i].bytes().data();
    spare_[i] = own ? std::move(state_[i]) : Tensor();
    state_[i] = outputs[output];
  }
}

Tensor Session::take_spare(size_t output) {
  for (size_t i = 0; i < spare_.size(); ++i) {
    if (static_cast<size_t>(variant_->state[i].output) == output) return std::move(spare_[i]);
  }
  return {};
}

Session::Session(std::shared_ptr<const Package> package, const Variant* variant)
    : package_(std::move(package)),
      variant_(variant == nullptr ? &package_->variants.front() : variant),
      constant_bytes_(constant_bytes(*package_, *variant_)),
      declared_input_bytes_(declared_input_bytes(*package_)) {}

TensorBudget Session::run_budget(const std::vector<Tensor>& inputs) const {
  uint64_t bytes = 0;
  for (const Tensor& input : inputs) {
    if (input.defined() && input.dtype() != DType::String) bytes += input.size_bytes();
  }
  return TensorBudget(most_activations(constant_bytes_, std::max(bytes, declared_input_bytes_)));
}

void Session::check_inputs(const std::vector<Tensor>& inputs) const {
  const std::vector<Type>& types = package_->input_types;
  if (inputs.size() != types.size()) fail_usage("the model has ", types.size(), " inputs, ", inputs.size(), " given");
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string& name = graph().value(graph().inputs[i]).name;
    if (types[i].dtype != inputs[i].dtype() || types[i].fixed_shape() != inputs[i].shape()) {
      fail_malformed("input '", name, "' wants ", types[i].text(), ", is given ", Type(inputs[i]).text());
    }
  }
}

}  // namespace dnn
