// Splitting of TorchScript's Python into words; see script_lexer.h.
#include "formats/torch/script_lexer.h"

#include <cctype>

#include "base/error.h"

namespace dnn::torch {
namespace {

// A word takes some 30 times its text; code is small beside weights.
constexpr size_t kMaxScriptText = size_t{4} << 20;

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  Lexer(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) line();
    while (indents_.size() > 1) close_block();
    add(Token::Kind::End, "");
    return std::move(tokens_);
  }

 private:
  template <class... T>
  [[noreturn]] void fail(const T&... parts) const {
    fail_malformed(file_, ":", line_, ": ", parts...);
  }
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void add(Token::Kind kind, std::string_view text) { tokens_.push_back({kind, line_, std::string(text)}); }
  void close_block() {
    indents_.pop_back();
    add(Token::Kind::Dedent, "");
  }

  // A logical line: up to the end of a line that no bracket holds open.
  void line() {
    size_t indent = 0;
    while (peek() == ' ') {
      ++indent;
      ++at_;
    }
    if (peek() == '\n' || peek() == '#' || peek() == '\r' || at_ >= text_.size()) return skip_line();
    if (indent > indents_.back()) {
      indents_.push_back(indent);
      if (indents_.size() > 100) fail("blocks are nested too deep");
      add(Token::Kind::Indent, "");
    }
    while (indent < indents_.back()) close_block();
    if (indent != indents_.back()) fail("an indentation that fits no block");
    int open = 0;
    while (at_ < text_.size()) {
      const char c = peek();
      if (c == '\n') {
        if (open == 0) break;
        ++line_;
        ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (c == '#') {
        while (at_ < text_.size() && peek() != '\n') ++at_;
      } else {
        if (c == '(' || c == '[' || c == '{') ++open;
        if (c == ')' || c == ']' || c == '}') --open;
        word(c);
      }
    }
    add(Token::Kind::Newline, "");
    skip_line();
  }

  void skip_line() {
    while (at_ < text_.size() && peek() != '\n') ++at_;
    if (at_ < text_.size()) ++at_;
    ++line_;
  }

  void word(char c) {
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (c == '"' || c == '\'') return text(c);
    const size_t start = at_;
    if (is_name(c)) {
      while (is_name(peek())) ++at_;
      return add(Token::Kind::Name, text_.substr(start, at_ - start));
    }
    if (c == '-' && peek(1) == '>') {
      at_ += 2;
      return add(Token::Kind::Sign, "->");
    }
    if (std::string_view("()[]{},:.=-").find(c) == std::string_view::npos) fail("unexpected ", quoted_char(c));
    ++at_;
    add(Token::Kind::Sign, std::string_view(&c, 1));
  }
  static std::string quoted_char(char c) { return dnn::quoted(std::string_view(&c, 1)); }

  void number() {
    const size_t start = at_;
    bool real = false;
    while (is_digit(peek())) ++at_;
    if (peek() == '.') {
      real = true;
      ++at_;
      while (is_digit(peek())) ++at_;
    }
    if (peek() == 'e' || peek() == 'E') {
      real = true;
      ++at_;
      if (peek() == '-' || peek() == '+') ++at_;
      while (is_digit(peek())) ++at_;
    }
    add(real ? Token::Kind::Float : Token::Kind::Int, text_.substr(start, at_ - start));
  }

  void text(char quote) {
    ++at_;
    std::string value;
    while (peek() != quote) {
      if (at_ >= text_.size() || peek() == '\n') fail("a text that does not end");
      char c = text_[at_++];
      if (c == '\\') c = escape();
      value += c;
    }
    ++at_;
    add(Token::Kind::Text, value);
  }
  char escape() {
    const char c = peek();
    ++at_;
    switch (c) {
      case 'n': return '\n';
      case 't': return '\t';
      case 'r': return '\r';
      default: break;
    }
    if (c < '0' || c > '7') return c;
    int value = c - '0';  // octal
    for (int i = 0; i < 2 && peek() >= '0' && peek() <= '7'; ++i) value = value * 8 + (text_[at_++] - '0');
    return static_cast<char>(value);
  }

  std::string_view text_;
  const std::string& file_;
  size_t at_ = 0;
  int line_ = 1;
  std::vector<size_t> indents_ = {0};
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text, const std::string& file) {
  if (text.size() > kMaxScriptText)
    fail_unsupported(file, ": ", text.size(), " bytes of code; ", kMaxScriptText, " are read");
  return Lexer(text, file).run();
}

}  // namespace dnn::torch
