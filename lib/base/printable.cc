// Text and numbers of files as a person may see them; see printable.h.
#include "base/printable.h"

#include <cmath>
#include <cstdio>

#include "base/text.h"

namespace dnn {

Character character_at(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {1, first};
  const size_t n = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (at + n > text.size() || !is_utf8(text.substr(at, n))) return {};
  uint32_t code = first & (0xFFU >> (n + 1));
  for (size_t i = 1; i < n; ++i) code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3FU);
  return {n, code};
}

bool is_unseen(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x61C || (code >= 0x200B && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF ||
         (code >= 0xFDD0 && code <= 0xFDEF) || (code & 0xFFFE) == 0xFFFE;
}

std::string clean(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  char escape[16];
  for (size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (c.size == 0) {
      std::snprintf(escape, sizeof escape, "\\x%02X", static_cast<unsigned char>(text[at]));
      out += escape;
    } else if (is_unseen(c.code)) {
      std::snprintf(escape, sizeof escape, "\\u{%X}", c.code);
      out += escape;
    } else {
      out += text.substr(at, c.size);
    }
    at += c.size == 0 ? 1 : c.size;
  }
  return out;
}

std::string plain(std::string_view text) {
  const std::string q = quoted(text);
  return q.substr(1, q.size() - 2);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string number_text(double value, const char* format) {
  if (std::isnan(value)) return "nan";
  char buffer[512];  // the longest is 1.8e308 in full, with its decimals
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

}  // namespace dnn
