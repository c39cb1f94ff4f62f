// stated_divisor() as text; see stated_text.h.
#include "codegen/stated_text.h"

#include "base/text.h"
#include "codegen/print_words.h"
#include "loops/stated.h"
#include "loops/steps.h"

namespace dnn::codegen {

std::string stated_divisor_text(const StatedWords& words) {
  const DType dtype = starts_with(words.suffix, "f64") ? DType::Float64 : DType::Float32;
  const auto number = [&](double value) {
    const std::string text = float_text(dtype, value);
    return words.splat.empty() ? text : cat(words.splat, "(", text, ")");
  };
  const auto product = [&](const std::string& a, const std::string& b) {
    return words.calls ? cat(dtype == DType::Float64 ? "__dmul_rn(" : "__fmul_rn(", a, ", ", b, ")") : a + " * " + b;
  };
  const auto sum = [&](const std::string& a, const std::string& b) {
    return words.calls ? cat(dtype == DType::Float64 ? "__dadd_rn(" : "__fadd_rn(", a, ", ", b, ")") : a + " + " + b;
  };
  std::string text =
      cat(words.head, " ", words.type, " stated_divisor_", words.suffix, "(", words.type, " x) {\n", words.body,
          "  const ", words.type, " c = max_", words.suffix, "(", number(-loops::kStatedBound), ", min_", words.suffix,
          "(", number(loops::kStatedBound), ", x));\n");
  text += cat("  ", words.type, " p = ", number(loops::kStatedTerms[0]), ";\n");
  for (int i = 1; i < 5; ++i) {
    text += cat("  p = ", product("p", "c"), ";\n");
    text += cat("  p = ", sum("p", number(loops::kStatedTerms[i])), ";\n");
  }
  for (int i = 0; i < loops::kStatedSquares; ++i) text += cat("  p = ", product("p", "p"), ";\n");
  return text + cat("  return ", sum(number(1), "p"), ";\n}\n");
}

bool calls_stated_functions(const std::string& text) { return text.find("stated_divisor_") != std::string::npos; }

bool has_stated_functions(const loops::Stmt& body) {
  bool has = false;
  loops::rewrite_expressions(body, [&](const loops::Expr& e) {
    has = has || e->op == loops::Op::StatedDivisor;
    return e;
  });
  return has;
}

}  // namespace dnn::codegen
