// PickleWriter; see pickle_write.h. Opcodes: Python's pickletools.
#include "formats/wire/pickle_write.h"

#include "base/error.h"

namespace dnn::pickle {
namespace {

void put_bytes(std::string* out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) *out += static_cast<char>(value >> (8 * i) & 0xff);
}

}  // namespace

void Writer::integer(int64_t value) {
  if (value >= 0 && value <= 0xff) {
    text_ += 'K';
    put_bytes(&text_, static_cast<uint64_t>(value), 1);
  } else if (value >= 0 && value <= 0xffff) {
    text_ += 'M';
    put_bytes(&text_, static_cast<uint64_t>(value), 2);
  } else if (value >= INT32_MIN && value <= INT32_MAX) {
    text_ += 'J';
    put_bytes(&text_, static_cast<uint64_t>(value), 4);
  } else {
    text_ += "\x8a\x08";  // LONG1 of 8 bytes
    put_bytes(&text_, static_cast<uint64_t>(value), 8);
  }
}

void Writer::string(std::string_view utf8) {
  DNN_CHECK(utf8.size() <= UINT32_MAX);
  text_ += 'X';
  put_bytes(&text_, utf8.size(), 4);
  text_ += utf8;
}

void Writer::global(std::string_view module, std::string_view name) {
  text_ += 'c';
  text_ += module;
  text_ += '\n';
  text_ += name;
  text_ += '\n';
}

std::string Writer::finish() { return text_ + '.'; }

}  // namespace dnn::pickle
