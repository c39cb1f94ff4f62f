// Scenario files of Kenning: where the server of one listens.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dnn::serve {

struct Scenario {
  std::string tcp, serial;           // one of them: "HOST:PORT", "TTY:BAUD"
  std::vector<std::string> ignored;  // what a server here has no use for, and why: "runtime TFLiteRuntime: ..."
};

// Throws Malformed for what is no scenario, Unsupported for one without a protocol that is served here.
Scenario parse_scenario(std::string_view text);

}  // namespace dnn::serve
