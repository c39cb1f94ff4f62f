// Equations of Einsum; see equation.h.
#include "ops/equation.h"

#include <algorithm>
#include <map>

namespace dnn {

std::string explicit_equation(std::string equation) {
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  if (equation.find("->") != std::string::npos) return equation;
  std::map<char, int> count;
  for (char c : equation) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) ++count[c];
  }
  std::string result = equation.find('.') == std::string::npos ? "->" : "->...";
  for (const auto& [letter, n] : count) {
    if (n == 1) result += letter;  // in ASCII order
  }
  return equation + result;
}

}  // namespace dnn
