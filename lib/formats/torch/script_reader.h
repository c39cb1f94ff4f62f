// The words of TorchScript's Python read one behind the other (script_lexer.h), and expressions of them.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "formats/torch/script.h"
#include "formats/torch/script_lexer.h"

namespace dnn::torch {

// The next word, and questions about it. Throws Malformed with file and line where an expected word is missing.
class ScriptReader {
 public:
  // `file` outlives this.
  ScriptReader(std::string_view text, const std::string& file) : file_(file), tokens_(tokenize(text, file)) {}

  template <class... T>
  [[noreturn]] void fail(const T&... parts) const {
    fail_malformed(file_, ":", token().line, ": ", parts...);
  }
  const Token& token() const { return tokens_[at_]; }
  // A token next to this one, by so many; it must be there.
  const Token& token(std::ptrdiff_t away) const { return tokens_[at_ + static_cast<size_t>(away)]; }
  size_t position() const { return at_; }
  const std::string& file() const { return file_; }
  void advance() { ++at_; }
  bool is(Token::Kind kind) const { return token().kind == kind; }
  // A sign or a word of the language.
  bool is_sign(std::string_view text) const {
    return (is(Token::Kind::Sign) || is(Token::Kind::Name)) && token().text == text;
  }
  bool skip_sign(std::string_view text) {
    if (!is_sign(text)) return false;
    ++at_;
    return true;
  }
  bool skip(Token::Kind kind) {
    if (!is(kind)) return false;
    if (!is(Token::Kind::End)) ++at_;
    return true;
  }
  void expect(std::string_view text) {
    if (!skip_sign(text)) fail("'", text, "' is expected, not '", token().text, "'");
  }
  void expect(Token::Kind kind, const char* what) {
    if (!skip(kind)) fail(what, " is expected, not '", token().text, "'");
  }
  std::string name() {
    if (!is(Token::Kind::Name)) fail("a name is expected, not '", token().text, "'");
    return tokens_[at_++].text;
  }

 private:
  friend class ScriptNesting;
  const std::string& file_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
};

// Stands around what brackets or a block hold. Malformed where they nest too deep.
class ScriptNesting {
 public:
  explicit ScriptNesting(ScriptReader& reader);
  ~ScriptNesting() { --reader_.depth_; }
  ScriptNesting(const ScriptNesting&) = delete;
  ScriptNesting& operator=(const ScriptNesting&) = delete;

 private:
  ScriptReader& reader_;
};

Expr parse_expression(ScriptReader& reader);
// One expression, or a tuple without brackets.
Expr parse_expressions(ScriptReader& reader);

}  // namespace dnn::torch
