// The words of the text form of graphs (text.h), read one behind the other.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace dnn {

struct TextToken {
  enum class Kind { End, Newline, Word, Text, Symbol };
  Kind kind = Kind::End;
  std::string text;  // unescaped
  int line = 1;
};

// Splits text, which outlives it, into tokens. Throws Malformed with the line for a quoted text that is none.
class TextLexer {
 public:
  explicit TextLexer(std::string_view text) : text_(text) {}
  TextToken next();

 private:
  std::string quoted_text();

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
};

// The next token, and questions about it. Throws Malformed with the line where an expected token is missing.
class TextReader {
 public:
  using Kind = TextToken::Kind;
  explicit TextReader(std::string_view text) : lexer_(text) { advance(); }

  const TextToken& token() const { return token_; }
  bool is(Kind kind) const { return token_.kind == kind; }
  bool is(std::string_view symbol) const { return token_.kind == Kind::Symbol && token_.text == symbol; }
  bool is_word(std::string_view word) const { return token_.kind == Kind::Word && token_.text == word; }
  // ", found ..." of an error message.
  std::string found() const;
  template <class... T>
  [[noreturn]] void fail(const T&... parts) const {
    fail_malformed("line ", token_.line, ": ", parts...);
  }

  void advance() { token_ = lexer_.next(); }
  void skip_newlines() {
    while (is(Kind::Newline)) advance();
  }
  bool accept(std::string_view symbol) {
    if (!is(symbol)) return false;
    advance();
    return true;
  }
  void expect(std::string_view symbol) {
    if (!accept(symbol)) fail("'", symbol, "' expected", found());
  }
  // Items up to `close`, commas between them, on as many lines as they like.
  template <class Item>
  void items(std::string_view close, const Item& item) {
    skip_newlines();
    while (!is(close)) {
      item();
      skip_newlines();
      if (is(close)) break;
      expect(",");
      skip_newlines();
    }
    expect(close);
  }

  // The token's text, whatever it is; a quoted text; a quoted text or word; an integer.
  std::string take();
  std::string take_text();
  std::string take_name();
  int64_t take_int();
  // An integer, or a float: a number with a point, an exponent, or a name of infinity. False, and nothing is read, where the
  // token is none.
  bool accept_int(int64_t* value);
  bool accept_float(float* value);

 private:
  TextLexer lexer_;
  TextToken token_;
};

}  // namespace dnn
