// Stated functions as text; see stated_text.h.
#include "codegen/stated_text.h"

#include "base/text.h"
#include "codegen/print_words.h"
#include "loops/stated.h"
#include "loops/steps.h"

namespace dnn::codegen {
namespace {

// One function's text, statement by statement.
class Function {
 public:
  Function(const StatedWords& words, const char* name) : words_(words) {
    text_ = cat(words.head, " ", words.type, " ", name, "_", words.suffix, "(", words.type, " x) {\n", words.body);
  }

  std::string number(double value) const {
    const std::string text = float_text(dtype(), value);
    return words_.splat.empty() ? text : cat(words_.splat, "(", text, ")");
  }
  std::string product(const std::string& a, const std::string& b) const {
    return words_.calls ? cat(call("mul"), a, ", ", b, ")") : cat(a, " * ", b);
  }
  std::string sum(const std::string& a, const std::string& b) const {
    return words_.calls ? cat(call("add"), a, ", ", b, ")") : cat(a, " + ", b);
  }
  void define(const std::string& name, const std::string& value) {
    line(cat("const ", words_.type, " ", name, " = ", value));
  }
  void clamp(const char* name, double bound) {
    define(name, cat("max_", words_.suffix, "(", number(-bound), ", min_", words_.suffix, "(", number(bound), ", x))"));
  }
  // Defines `name`, the polynomial of `at` (loops::stated_polynomial()).
  void polynomial(const std::string& name, const double (&terms)[5], const std::string& at) {
    const auto define_part = [&](const char* part, const std::string& value) { define(name + part, value); };
    define_part("_square", product(at, at));
    define_part("_high", sum(product(at, number(terms[1])), number(terms[2])));
    define_part("_low", sum(product(at, number(terms[3])), number(terms[4])));
    define_part("_top", sum(product(name + "_square", number(terms[0])), name + "_high"));
    define(name, sum(product(name + "_top", name + "_square"), name + "_low"));
  }
  // Returns 1 + exp(-at), where `at` is within the bound.
  void finish_power(const std::string& at) {
    polynomial("root", loops::kStatedTerms, at);
    line(words_.type + " p = root");
    for (int i = 0; i < loops::kStatedSquares; ++i) line("p = " + product("p", "p"));
    line("return " + sum(number(1), "p"));
  }
  void line(const std::string& statement) { text_ += cat("  ", statement, ";\n"); }
  std::string finish() { return text_ + "}\n"; }

 private:
  DType dtype() const { return starts_with(words_.suffix, "f64") ? DType::Float64 : DType::Float32; }
  std::string call(const char* operation) const {
    return cat(dtype() == DType::Float64 ? "__d" : "__f", operation, "_rn(");
  }

  const StatedWords& words_;
  std::string text_;
};

}  // namespace

std::string stated_functions_text(const StatedWords& words) {
  Function divisor(words, "stated_divisor");
  divisor.clamp("c", loops::kStatedBound);
  divisor.finish_power("c");
  Function normal(words, "stated_normal");
  normal.clamp("c", loops::kStatedNormalBound);
  normal.define("square", normal.product("c", "c"));
  normal.polynomial("odds", loops::kStatedNormalTerms, "square");
  normal.define("logarithm", normal.product("odds", "c"));
  normal.finish_power("logarithm");
  return divisor.finish() + normal.finish();
}

bool calls_stated_functions(const std::string& text) {
  return text.find("stated_divisor_") != std::string::npos || text.find("stated_normal_") != std::string::npos;
}

bool has_stated_functions(const loops::Stmt& body) {
  bool has = false;
  loops::rewrite_expressions(body, [&](const loops::Expr& e) {
    has = has || e->op == loops::Op::StatedDivisor || e->op == loops::Op::StatedNormal;
    return e;
  });
  return has;
}

}  // namespace dnn::codegen
