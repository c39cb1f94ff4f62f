// The table of devices; see device.h.
#include "devices/device.h"

namespace dnn {

#define DNN_DEVICE(kind, usage, target, prefix)                                                                     \
  std::unique_ptr<Session> prefix##_open(std::shared_ptr<const Package>, const std::string&, const DeviceOptions&); \
  std::vector<std::string> prefix##_list();
#include "devices/devices.def"
#undef DNN_DEVICE

const std::vector<Device>& devices() {
  static const std::vector<Device> rows = {
#define DNN_DEVICE(kind, usage, target, prefix) {kind, usage, target, prefix##_open, prefix##_list},
#include "devices/devices.def"
#undef DNN_DEVICE
  };
  return rows;
}

const Device& find_device(const std::string& name, std::string* index) {
  const size_t colon = name.find(':');
  const std::string kind = name.substr(0, colon);
  std::vector<std::string> kinds;
  for (const Device& device : devices()) {
    if (kind == device.kind) {
      if (index != nullptr) *index = colon == std::string::npos ? "" : name.substr(colon + 1);
      return device;
    }
    kinds.emplace_back(device.kind);
  }
  const std::string near = nearest_word(kind, kinds);
  fail_usage("device ", name, ": there is no such kind of device", near.empty() ? "" : "; did you mean " + near + "?",
             " (see --list-devices)");
}

std::unique_ptr<Session> open_session(const std::string& device, std::shared_ptr<const Package> package,
                                      const DeviceOptions& options) {
  std::string index;
  const Device& row = find_device(device, &index);
  return row.open(std::move(package), index, options);
}

void Session::check_inputs(const std::vector<Tensor>& inputs) const {
  const std::vector<Type>& types = package_->input_types;
  if (inputs.size() != types.size()) fail_usage("the model has ", types.size(), " inputs, ", inputs.size(), " given");
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string& name = package_->graph.value(package_->graph.inputs[i]).name;
    if (types[i].dtype != inputs[i].dtype() || types[i].fixed_shape() != inputs[i].shape()) {
      fail_malformed("input '", name, "' wants ", types[i].text(), ", is given ", Type(inputs[i]).text());
    }
  }
}

}  // namespace dnn
