// Examines a machine for dnn-doctor: what the tools use, whether it is as it should be, and what to do where it is not.
#pragma once
#include <string>
#include <vector>

#include "compile/open.h"
#include "devices/device.h"

namespace dnn {

struct MachineFact {
  enum class State {
    Ok,
    Absent,
    Act
  };  // Absent: not there, and nothing is wrong with that; Act: a person should do something
  State state = State::Ok;
  std::string subject, text;  // "key", what is there, or what to do
};
const char* state_name(MachineFact::State state);

// `open`: the places of this user, as use_folders() finds them; nothing there is made.
std::vector<MachineFact> examine(const OpenOptions& open, const DeviceOptions& device);

}  // namespace dnn
