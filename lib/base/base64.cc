// Base64 (RFC 4648, section 4); see base64.h.
#include "base/base64.h"

#include <array>

namespace dnn {
namespace {

constexpr std::string_view kBase64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::array<int8_t, 256> decode_table() {
  std::array<int8_t, 256> table;
  table.fill(-1);
  for (size_t i = 0; i < kBase64Digits.size(); ++i)
    table[static_cast<uint8_t>(kBase64Digits[i])] = static_cast<int8_t>(i);
  return table;
}

}  // namespace

std::string base64_encode(Bytes bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '=');
  char* out = text.data();
  for (size_t i = 0; i < bytes.size(); i += 3, out += 4) {
    const size_t n = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) group = group << 8 | (j < n ? static_cast<uint8_t>(bytes[i + j]) : 0);
    for (size_t j = 0; j <= n; ++j) out[j] = kBase64Digits[group >> (18 - 6 * j) & 63];
  }
  return text;
}

std::vector<uint8_t> base64_decode(std::string_view text) {
  static const std::array<int8_t, 256> kTable = decode_table();
  if (text.size() % 4 != 0) fail_malformed("base64 of ", text.size(), " characters: not a multiple of 4");
  std::vector<uint8_t> bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    size_t n_padding = 0;
    if (i + 4 == text.size()) n_padding = text[i + 3] != '=' ? 0 : text[i + 2] != '=' ? 1 : 2;
    uint32_t group = 0;
    for (size_t j = 0; j < 4; ++j) {
      const int8_t digit = j >= 4 - n_padding ? int8_t{0} : kTable[static_cast<uint8_t>(text[i + j])];
      if (digit < 0) fail_malformed("base64: character ", i + j, " is none of its alphabet");
      group = group << 6 | static_cast<uint32_t>(digit);
    }
    for (size_t j = 0; j + n_padding < 3; ++j) bytes.push_back(static_cast<uint8_t>(group >> (16 - 8 * j) & 0xff));
  }
  return bytes;
}

}  // namespace dnn
