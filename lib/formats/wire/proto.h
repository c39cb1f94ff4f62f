// Protobuf messages out of untrusted bytes.
#pragma once
#include <google/protobuf/message_lite.h>

#include "base/bytes.h"

namespace dnn {

// Whether the bytes, less than 2 GiB of them, are such a message, which is filled in. Says nothing on standard error, unlike
// protobuf's own functions for text that is not UTF-8.
bool parse_message(Bytes bytes, google::protobuf::MessageLite* message);

}  // namespace dnn
