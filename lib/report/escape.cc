// Escaping; see escape.h.
#include "report/escape.h"

#include <algorithm>
#include <cctype>

#include "base/printable.h"

namespace dnn::report {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80;
}

// Whether a line that begins so would be a list item: "1.", "a)", "(iv)".
bool begins_like_enumeration(std::string_view text) {
  size_t i = text.starts_with('(') ? 1 : 0;
  while (i < text.size() && is_word(text[i])) ++i;
  return i > 0 && i < text.size() && (text[i] == '.' || text[i] == ')') && (i + 1 == text.size() || text[i + 1] == ' ');
}

// Whether the character at `at` is a colon that could mean something: before a blank it is one of a sentence.
bool is_busy_colon(std::string_view text, size_t at) {
  return text[at] == ':' && (at + 1 == text.size() || text[at + 1] != ' ');
}

}  // namespace

size_t character_count(std::string_view utf8) {
  size_t n = 0;
  for (const char c : utf8) n += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return n;
}

std::string shortened(std::string_view text, size_t n) {
  std::string whole = clean(text);
  const size_t count = character_count(whole);
  if (count <= n) return whole;
  const size_t head = n / 2, tail = n - head - 1;
  std::string out;
  size_t i = 0;
  for (const char c : whole) {
    i += (static_cast<unsigned char>(c) & 0xC0) != 0x80;  // i: of this character, from 1
    if (i <= head || i > count - tail) out += c;
    if (i == head + 1 && (static_cast<unsigned char>(c) & 0xC0) != 0x80) out += "\u2026";
  }
  return out;
}

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : clean(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

namespace {

// Blanks at the ends, which would be taken for indentation, as ones that cannot be broken.
std::string with_firm_ends(const std::string& text) {
  const size_t first = std::min(text.find_first_not_of(' '), text.size());
  const size_t last = text.find_last_not_of(' ') + 1;  // 0 where there is none
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i < first || i >= last) {
      out += "\u00a0";
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

Peeled peeled(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {std::string(text), "", ""};
  const size_t last = text.find_last_not_of(' ') + 1;
  return {std::string(text.substr(0, first)), std::string(text.substr(first, last - first)),
          std::string(text.substr(last))};
}

// A backslash before any character but a blank gives that character as it is, and what it is part of no meaning.
std::string rst_text(std::string_view text) {
  const std::string whole = with_firm_ends(clean(text));
  std::string out;
  for (size_t i = 0; i < whole.size(); ++i) {
    const char c = whole[i];
    const bool first = i == 0 && (std::ispunct(static_cast<unsigned char>(c)) != 0 || begins_like_enumeration(whole));
    if (first || is_busy_colon(whole, i) || std::string_view("\\`*_|<>@").find(c) != std::string_view::npos)
      out += '\\';
    out += c;
  }
  return out;
}

std::string markdown_text(std::string_view text) {
  const std::string whole = with_firm_ends(clean(text));
  std::string out;
  for (size_t i = 0; i < whole.size(); ++i) {
    const char c = whole[i];
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      // A line may begin a list, a rule or a heading; www. and https: are links by themselves on GitHub.
      const bool first = i == 0 && std::string_view("-+=.)").find(c) != std::string_view::npos;
      const bool number =
          (c == '.' || c == ')') && i > 0 && begins_like_enumeration(whole) && whole.find_first_of(".)") == i;
      const bool link = is_busy_colon(whole, i) || (c == '.' && i >= 3 && whole.compare(i - 3, 3, "www") == 0);
      if (first || number || link || std::string_view("\\`*_[]{}|~$@#!").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

}  // namespace dnn::report
