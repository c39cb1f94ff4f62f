// A server of Kenning (antmicro/kenning) as a device: it gets the model's own file, and runs it in whatever runtime it was started with.
// docs/reference/kenning.md.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "devices/device.h"

namespace dnn {

// True for a text that names such a device: "kenning://HOST:PORT", with "/2021" or "/2026" behind it where the wire is not to be told by who
// speaks first. Throws Usage for one that is written wrongly.
bool is_kenning(const std::string& device);

// `index`: what stands behind the kind's colon.
std::unique_ptr<Session> kenning_open(std::shared_ptr<const Package> package, const std::string& index,
                                      const DeviceOptions& options);
std::vector<std::string> kenning_list(const DeviceOptions& options);

}  // namespace dnn
