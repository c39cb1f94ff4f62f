// Records as the maps that the codec writes and reads; internal to lib/stream.
#pragma once
#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "stream/msgpack.h"
#include "stream/records.h"

namespace dnn::stream {

// `type` first, then the record's keys; bytes as JSON binary values, NaN and infinities as numbers.
Json record_to_map(const Record& record);
// Accepts binary values and base64 text, numbers and the texts "nan", "inf", "-inf". nullopt: a type not known.
std::optional<Record> record_from_map(const Json& map);

// The text at `key`, or "" when the key is missing or holds something else.
std::string_view text_at(const Json& map, std::string_view key);
// The bytes at `key`, from a binary value or base64 text. Throws Malformed.
std::vector<uint8_t> bytes_at(const Json& map, std::string_view key);

}  // namespace dnn::stream
