// Checked access to JSON; see json.h.
#include "formats/torch/json.h"

#include "base/error.h"

namespace dnn::torch {

namespace {
constexpr int kMaxJsonDepth = 64;
// A parsed document is much larger than its text.
constexpr size_t kMaxJsonText = size_t{64} << 20;
}  // namespace

Json parse_json(std::string_view text, std::string_view what) {
  if (text.size() > kMaxJsonText)
    fail_unsupported(what, ": ", text.size(), " bytes of JSON; ", kMaxJsonText, " are read");
  const auto check = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > kMaxJsonDepth) fail_malformed(what, ": nested deeper than ", kMaxJsonDepth);
    return true;
  };
  Json json;
  try {
    json = Json::parse(text, check);
  } catch (const Json::exception& e) {
    fail_malformed(what, ": ", e.what());
  }
  return json;
}

const Json* find_member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

const Json& member(const Json& object, const char* key) {
  const Json* found = find_member(object, key);
  if (found == nullptr) fail_malformed("JSON: ", dnn::quoted(key), " is missing");
  return *found;
}

int64_t integer(const Json& value, std::string_view what) {
  if (!value.is_number_integer()) fail_malformed("JSON: ", what, " is no integer");
  if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX)
    fail_malformed("JSON: ", what, " is out of range");
  return value.get<int64_t>();
}

const std::string& text(const Json& value, std::string_view what) {
  if (!value.is_string()) fail_malformed("JSON: ", what, " is no text");
  return value.get_ref<const std::string&>();
}

const Json& array(const Json& value, std::string_view what) {
  if (!value.is_array()) fail_malformed("JSON: ", what, " is no list");
  return value;
}

}  // namespace dnn::torch
