// Classes, functions and statements of TorchScript's Python by recursive descent; see script.h.
#include "formats/torch/script.h"

#include "formats/torch/script_reader.h"

namespace dnn::torch {
namespace {

class ScriptParser {
 public:
  ScriptParser(std::string_view text, const std::string& file) : reader_(text, file) {}

  Script run() {
    Script script;
    while (!reader_.is(Token::Kind::End)) {
      if (reader_.skip_sign("class")) {
        Class c = parse_class();
        script.classes.insert_or_assign(c.name, std::move(c));
      } else if (reader_.skip_sign("def")) {
        Function f = parse_function();
        script.functions.insert_or_assign(f.name, std::move(f));
      } else {  // imports and version marks of older files
        while (!reader_.is(Token::Kind::Newline) && !reader_.is(Token::Kind::End)) reader_.advance();
        reader_.skip(Token::Kind::Newline);
      }
    }
    return script;
  }

 private:
  void begin_block() {
    reader_.expect(":");
    reader_.expect(Token::Kind::Newline, "the end of the line");
    reader_.expect(Token::Kind::Indent, "a block");
  }

  Class parse_class() {
    Class result;
    result.name = reader_.name();
    if (reader_.skip_sign("(")) {
      parse_expression(reader_);
      reader_.expect(")");
    }
    begin_block();
    while (!reader_.skip(Token::Kind::Dedent)) {
      if (reader_.skip_sign("def")) {
        Function f = parse_function();
        result.methods.insert_or_assign(f.name, std::move(f));
        continue;
      }
      if (reader_.is(Token::Kind::End)) break;
      const Expr target = parse_expression(reader_);
      if (reader_.skip_sign(":")) parse_expression(reader_);
      if (reader_.skip_sign("=")) {
        Expr value = parse_expression(reader_);
        if (target.kind == Expr::Kind::Name) result.constants.insert_or_assign(target.text, std::move(value));
      }
      reader_.expect(Token::Kind::Newline, "the end of the line");
    }
    return result;
  }

  Function parse_function() {
    Function result;
    result.file = reader_.file();
    result.line = reader_.token().line;
    result.name = reader_.name();
    reader_.expect("(");
    while (!reader_.skip_sign(")")) {
      Function::Parameter parameter;
      if (reader_.skip_sign("-")) reader_.fail("a parameter that begins with '-'");
      parameter.name = reader_.name();
      if (reader_.skip_sign(":")) parse_expression(reader_);
      if (reader_.skip_sign("=")) parameter.fallback = parse_expression(reader_);
      result.parameters.push_back(std::move(parameter));
      if (!reader_.is_sign(")")) reader_.expect(",");
    }
    if (reader_.skip_sign("->")) parse_expression(reader_);
    result.body = block();
    return result;
  }

  std::vector<Stmt> block() {
    const ScriptNesting nested(reader_);
    begin_block();
    std::vector<Stmt> body;
    while (!reader_.skip(Token::Kind::Dedent)) {
      if (reader_.is(Token::Kind::End)) reader_.fail("a block that does not end");
      if (reader_.skip_sign("pass")) {
        reader_.expect(Token::Kind::Newline, "the end of the line");
        continue;
      }
      body.push_back(statement());
    }
    return body;
  }

  Stmt statement() {
    Stmt s;
    s.line = reader_.token().line;
    if (reader_.skip_sign("if")) {
      s.kind = Stmt::Kind::If;
      s.value = parse_expression(reader_);
      s.body = block();
      if (reader_.skip_sign("else")) s.otherwise = block();
      return s;
    }
    if (reader_.skip_sign("while")) {
      s.kind = Stmt::Kind::While;
      s.value = parse_expression(reader_);
      s.body = block();
      return s;
    }
    if (reader_.skip_sign("for")) {
      s.kind = Stmt::Kind::For;
      s.targets = {parse_expression(reader_)};
      while (reader_.skip_sign(",")) {
        s.unpack = true;
        if (!reader_.is_sign("in")) s.targets.push_back(parse_expression(reader_));
      }
      reader_.expect("in");
      s.value = parse_expression(reader_);
      s.body = block();
      return s;
    }
    if (reader_.skip_sign("return")) {
      s.kind = Stmt::Kind::Return;
      if (!reader_.is(Token::Kind::Newline)) s.value = parse_expressions(reader_);
    } else if (reader_.skip_sign("assert")) {
      s.kind = Stmt::Kind::Assert;
      s.value = parse_expression(reader_);
      if (reader_.skip_sign(",")) parse_expression(reader_);
    } else {
      simple(s);
    }
    reader_.expect(Token::Kind::Newline, "the end of the line");
    return s;
  }

  // a, b, = value; a: Type = value; value
  void simple(Stmt& s) {
    Expr left = parse_expressions(reader_);
    if (reader_.skip_sign(":")) parse_expression(reader_);
    if (!reader_.skip_sign("=")) {
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
    s.value = parse_expressions(reader_);
  }

  ScriptReader reader_;
};

}  // namespace

Script parse_script(std::string_view text, const std::string& file) { return ScriptParser(text, file).run(); }

}  // namespace dnn::torch
