// Members of a JSON map that may be missing or of another kind: text and lists.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace dnn::report {

inline std::string text_at(const nlohmann::json& map, const char* key) {
  const auto it = map.find(key);
  return it != map.end() && it->is_string() ? it->get<std::string>() : "";
}

inline const nlohmann::json& list_at(const nlohmann::json& map, const char* key) {
  static const nlohmann::json kNone = nlohmann::json::array();
  const auto it = map.find(key);
  return it != map.end() && it->is_array() ? *it : kNone;
}

}  // namespace dnn::report
