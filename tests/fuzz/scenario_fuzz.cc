// Scenarios of Kenning from hostile bytes: only Malformed and Unsupported may escape, and what is taken says where to listen.
#include "kenning/scenario.h"

#include "fuzz/fuzz.h"

DNN_FUZZ(scenario) {
  using namespace dnn;
  return dnn::fuzz::refuse_or_accept([&] {
    const serve::Scenario scenario = serve::parse_scenario(as_text(dnn::fuzz::as_input(data, size)));
    if (scenario.tcp.empty() == scenario.serial.empty()) __builtin_trap();
  });
}
