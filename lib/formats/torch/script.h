// The Python that TorchScript archives hold as text, parsed: classes, functions, statements, expressions. Nothing runs here.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dnn::torch {

struct Expr {
  enum class Kind : uint8_t {
    Name,
    Attribute,
    Call,
    Subscript,
    List,
    Tuple,
    Dict,
    Int,
    Float,
    Text,
    Bool,
    None,
    Negative
  };
  Kind kind = Kind::None;
  int line = 0;
  int depth = 1;        // of the tree below
  int64_t integer = 0;  // Int, Bool
  double real = 0;      // Float
  std::string text;     // Name, Attribute: its name; Text
  // Attribute, Negative: of what. Subscript: of what, index. Call: callee, arguments, then the values of `keywords`. List,
  // Tuple: items. Dict: key, value, key, value...
  std::vector<Expr> items;
  std::vector<std::string> keywords;
};

struct Stmt {
  enum class Kind : uint8_t { Assign, Return, If, For, While, Assert, Eval };
  Kind kind = Kind::Eval;
  int line = 0;
  // Assign: names, attributes or subscripts that get the parts of `value`; one that gets all of it where `unpack` is not set.
  // For: the loop's variables.
  std::vector<Expr> targets;
  bool unpack = false;
  Expr value;  // also If, While, Assert: the condition; For: what is looped over; Return: the result
  std::vector<Stmt> body, otherwise;
};

struct Function {
  struct Parameter {
    std::string name;
    std::optional<Expr> fallback;
  };
  std::string name, file;
  int line = 0;
  std::vector<Parameter> parameters;
  std::vector<Stmt> body;
};

struct Class {
  std::string name;
  std::map<std::string, Function> methods;
  std::map<std::string, Expr> constants;  // attributes that the class gives
};

struct Script {
  std::map<std::string, Class> classes;
  std::map<std::string, Function> functions;
};

// A file of code/. Throws Malformed with file and line for what is not the printed form of TorchScript.
Script parse_script(std::string_view text, const std::string& file);

}  // namespace dnn::torch
