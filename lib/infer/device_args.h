// A device as a tool's options name it, and how its machine is reached.
#pragma once
#include <string>

#include "devices/device.h"

namespace dnn {

struct DeviceArgs {
  std::string device = "cpu", key, adb_host;  // --device, --key, --adb-host; "" where not given

  DeviceOptions connection() const;
  // Throws Usage where none of these devices, as options or a placed package list them, has a use for --key or --adb-host.
  void check_connection(const std::string& devices) const;
};

}  // namespace dnn
