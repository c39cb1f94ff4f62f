// DeviceSpec: what a user names a device by, read once: "cpu:f64", "opencl:0", "lib:onnxruntime:ep=NAME", "exec:COMMAND".
#pragma once
#include <ostream>
#include <string>
#include <string_view>

namespace dnn {

struct Device;
struct Framework;

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
  bool float64() const;
  // Whether what is compiled for it should be for a GPU.
  bool on_gpu() const;

  friend bool operator==(const DeviceSpec& spec, std::string_view text) { return spec.text_ == text; }
  friend std::ostream& operator<<(std::ostream& out, const DeviceSpec& spec) { return out << spec.text_; }

 private:
  std::string text_, index_;
  const Device* device_ = nullptr;
  const Framework* framework_ = nullptr;
};

}  // namespace dnn
