// DeviceSpec: what a user names a device by, read once: "cpu:f64", "opencl:0", "lib:onnxruntime:ep=NAME", "exec:COMMAND"; and one of
// another machine, "ssh://HOST/cpu", "tcp://HOST:PORT/opencl:0", "unix:PATH/cpu" (remote/address.h).
#pragma once
#include <memory>
#include <ostream>
#include <string>
#include <string_view>

namespace dnn {

struct Device;
struct DeviceOptions;
struct Framework;
class RemoteHost;
namespace remote {
struct Address;
}

class DeviceSpec {
 public:
  // Throws Usage, with the nearest name.
  DeviceSpec(const std::string& text);
  DeviceSpec(const char* text) : DeviceSpec(std::string(text)) {}

  const std::string& text() const { return text_; }
  const Device& device() const { return *device_; }    // its row
  const char* kind() const;                            // "cpu"
  const std::string& index() const { return index_; }  // what follows the kind's colon, "" where nothing does
  // What loads and runs a model's file by itself; null for a device that runs packages. A user's program is one called exec.
  const Framework* framework() const { return framework_; }
  bool is_program() const;
  static bool runs_packages(const Device& row);
  // Of another machine: the row is that of the device there, and what compiles for it asks remote() what the machine is.
  bool is_remote() const { return address_ != nullptr; }
  // Connects, for all later copies too; nothing for a device of this machine. Throws Environment, and Usage for a key
  // that such a device has no use for.
  void connect(const DeviceOptions& options);
  // Throws Usage unless it is connected: this tool reaches no other machine.
  const std::shared_ptr<RemoteHost>& remote() const;
  // As the other machine names it.
  const std::string& name_there() const { return name_there_; }
  bool float64() const;
  // Whether what is compiled for it should be for a GPU. Of another machine: once it is connected.
  bool on_gpu() const;

  friend bool operator==(const DeviceSpec& spec, std::string_view text) { return spec.text_ == text; }
  friend std::ostream& operator<<(std::ostream& out, const DeviceSpec& spec) { return out << spec.text_; }

 private:
  std::string text_, name_there_, index_;
  std::shared_ptr<const remote::Address> address_;
  std::shared_ptr<RemoteHost> remote_;
  const Device* device_ = nullptr;
  const Framework* framework_ = nullptr;
};

}  // namespace dnn
