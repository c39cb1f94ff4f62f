// Protobuf messages out of untrusted bytes.
#pragma once
#include <google/protobuf/message_lite.h>

#include <string>
#include <vector>

#include "base/bytes.h"

namespace dnn {

// Whether the bytes, less than 2 GiB of them, are such a message, which is filled in. Says nothing on standard error, unlike
// protobuf's own functions for text that is not UTF-8.
bool parse_message(Bytes bytes, google::protobuf::MessageLite* message);

// Where in a file format's messages long fields of bytes may stand, as steps from the message 0: field `field` of `message` is the
// message `to`, or, with kLong, such a field of bytes.
struct ProtoStep {
  int message, field, to;
};
inline constexpr int kLong = -1;
// The number that a field of bytes called `place` has in a message with a long field, in our schemas.
inline constexpr int kPlaceField = 536870911;

// The same, but a long field of some size is not copied: its message has a `place` instead. The steps must lead to every message
// with such a field.
bool parse_message(Bytes bytes, const std::vector<ProtoStep>& steps, google::protobuf::MessageLite* message);
// The field's bytes in the file that was parsed.
Bytes bytes_at(const std::string& place, Bytes file);

}  // namespace dnn
