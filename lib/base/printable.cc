// Text and numbers of files as a person may see them; see printable.h.
#include "base/printable.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

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
  if (code >= 0x20 && code < 0x7F) return false;
  struct Range {
    uint32_t first, last;
  };
  static constexpr Range kUnseen[] = {{0x00, 0x1F},       {0x7F, 0x9F},       {0xAD, 0xAD},      {0x34F, 0x34F},
                                      {0x61C, 0x61C},     {0x115F, 0x1160},   {0x17B4, 0x17B5},  {0x180B, 0x180F},
                                      {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},  {0x3164, 0x3164},
                                      {0xFDD0, 0xFDEF},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},  {0xFFF0, 0xFFFB},
                                      {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};
  return (code & 0xFFFE) == 0xFFFE || std::any_of(std::begin(kUnseen), std::end(kUnseen), [&](const Range& range) {
           return code >= range.first && code <= range.last;
         });
}

bool has_controls(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (c.size != 0 && (c.code < 0x20 || (c.code >= 0x7F && c.code < 0xA0))) return true;
    at += std::max<size_t>(c.size, 1);
  }
  return false;
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
