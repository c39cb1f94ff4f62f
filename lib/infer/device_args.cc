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

}  // namespace dnn
