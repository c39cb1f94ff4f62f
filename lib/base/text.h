// Text helpers: concatenation, joining, number printing that reads back to the same bits.
#pragma once
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace dnn {

// The parts printed one after another, as operator<< prints them.
template <class... T>
std::string cat(const T&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::move(out).str();
}

template <class Range>
std::string join(const Range& items, std::string_view separator = ", ") {
  std::ostringstream out;
  bool first = true;
  for (const auto& item : items) {
    if (!first) out << separator;
    out << item;
    first = false;
  }
  return std::move(out).str();
}

std::vector<std::string> split(std::string_view text, char separator);
bool starts_with(std::string_view text, std::string_view prefix);
bool ends_with(std::string_view text, std::string_view suffix);

// Shortest decimal text that parses back to the same bits; "inf", "-inf", "nan" for the rest.
std::string exact_text(float value);
std::string exact_text(double value);

// Whether the bytes are UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

// `text` in double quotes with \" \\ \n \t and \xNN escapes: one line, printable ASCII and UTF-8 kept.
std::string quoted(std::string_view text);
// Better matches than std::quoted, which argument-dependent lookup finds wherever <filesystem> is included.
inline std::string quoted(const std::string& text) { return quoted(std::string_view(text)); }
inline std::string quoted(std::string& text) { return quoted(std::string_view(text)); }
inline std::string quoted(const char* text) { return quoted(std::string_view(text)); }

// The candidate with the smallest edit distance to `word`, or "" when none is close enough to suggest.
std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

// Whole-string integer; false when `text` is anything else or out of range.
bool parse_int(std::string_view text, int64_t* value);
bool parse_double(std::string_view text, double* value);

}  // namespace dnn
