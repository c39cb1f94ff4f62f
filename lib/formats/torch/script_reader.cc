// Expressions of TorchScript's Python by recursive descent; see script_reader.h.
#include "formats/torch/script_reader.h"

#include <algorithm>

namespace dnn::torch {
namespace {

constexpr int kMaxScriptDepth = 100;  // of brackets, blocks, and trees of expressions

class ExpressionParser {
 public:
  explicit ExpressionParser(ScriptReader& reader) : reader_(reader) {}

  Expr expressions() {
    Expr first = expression();
    if (!reader_.is_sign(",")) return first;
    Expr tuple;
    tuple.kind = Expr::Kind::Tuple;
    tuple.line = first.line;
    add(tuple, std::move(first));
    while (reader_.skip_sign(",")) {
      if (reader_.is(Token::Kind::Newline) || reader_.is_sign("=")) break;
      add(tuple, expression());
    }
    return tuple;
  }

  Expr expression() {
    const ScriptNesting nested(reader_);
    Expr e = atom();
    for (;;) {
      Expr outer;
      outer.line = reader_.token().line;
      if (reader_.skip_sign(".")) {
        outer.kind = Expr::Kind::Attribute;
        outer.text = reader_.name();
        add(outer, std::move(e));
      } else if (reader_.skip_sign("(")) {
        outer.kind = Expr::Kind::Call;
        add(outer, std::move(e));
        arguments(outer);
      } else if (reader_.skip_sign("[")) {
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

 private:
  void add(Expr& outer, Expr inner) const {
    outer.depth = std::max(outer.depth, inner.depth + 1);
    if (outer.depth > kMaxScriptDepth) reader_.fail("an expression is nested too deep");
    outer.items.push_back(std::move(inner));
  }

  void arguments(Expr& call) {
    while (!reader_.skip_sign(")")) {
      const bool keyword =
          reader_.is(Token::Kind::Name) && reader_.token(1).kind == Token::Kind::Sign && reader_.token(1).text == "=";
      if (keyword) {
        call.keywords.push_back(reader_.name());
        reader_.expect("=");
      } else if (!call.keywords.empty()) {
        reader_.fail("a positional argument behind a named one");
      }
      add(call, expression());
      if (!reader_.is_sign(")")) reader_.expect(",");
    }
  }

  // The items up to `close`, the opening sign being read.
  Expr bracketed(std::string_view close, Expr::Kind kind) {
    Expr e;
    e.kind = kind;
    e.line = reader_.token().line;
    while (!reader_.skip_sign(close)) {
      add(e, expression());
      if (kind == Expr::Kind::Dict) {
        reader_.expect(":");
        add(e, expression());
      }
      if (!reader_.is_sign(close)) reader_.expect(",");
    }
    return e;
  }

  Expr atom() {
    if (reader_.skip_sign("(")) {
      const size_t start = reader_.position();
      Expr tuple = bracketed(")", Expr::Kind::Tuple);
      const bool comma = reader_.position() >= start + 2 && reader_.token(-2).text == "," &&
                         reader_.token(-2).kind == Token::Kind::Sign;
      if (tuple.items.size() == 1 && !comma) return Expr(tuple.items[0]);
      return tuple;
    }
    if (reader_.skip_sign("[")) return bracketed("]", Expr::Kind::List);
    if (reader_.skip_sign("{")) return bracketed("}", Expr::Kind::Dict);
    Expr e;
    e.line = reader_.token().line;
    if (reader_.skip_sign("-")) {
      e.kind = Expr::Kind::Negative;
      add(e, expression());
      return e;
    }
    return word();
  }

  // A name or constant.
  Expr word() {
    Expr e;
    e.line = reader_.token().line;
    const Token& word = reader_.token();
    switch (word.kind) {
      case Token::Kind::Int:
        e.kind = Expr::Kind::Int;
        if (!parse_int(word.text, &e.integer)) {
          if (word.text != "9223372036854775808") reader_.fail(word.text, " is out of range");
          e.integer = INT64_MIN;  // what stands behind its minus
        }
        break;
      case Token::Kind::Float:
        e.kind = Expr::Kind::Float;
        if (!parse_double(word.text, &e.real)) reader_.fail(word.text, " is no number");
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
      default: reader_.fail("an expression is expected, not '", word.text, "'");
    }
    reader_.advance();
    return e;
  }

  ScriptReader& reader_;
};

}  // namespace

ScriptNesting::ScriptNesting(ScriptReader& reader) : reader_(reader) {
  if (++reader_.depth_ > kMaxScriptDepth) reader_.fail("brackets or blocks are nested too deep");
}

Expr parse_expression(ScriptReader& reader) { return ExpressionParser(reader).expression(); }

Expr parse_expressions(ScriptReader& reader) { return ExpressionParser(reader).expressions(); }

}  // namespace dnn::torch
