// Text helpers: concatenation, joining, number printing that reads back to the same bits.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace dnn {

// One part of a text: a string, a character, a number or what operator<< prints. It refers to what it was made from.
// Not a template, so that the thousands of messages of this library are calls and no streams of their own.
class TextPart {
 public:
  TextPart(std::string_view text) : data_(text.data()), size_(text.size()) {}
  TextPart(const std::string& text) : data_(text.data()), size_(text.size()) {}
  TextPart(const char* text) : TextPart(std::string_view(text)) {}
  TextPart(char c) : data_(digits_), size_(1) { digits_[0] = c; }
  TextPart(bool value) : TextPart(static_cast<char>('0' + value)) {}
  TextPart(int value) : TextPart(static_cast<long long>(value)) {}
  TextPart(long value) : TextPart(static_cast<long long>(value)) {}
  TextPart(long long value);
  TextPart(unsigned value) : TextPart(static_cast<unsigned long long>(value)) {}
  TextPart(unsigned long value) : TextPart(static_cast<unsigned long long>(value)) {}
  TextPart(unsigned long long value);
  TextPart(double value);  // six digits, as printf's %g
  // Anything else that operator<< prints; `printed` lives as long as the expression that the part is made in.
  template <class T>
  TextPart(const T& value, std::string&& printed = std::string())
      : TextPart(std::string_view(printed = print(value))) {}
  TextPart(const TextPart&) = delete;
  TextPart& operator=(const TextPart&) = delete;

  std::string_view text() const { return {data_, size_}; }

 private:
  template <class T>
  static std::string print(const T& value) {
    std::ostringstream out;
    out << value;
    return std::move(out).str();
  }

  const char* data_;
  size_t size_;
  char digits_[24];
};

// The parts one after another.
std::string cat_parts(std::initializer_list<TextPart> parts);

template <class... T>
std::string cat(const T&... parts) {
  return cat_parts({TextPart(parts)...});
}

template <class Range>
std::string join(const Range& items, std::string_view separator = ", ") {
  std::string out;
  bool first = true;
  for (const auto& item : items) {
    if (!first) out += separator;
    out += TextPart(item).text();
    first = false;
  }
  return out;
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
