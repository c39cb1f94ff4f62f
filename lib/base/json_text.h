// JSON of others, parsed in time and memory that grow with its length alone.
//
// An ordered_json's own parser compares each key with all before it in the object: a megabyte of keys takes minutes. It also nests
// as deep as the text does, and what is written or freed by recursion then runs out of stack.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace dnn {

// More levels than any file of the tools has.
inline constexpr int kDeepestJson = 64;

// As ordered_json::parse() without exceptions: discarded where the text is no JSON, or nests deeper than that. Of equal keys the last
// counts, in the first one's place.
nlohmann::ordered_json parse_ordered_json(std::string_view text, int deepest = kDeepestJson);

}  // namespace dnn
