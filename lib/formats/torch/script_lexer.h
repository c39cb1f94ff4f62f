// Words of TorchScript's Python: names, numbers, texts, signs, and the ends of lines and blocks.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dnn::torch {

struct Token {
  enum class Kind : unsigned char { Name, Int, Float, Text, Sign, Newline, Indent, Dedent, End };
  Kind kind = Kind::End;
  int line = 0;
  std::string text;
};

// Throws Malformed with file and line.
std::vector<Token> tokenize(std::string_view text, const std::string& file);

}  // namespace dnn::torch
