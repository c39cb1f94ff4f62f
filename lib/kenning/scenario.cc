// Scenario files of Kenning; see scenario.h.
#include "kenning/scenario.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "base/text.h"

namespace dnn::serve {
namespace {

using Json = nlohmann::json;

const Json& object_at(const Json& map, const char* key) {
  static const Json kNone = Json::object();
  const auto found = map.find(key);
  if (found == map.end() || found->is_null()) return kNone;
  if (!found->is_object()) fail_malformed("'", key, "' is no object");
  return *found;
}

std::string text_at(const Json& map, const char* key, const char* otherwise) {
  const auto found = map.find(key);
  if (found == map.end() || found->is_null()) return otherwise;
  if (!found->is_string()) fail_malformed("'", key, "' is no text");
  return found->get<std::string>();
}

int64_t number_at(const Json& map, const char* key, int64_t otherwise, int64_t most) {
  const auto found = map.find(key);
  if (found == map.end() || found->is_null()) return otherwise;
  const bool fits = found->is_number_unsigned() && found->get<uint64_t>() <= static_cast<uint64_t>(most);
  if (!fits) fail_malformed("'", key, "' is no number from 0 to ", most);
  return found->get<int64_t>();
}

// Classes stand there alone or behind their modules.
std::string class_of(const Json& block) {
  const std::string name = text_at(block, "type", "");
  return name.substr(name.rfind('.') + 1);
}

}  // namespace

Scenario parse_scenario(std::string_view text) {
  const Json json = parse_json(text);
  if (!json.is_object()) fail_malformed("no JSON object: a scenario of Kenning is one");
  // That of the versions before 0.5 has the second name.
  const Json& now = object_at(json, "protocol");
  const Json& protocol = now.empty() ? object_at(json, "runtime_protocol") : now;
  const std::string kind = class_of(protocol);
  const Json& parameters = object_at(protocol, "parameters");
  constexpr int64_t kMostPort = 65535, kMostBaud = 100'000'000, kPort = 12345, kBaud = 9600;  // Kenning's own defaults
  Scenario scenario;
  if (kind == "NetworkProtocol") {
    const std::string host = text_at(parameters, "host", "localhost");
    const bool six = host.find(':') != std::string::npos && host[0] != '[';
    scenario.tcp = cat(six ? "[" + host + "]" : host, ":", number_at(parameters, "port", kPort, kMostPort));
  } else if (kind == "UARTProtocol") {
    const std::string line = text_at(parameters, "port", "");
    if (line.empty()) fail_malformed("'port' of UARTProtocol names no serial line");
    scenario.serial = cat(line, ":", number_at(parameters, "baudrate", kBaud, kMostBaud));
  } else if (kind.empty()) {
    fail_unsupported("it has no 'protocol': nothing says where to listen; give --tcp or --serial in place of it");
  } else {
    fail_unsupported("protocol ", kind, " is not served; NetworkProtocol and UARTProtocol are");
  }
  if (json.contains("runtime"))
    scenario.ignored.push_back(cat("runtime ", class_of(object_at(json, "runtime")), ": models are compiled here"));
  const auto optimizers = json.find("optimizers");
  if (optimizers != json.end() && optimizers->is_array()) {
    for (const Json& optimizer : *optimizers) {
      if (optimizer.is_object() && text_at(object_at(optimizer, "parameters"), "location", "host") == "target")
        scenario.ignored.push_back(
            cat("optimizer ", class_of(optimizer), " at the target: Kenning must run it itself (location host)"));
    }
  }
  return scenario;
}

}  // namespace dnn::serve
