// Stated functions as text; see stated_text.h.
#include "codegen/stated_text.h"

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "codegen/print_words.h"
#include "loops/stated.h"
#include "loops/steps.h"

namespace dnn::codegen {
namespace {

constexpr loops::Op kFunctions[] = {loops::Op::StatedDivisor, loops::Op::StatedNormal, loops::Op::StatedExponential};

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
  // Returns exp(x); see loops::stated_exponential().
  void finish_exponential() {
    const double rounder = dtype() == DType::Float64 ? loops::kStatedRounder<double> : loops::kStatedRounder<float>;
    clamp("c", loops::kStatedExponent);
    define("t", sum(product("c", number(loops::kStatedPerLog2)), number(rounder)));
    define("n", sum("t", number(-rounder)));
    define("high", sum("c", product("n", number(-loops::kStatedLog2High))));
    define("r", sum("high", product("n", number(-loops::kStatedLog2Low))));
    polynomial("terms", loops::kStatedExpTerms, "r");
    define("q", sum(product("terms", "r"), number(0.5)));
    define("square", product("r", "r"));
    define("p", sum(sum(product("q", "square"), "r"), number(1)));
    line(cat(words_.type, " power = ", product("p", number(0x1p-116)),
             ", left = ", sum("n", number(loops::kStatedLeast)), ", has"));
    for (const int bits : loops::kStatedPowers) {
      line(cat("has = min_", words_.suffix, "(", number(1), ", max_", words_.suffix, "(", number(0), ", ",
               sum("left", number(1 - bits)), "))"));
      line("power = " +
           product("power", "(" + sum(product("has", number(loops::stated_power_less_1(bits))), number(1)) + ")"));
      line("left = " + sum("left", product("has", number(-bits))));
    }
    line("return power");
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

std::string stated_functions_text(const StatedWords& words, const std::string& kernels) {
  std::string text;
  const auto add = [&](const char* name, const std::function<void(Function&)>& body) {
    if (kernels.find(cat(name, "_", words.suffix, "(")) == std::string::npos) return;
    Function function(words, name);
    body(function);
    text += function.finish();
  };
  add("stated_divisor", [](Function& f) {
    f.clamp("c", loops::kStatedBound);
    f.finish_power("c");
  });
  add("stated_normal", [](Function& f) {
    f.clamp("c", loops::kStatedNormalBound);
    f.define("square", f.product("c", "c"));
    f.polynomial("odds", loops::kStatedNormalTerms, "square");
    f.define("logarithm", f.product("odds", "c"));
    f.finish_power("logarithm");
  });
  add("stated_exponential", [](Function& f) { f.finish_exponential(); });
  return text;
}

bool calls_stated_functions(const std::string& text) {
  return std::any_of(std::begin(kFunctions), std::end(kFunctions),
                     [&](loops::Op op) { return text.find(helper_name(op) + "_") != std::string::npos; });
}

bool has_stated_functions(const loops::Stmt& body) {
  bool has = false;
  loops::rewrite_expressions(body, [&](const loops::Expr& e) {
    has = has || std::find(std::begin(kFunctions), std::end(kFunctions), e->op) != std::end(kFunctions);
    return e;
  });
  return has;
}

}  // namespace dnn::codegen
