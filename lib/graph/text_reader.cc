// Words of the text form; see text_reader.h.
#include "graph/text_reader.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/text.h"

namespace dnn {
namespace {

bool is_word_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
         c == '/' || c == '-' || c == '+';
}

// -1 for what is no digit as the text form writes them, in lower case.
int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

TextToken TextLexer::next() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
  if (at_ < text_.size() && text_[at_] == '#') {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }
  TextToken token;
  token.line = line_;
  if (at_ == text_.size()) return token;
  const char c = text_[at_];
  if (c == '\n') {
    ++at_;
    ++line_;
    token.kind = TextToken::Kind::Newline;
  } else if (c == '"') {
    token.kind = TextToken::Kind::Text;
    token.text = quoted_text();
  } else if (is_word_character(c)) {
    token.kind = TextToken::Kind::Word;
    const size_t begin = at_;
    while (at_ < text_.size() && is_word_character(text_[at_])) ++at_;
    token.text = text_.substr(begin, at_ - begin);
  } else {
    token.kind = TextToken::Kind::Symbol;
    token.text = text_.substr(at_, text_.substr(at_, 2) == "::" ? 2 : 1);
    at_ += token.text.size();
  }
  return token;
}

std::string TextLexer::quoted_text() {
  std::string out;
  for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
    if (text_[at_] == '\n') break;
    if (text_[at_] != '\\') {
      out += text_[at_];
      continue;
    }
    const char escape = ++at_ < text_.size() ? text_[at_] : '\0';
    if (escape == 'n') {
      out += '\n';
    } else if (escape == 't') {
      out += '\t';
    } else if (escape == '"' || escape == '\\') {
      out += escape;
    } else if (escape == 'x' && at_ + 2 < text_.size() && hex_digit(text_[at_ + 1]) >= 0 &&
               hex_digit(text_[at_ + 2]) >= 0) {
      out += static_cast<char>(hex_digit(text_[at_ + 1]) * 16 + hex_digit(text_[at_ + 2]));
      at_ += 2;
    } else {
      fail_malformed("line ", line_, ": unknown escape in a quoted text");
    }
  }
  if (at_ == text_.size() || text_[at_] != '"') fail_malformed("line ", line_, ": a quoted text does not end");
  ++at_;
  return out;
}

std::string TextReader::found() const {
  switch (token_.kind) {
    case Kind::End: return ", the text ends";
    case Kind::Newline: return ", the line ends";
    default: return ", found " + quoted(token_.text);
  }
}

std::string TextReader::take() {
  std::string text = std::move(token_.text);
  advance();
  return text;
}

std::string TextReader::take_text() {
  if (!is(Kind::Text)) fail("a quoted text expected", found());
  return take();
}

std::string TextReader::take_name() {
  if (!is(Kind::Text) && !is(Kind::Word)) fail("a name expected", found());
  return take();
}

int64_t TextReader::take_int() {
  int64_t value = 0;
  if (!accept_int(&value)) fail("an integer expected", found());
  return value;
}

bool TextReader::accept_int(int64_t* value) {
  if (!is(Kind::Word) || !parse_int(token_.text, value)) return false;
  advance();
  return true;
}

bool TextReader::accept_float(float* value) {
  double wide = 0;
  if (!is(Kind::Word) || !parse_double(token_.text, &wide)) return false;
  *value = std::strtof(token_.text.c_str(), nullptr);
  advance();
  if (!std::isnan(*value) || !accept("(")) return true;
  const auto bits = static_cast<uint32_t>(take_int());
  std::memcpy(value, &bits, sizeof bits);
  expect(")");
  return true;
}

}  // namespace dnn
