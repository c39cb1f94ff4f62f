// Recursive descent over the words of TorchScript's Python; see script.h.
#include "formats/torch/script.h"

#include <algorithm>

#include "base/error.h"
#include "formats/torch/script_lexer.h"

namespace dnn::torch {
namespace {

constexpr int kMaxScriptDepth = 100;  // of brackets, blocks, and trees of expressions

class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : file_(file), tokens_(tokenize(text, file)) {}

  Script run() {
    Script script;
    while (!is(Token::Kind::End)) {
      if (skip_sign("class")) {
        Class c = parse_class();
        script.classes.insert_or_assign(c.name, std::move(c));
      } else if (skip_sign("def")) {
        Function f = parse_function();
        script.functions.insert_or_assign(f.name, std::move(f));
      } else {  // imports and version marks of older files
        while (!is(Token::Kind::Newline) && !is(Token::Kind::End)) ++at_;
        skip(Token::Kind::Newline);
      }
    }
    return script;
  }

 private:
  struct Nested {
    explicit Nested(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kMaxScriptDepth) parser_.fail("brackets or blocks are nested too deep");
    }
    ~Nested() { --parser_.depth_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;
    Parser& parser_;
  };

  template <class... T>
  [[noreturn]] void fail(const T&... parts) const {
    fail_malformed(file_, ":", token().line, ": ", parts...);
  }
  const Token& token() const { return tokens_[at_]; }
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
  void begin_block() {
    expect(":");
    expect(Token::Kind::Newline, "the end of the line");
    expect(Token::Kind::Indent, "a block");
  }

  Class parse_class() {
    Class result;
    result.name = name();
    if (skip_sign("(")) {
      expression();
      expect(")");
    }
    begin_block();
    while (!skip(Token::Kind::Dedent)) {
      if (skip_sign("def")) {
        Function f = parse_function();
        result.methods.insert_or_assign(f.name, std::move(f));
        continue;
      }
      if (is(Token::Kind::End)) break;
      const Expr target = expression();
      if (skip_sign(":")) expression();
      if (skip_sign("=")) {
        Expr value = expression();
        if (target.kind == Expr::Kind::Name) result.constants.insert_or_assign(target.text, std::move(value));
      }
      expect(Token::Kind::Newline, "the end of the line");
    }
    return result;
  }

  Function parse_function() {
    Function result;
    result.file = file_;
    result.line = token().line;
    result.name = name();
    expect("(");
    while (!skip_sign(")")) {
      Function::Parameter parameter;
      if (skip_sign("-")) fail("a parameter that begins with '-'");
      parameter.name = name();
      if (skip_sign(":")) expression();
      if (skip_sign("=")) parameter.fallback = expression();
      result.parameters.push_back(std::move(parameter));
      if (!is_sign(")")) expect(",");
    }
    if (skip_sign("->")) expression();
    result.body = block();
    return result;
  }

  std::vector<Stmt> block() {
    const Nested nested(*this);
    begin_block();
    std::vector<Stmt> body;
    while (!skip(Token::Kind::Dedent)) {
      if (is(Token::Kind::End)) fail("a block that does not end");
      if (skip_sign("pass")) {
        expect(Token::Kind::Newline, "the end of the line");
        continue;
      }
      body.push_back(statement());
    }
    return body;
  }

  Stmt statement() {
    Stmt s;
    s.line = token().line;
    if (skip_sign("if")) {
      s.kind = Stmt::Kind::If;
      s.value = expression();
      s.body = block();
      if (skip_sign("else")) s.otherwise = block();
      return s;
    }
    if (skip_sign("while")) {
      s.kind = Stmt::Kind::While;
      s.value = expression();
      s.body = block();
      return s;
    }
    if (skip_sign("for")) {
      s.kind = Stmt::Kind::For;
      s.targets = {expression()};
      while (skip_sign(",")) {
        s.unpack = true;
        if (!is_sign("in")) s.targets.push_back(expression());
      }
      expect("in");
      s.value = expression();
      s.body = block();
      return s;
    }
    if (skip_sign("return")) {
      s.kind = Stmt::Kind::Return;
      if (!is(Token::Kind::Newline)) s.value = expressions();
    } else if (skip_sign("assert")) {
      s.kind = Stmt::Kind::Assert;
      s.value = expression();
      if (skip_sign(",")) expression();
    } else {
      simple(s);
    }
    expect(Token::Kind::Newline, "the end of the line");
    return s;
  }

  // a, b, = value; a: Type = value; value
  void simple(Stmt& s) {
    Expr left = expressions();
    if (skip_sign(":")) expression();
    if (!skip_sign("=")) {
      s.kind = Stmt::Kind::Eval;
      s.value = std::move(left);
      return;
    }
    s.kind = Stmt::Kind::Assign;
    s.unpack = left.kind == Expr::Kind::Tuple;
    if (s.unpack) {
      s.targets = std::move(left.items);
    } else {
      s.targets = {std::move(left)};
    }
    s.value = expressions();
  }

  void add(Expr& outer, Expr inner) const {
    outer.depth = std::max(outer.depth, inner.depth + 1);
    if (outer.depth > kMaxScriptDepth) fail("an expression is nested too deep");
    outer.items.push_back(std::move(inner));
  }

  // One expression, or a tuple without brackets.
  Expr expressions() {
    Expr first = expression();
    if (!is_sign(",")) return first;
    Expr tuple;
    tuple.kind = Expr::Kind::Tuple;
    tuple.line = first.line;
    add(tuple, std::move(first));
    while (skip_sign(",")) {
      if (is(Token::Kind::Newline) || is_sign("=")) break;
      add(tuple, expression());
    }
    return tuple;
  }

  Expr expression() {
    const Nested nested(*this);
    Expr e = atom();
    for (;;) {
      Expr outer;
      outer.line = token().line;
      if (skip_sign(".")) {
        outer.kind = Expr::Kind::Attribute;
        outer.text = name();
        add(outer, std::move(e));
      } else if (skip_sign("(")) {
        outer.kind = Expr::Kind::Call;
        add(outer, std::move(e));
        arguments(outer);
      } else if (skip_sign("[")) {
        outer.kind = Expr::Kind::Subscript;
        add(outer, std::move(e));
        Expr index = bracketed("]", Expr::Kind::Tuple);
        if (index.items.size() == 1) index = Expr(index.items[0]);  // a copy: the tuple goes
        add(outer, std::move(index));
      } else {
        return e;
      }
      e = std::move(outer);
    }
  }

  void arguments(Expr& call) {
    while (!skip_sign(")")) {
      const bool keyword =
          is(Token::Kind::Name) && tokens_[at_ + 1].kind == Token::Kind::Sign && tokens_[at_ + 1].text == "=";
      if (keyword) {
        call.keywords.push_back(name());
        expect("=");
      } else if (!call.keywords.empty()) {
        fail("a positional argument behind a named one");
      }
      add(call, expression());
      if (!is_sign(")")) expect(",");
    }
  }

  // The items up to `close`, the opening sign being read.
  Expr bracketed(std::string_view close, Expr::Kind kind) {
    Expr e;
    e.kind = kind;
    e.line = token().line;
    while (!skip_sign(close)) {
      add(e, expression());
      if (kind == Expr::Kind::Dict) {
        expect(":");
        add(e, expression());
      }
      if (!is_sign(close)) expect(",");
    }
    return e;
  }

  Expr atom() {
    Expr e;
    e.line = token().line;
    if (skip_sign("(")) {
      const size_t start = at_;
      Expr tuple = bracketed(")", Expr::Kind::Tuple);
      const bool comma =
          at_ >= 2 && at_ - 2 >= start && tokens_[at_ - 2].text == "," && tokens_[at_ - 2].kind == Token::Kind::Sign;
      if (tuple.items.size() == 1 && !comma) return Expr(tuple.items[0]);
      return tuple;
    }
    if (skip_sign("[")) return bracketed("]", Expr::Kind::List);
    if (skip_sign("{")) return bracketed("}", Expr::Kind::Dict);
    if (skip_sign("-")) {
      e.kind = Expr::Kind::Negative;
      add(e, expression());
      return e;
    }
    const Token& word = token();
    switch (word.kind) {
      case Token::Kind::Int:
        e.kind = Expr::Kind::Int;
        if (!parse_int(word.text, &e.integer)) {
          if (word.text != "9223372036854775808") fail(word.text, " is out of range");
          e.integer = INT64_MIN;  // what stands behind its minus
        }
        break;
      case Token::Kind::Float:
        e.kind = Expr::Kind::Float;
        if (!parse_double(word.text, &e.real)) fail(word.text, " is no number");
        break;
      case Token::Kind::Text:
        e.kind = Expr::Kind::Text;
        e.text = word.text;
        break;
      case Token::Kind::Name:
        e.kind = Expr::Kind::Name;
        e.text = word.text;
        if (word.text == "True" || word.text == "False") {
          e.kind = Expr::Kind::Bool;
          e.integer = word.text == "True" ? 1 : 0;
        }
        if (word.text == "None") e.kind = Expr::Kind::None;
        break;
      default: fail("an expression is expected, not '", word.text, "'");
    }
    ++at_;
    return e;
  }

  const std::string& file_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Script parse_script(std::string_view text, const std::string& file) { return Parser(text, file).run(); }

}  // namespace dnn::torch
