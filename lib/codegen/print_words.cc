// Words of C-like languages; see print_words.h.
#include "codegen/print_words.h"

#include <cmath>
#include <cstdio>

namespace dnn::codegen {

using namespace loops;

std::string float_text(DType dtype, double value) {
  const std::string suffix = dtype == DType::Float64 ? "" : "f";
  if (std::isnan(value)) return dtype == DType::Float64 ? "nan_f64()" : "nan_f32()";
  if (std::isinf(value))
    return (value < 0 ? "-" : "") + std::string(dtype == DType::Float64 ? "inf_f64()" : "inf_f32()");
  char buffer[64];
  if (value == std::floor(value) && std::fabs(value) < 1e6) {
    std::snprintf(buffer, sizeof buffer, "%.1f", value);
  } else {
    std::snprintf(buffer, sizeof buffer, "%a",
                  dtype == DType::Float64 ? value : static_cast<double>(static_cast<float>(value)));
  }
  return (std::signbit(value) ? "(" : "") + std::string(buffer) + suffix + (std::signbit(value) ? ")" : "");
}

std::string helper_name(Op op) {
  switch (op) {
    case Op::Exp: return "exp";
    case Op::Log: return "log";
    case Op::Sqrt: return "sqrt";
    case Op::Abs: return "abs";
    case Op::Sin: return "sin";
    case Op::Cos: return "cos";
    case Op::Tan: return "tan";
    case Op::Asin: return "asin";
    case Op::Acos: return "acos";
    case Op::Atan: return "atan";
    case Op::Sinh: return "sinh";
    case Op::Cosh: return "cosh";
    case Op::Tanh: return "tanh";
    case Op::Asinh: return "asinh";
    case Op::Acosh: return "acosh";
    case Op::Atanh: return "atanh";
    case Op::Erf: return "erf";
    case Op::Silu: return "silu";
    case Op::StatedDivisor: return "stated_divisor";
    case Op::StatedNormal: return "stated_normal";
    case Op::StatedExponential: return "stated_exponential";
    case Op::Floor: return "floor";
    case Op::Ceil: return "ceil";
    case Op::RoundEven: return "round_even";
    case Op::RoundBFloat16: return "round_bfloat16";
    case Op::RoundFloat16: return "round_float16";
    case Op::IsNan: return "is_nan";
    case Op::IsInf: return "is_inf";
    case Op::Min: return "min";
    case Op::Max: return "max";
    case Op::Pow: return "pow";
    case Op::TruncMod: return "trunc_mod";
    default: return "";
  }
}

std::string infix(Op op) {
  switch (op) {
    case Op::Add: return "+";
    case Op::Sub: return "-";
    case Op::Mul: return "*";
    case Op::Div: return "/";
    case Op::And: return "&";
    case Op::Or: return "|";
    case Op::Xor: return "^";
    case Op::ShiftLeft: return "<<";
    case Op::ShiftRight: return ">>";
    case Op::Eq: return "==";
    case Op::Ne: return "!=";
    case Op::Lt: return "<";
    case Op::Le: return "<=";
    default: return "";
  }
}

}  // namespace dnn::codegen
