// How numbers and names read in the reports of lib/localize.
#pragma once
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "base/printable.h"
#include "base/text.h"

namespace dnn::words {

inline std::string number(double value) { return number_text(value, "%.3g"); }
inline std::string precise(double value) { return number_text(value, "%.9g"); }

// Infinities and NaN, which JSON has not, as text.
inline nlohmann::ordered_json json_number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(exact_text(value));
}

inline std::string json_line(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace dnn::words
