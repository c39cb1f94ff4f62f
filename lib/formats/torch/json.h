// JSON of hostile files: bounded in size and depth, every access checked.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace dnn::torch {

using Json = nlohmann::json;

// Throws Malformed where it is none, or is nested deeper than 64; `what` names it.
Json parse_json(std::string_view text, std::string_view what);
// The member of an object; Malformed where it is missing or of another kind.
const Json& member(const Json& object, const char* key);
// The same, or null where it is missing.
const Json* find_member(const Json& object, const char* key);
int64_t integer(const Json& value, std::string_view what);
const std::string& text(const Json& value, std::string_view what);
const Json& array(const Json& value, std::string_view what);

}  // namespace dnn::torch
