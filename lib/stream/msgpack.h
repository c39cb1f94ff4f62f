// The msgpack codec of the streams: values of nlohmann's JSON type (with its binary kind for bytes) to and from the
// encoding of https://github.com/msgpack/msgpack/blob/master/spec.md. Extension types read as null.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace dnn::stream {

using Json = nlohmann::ordered_json;

inline constexpr size_t kMaxRecordBytes = size_t{1} << 26;
inline constexpr uint64_t kMaxRecordItems = uint64_t{1} << 20;  // elements, keys and values of one record
inline constexpr size_t kMaxRecordDepth = 32;

// Appends `value`. Doubles that float32 holds exactly take 4 bytes. Throws Unsupported beyond kMaxRecordDepth.
void msgpack_encode(const Json& value, std::string* out);

// The one value that fills `bytes`. Throws Malformed on anything else, and beyond the limits above.
Json msgpack_decode(Bytes bytes);
// The same of bytes that a MsgpackScanner has found to be one value, and no more.
Json msgpack_decode_scanned(Bytes bytes);

// Finds the end of one value whose bytes arrive piece by piece, allocating nothing that the bytes do not pay for.
class MsgpackScanner {
 public:
  // `bytes` starts with the value and holds at least as much as in the last call. True when the value is complete.
  // Throws Malformed as soon as a limit is crossed or a byte cannot be msgpack.
  bool complete(Bytes bytes);
  // The value's length once complete; before that, the length that is already known to be needed.
  size_t size() const { return position_; }

 private:
  size_t position_ = 0;
  uint64_t items_ = 0;
  std::vector<uint64_t> open_ = {1};  // values still to come in each open container, outermost first
};

}  // namespace dnn::stream
