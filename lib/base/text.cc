// Text helpers; see text.h.
#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/printable.h"

namespace dnn {

TextPart::TextPart(long long value) : data_(digits_) {
  size_ = static_cast<size_t>(std::to_chars(digits_, digits_ + sizeof digits_, value).ptr - digits_);
}

TextPart::TextPart(unsigned long long value) : data_(digits_) {
  size_ = static_cast<size_t>(std::to_chars(digits_, digits_ + sizeof digits_, value).ptr - digits_);
}

TextPart::TextPart(double value) : data_(digits_) {
  char* const end = digits_ + sizeof digits_;
  size_ = static_cast<size_t>(std::to_chars(digits_, end, value, std::chars_format::general, 6).ptr - digits_);
}

std::string cat_parts(std::initializer_list<TextPart> parts) {
  size_t size = 0;
  for (const TextPart& part : parts) size += part.text().size();
  std::string text;
  text.reserve(size);
  for (const TextPart& part : parts) text += part.text();
  return text;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (true) {
    size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

namespace {
template <class T>
std::string shortest(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[64];
  auto [end, ec] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, end);
}
}  // namespace

std::string exact_text(float value) { return shortest(value); }
std::string exact_text(double value) { return shortest(value); }

bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<uint8_t>(text[i++]);
    if (first < 0x80) continue;
    if (first < 0xc2 || first > 0xf4) return false;
    // The second byte's range depends on the first; further ones are 0x80 to 0xbf.
    uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    for (int more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3; more > 0; --more) {
      if (i == text.size()) return false;
      const auto next = static_cast<uint8_t>(text[i++]);
      if (next < low || next > high) return false;
      low = 0x80;
      high = 0xbf;
    }
  }
  return true;
}

namespace {
// How many characters at the start of `text` are printable ASCII that needs no escape.
size_t plain_run(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && text[n] >= ' ' && text[n] <= '~' && text[n] != '"' && text[n] != '\\') ++n;
  return n;
}
}  // namespace

std::string quoted(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (const size_t plain = plain_run(text.substr(at)); plain > 0) {
      out += text.substr(at, plain);
      at += plain;
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
      ++at;
    } else if (c == '\n' || c == '\t') {
      out += c == '\n' ? "\\n" : "\\t";
      ++at;
    } else {
      const Character whole = character_at(text, at);
      const bool visible = whole.size > 0 && !is_unseen(whole.code);
      for (size_t i = 0; i < std::max<size_t>(1, whole.size); ++i, ++at) {
        const auto byte = static_cast<unsigned char>(text[at]);
        if (visible) {
          out += text[at];
        } else {
          out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
        }
      }
    }
  }
  return out + "\"";
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    std::vector<size_t> row(candidate.size() + 1);  // Levenshtein distance, one row at a time
    for (size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= word.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j < row.size(); ++j) {
        size_t substitute = diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

bool parse_int(std::string_view text, int64_t* value) {
  auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return ec == std::errc() && end == text.data() + text.size();
}

bool parse_double(std::string_view text, double* value) {
  auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return ec == std::errc() && end == text.data() + text.size();
}

}  // namespace dnn
