// Connections by options; see device_args.h.
#include "infer/device_args.h"

#include "cli/console.h"
#include "remote/address.h"

namespace dnn {

DeviceOptions DeviceArgs::connection() const {
  DeviceOptions connection;
  connection.key_file = key;
  connection.variable = remote::with_adb_host(cli::variable, adb_host);
  return connection;
}

void DeviceArgs::check_connection(const std::string& devices) const {
  remote::check_key(key, devices);
  if (!adb_host.empty() && devices.find("adb://") == std::string::npos)
    fail_usage("--adb-host is for a device adb://SERIAL/cpu, not ", devices);
}

}  // namespace dnn
