// JSON written, and JSON of others, parsed in time and memory that grow with its length alone.
//
// Printer and parser are compiled here, once: each source that calls json's own has a copy of them. An ordered_json's own parser compares each key with all before it in the object: a megabyte of keys takes minutes. It also nests
// as deep as the text does, and what is written or freed by recursion then runs out of stack.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace dnn {

// More levels than any file of the tools has.
inline constexpr int kDeepestJson = 64;

// As ordered_json::parse() without exceptions: discarded where the text is no JSON, or nests deeper than that. Of equal keys the last
// counts, in the first one's place.
nlohmann::ordered_json parse_ordered_json(std::string_view text, int deepest = kDeepestJson);

// As json::parse() without exceptions: discarded where the text is no JSON.
nlohmann::json parse_json(std::string_view text);

// On one line, or on lines of their own that `indent` blanks lead in for each level. Bytes that are no UTF-8 become U+FFFD.
std::string json_text(const nlohmann::json& json, int indent = -1);
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace dnn
