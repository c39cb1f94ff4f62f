// Parsing protobuf messages; see proto.h.
#include "formats/wire/proto.h"

#include <google/protobuf/stubs/logging.h>

#include <climits>

namespace dnn {

bool parse_message(Bytes bytes, google::protobuf::MessageLite* message) {
  const google::protobuf::LogSilencer silence;
  return bytes.size() <= INT_MAX && message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace dnn
