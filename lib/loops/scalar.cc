// Arithmetic on single values; see scalar.h.
#include "loops/scalar.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "loops/stated.h"

namespace dnn::loops {
namespace {

// Float to integer as convert() does it: truncated, out of range as x86 instructions give it.
int64_t truncate(DType to, double value) {
  if (to == DType::UInt64 && value >= 0x1p63 && value < 0x1p64)
    return static_cast<int64_t>(static_cast<uint64_t>(value - 0x1p63) + (uint64_t{1} << 63));
  if (!(value > -0x1p63 && value < 0x1p63)) return wrap(to, std::numeric_limits<int64_t>::min());
  return wrap(to, static_cast<int64_t>(value));
}

template <class T>
T unary_float(Op op, T a) {
  switch (op) {
    case Op::Neg: return -a;
    case Op::Abs: return std::fabs(a);
    case Op::Exp: return std::exp(a);
    case Op::Log: return std::log(a);
    case Op::Sqrt: return std::sqrt(a);
    case Op::Sin: return std::sin(a);
    case Op::Cos: return std::cos(a);
    case Op::Tan: return std::tan(a);
    case Op::Asin: return std::asin(a);
    case Op::Acos: return std::acos(a);
    case Op::Atan: return std::atan(a);
    case Op::Sinh: return std::sinh(a);
    case Op::Cosh: return std::cosh(a);
    case Op::Tanh: return std::tanh(a);
    case Op::Asinh: return std::asinh(a);
    case Op::Acosh: return std::acosh(a);
    case Op::Atanh: return std::atanh(a);
    case Op::Erf: return std::erf(a);
    case Op::Silu: return a / (1 + std::exp(-a));
    case Op::StatedDivisor: return stated_divisor(a);
    case Op::StatedNormal: return stated_normal(a);
    case Op::StatedExponential: return stated_exponential(a);
    case Op::Floor: return std::floor(a);
    case Op::Ceil: return std::ceil(a);
    case Op::RoundEven: return std::nearbyint(a);
    case Op::RoundBFloat16: return static_cast<T>(static_cast<float>(BFloat16(static_cast<float>(a))));
    case Op::RoundFloat16: return static_cast<T>(static_cast<float>(Half(static_cast<float>(a))));
    default: fail_internal("loop IR: no such operation on floats");
  }
}

template <class T>
T binary_float(Op op, T a, T b) {
  switch (op) {
    case Op::Add: return a + b;
    case Op::Sub: return a - b;
    case Op::Mul: return a * b;
    case Op::Div: return a / b;
    case Op::FloorDiv: return std::floor(a / b);
    case Op::FloorMod: return a - std::floor(a / b) * b;
    case Op::TruncMod: return std::fmod(a, b);
    case Op::Min: return a < b ? a : b;
    case Op::Max: return a > b ? a : b;
    case Op::Pow: return std::pow(a, b);
    default: fail_internal("loop IR: no such operation on floats");
  }
}

template <class T>
bool compare(Op op, T a, T b) {
  switch (op) {
    case Op::Eq: return a == b;
    case Op::Ne: return a != b;
    case Op::Lt: return a < b;
    default: return a <= b;
  }
}

// Wrapping arithmetic of T's width is done modulo 2^64 and wrapped by the caller.
template <class T>  // int64_t or uint64_t
T binary_integer(Op op, T a, T b, int bits) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  switch (op) {
    case Op::Add: return static_cast<T>(ua + ub);
    case Op::Sub: return static_cast<T>(ua - ub);
    case Op::Mul: return static_cast<T>(ua * ub);
    case Op::Min: return a < b ? a : b;
    case Op::Max: return a > b ? a : b;
    case Op::And: return a & b;
    case Op::Or: return a | b;
    case Op::Xor: return a ^ b;
    case Op::ShiftLeft:
    case Op::ShiftRight:
      if (ub >= static_cast<uint64_t>(bits)) fail_internal("loop IR: shift of a ", bits, "-bit integer by ", b);
      return op == Op::ShiftLeft ? static_cast<T>(ua << ub) : static_cast<T>(a >> b);
    case Op::Pow: {
      if (std::is_signed_v<T> && static_cast<int64_t>(b) < 0) fail_internal("loop IR: an integer to the power of ", b);
      uint64_t result = 1, base = ua;
      for (uint64_t rest = ub; rest != 0; rest >>= 1, base *= base) {
        if ((rest & 1) != 0) result *= base;
      }
      return static_cast<T>(result);
    }
    default: break;
  }
  if (b == 0) fail_internal("loop IR: integer division by zero");
  if (std::is_signed_v<T> && static_cast<int64_t>(b) == -1) {  // the one quotient that overflows
    return op == Op::Div || op == Op::FloorDiv ? static_cast<T>(uint64_t{0} - ua) : T{0};
  }
  const T quotient = a / b, rest = a % b;
  const bool floors = rest != 0 && std::is_signed_v<T> && ((rest < 0) != (b < 0));
  switch (op) {
    case Op::Div: return quotient;
    case Op::FloorDiv: return floors ? quotient - 1 : quotient;
    case Op::TruncMod: return rest;
    case Op::FloorMod: return floors ? rest + b : rest;
    default: fail_internal("loop IR: no such operation on integers");
  }
}

}  // namespace

bool has_arithmetic(DType dtype) {
  return dtype == DType::Bool || (is_float(dtype) && dtype_bits(dtype) >= 32) ||
         (is_integer(dtype) && dtype_bits(dtype) >= 8);
}

int64_t wrap(DType dtype, int64_t value) {
  switch (dtype) {
    case DType::Int8: return static_cast<int8_t>(value);
    case DType::Int16: return static_cast<int16_t>(value);
    case DType::Int32: return static_cast<int32_t>(value);
    case DType::UInt8: return static_cast<uint8_t>(value);
    case DType::UInt16: return static_cast<uint16_t>(value);
    case DType::UInt32: return static_cast<uint32_t>(value);
    case DType::Bool: return value != 0;
    default: return value;
  }
}

Scalar constant_of(const ExprNode& expr) {
  switch (expr.dtype) {
    case DType::Float32: return {.f32 = static_cast<float>(expr.f)};
    case DType::Float64: return {.f64 = expr.f};
    default:
      if (!has_arithmetic(expr.dtype)) fail_internal("loop IR: no constants of ", dtype_name(expr.dtype));
      return {.i = wrap(expr.dtype, expr.i)};
  }
}

Scalar unary_value(Op op, DType operand, Scalar a) {
  if (op == Op::IsNan || op == Op::IsInf) {
    if (!is_float(operand)) return {.i = 0};
    const double value = operand == DType::Float32 ? static_cast<double>(a.f32) : a.f64;
    return {.i = op == Op::IsNan ? std::isnan(value) : std::isinf(value)};
  }
  if (operand == DType::Float32) return {.f32 = unary_float(op, a.f32)};
  if (operand == DType::Float64) return {.f64 = unary_float(op, a.f64)};
  const auto bits = static_cast<uint64_t>(a.i);
  const bool negative = dtype_class(operand) == DTypeClass::Signed && a.i < 0;
  switch (op) {
    case Op::Neg: return {.i = wrap(operand, static_cast<int64_t>(uint64_t{0} - bits))};
    case Op::Abs: return {.i = negative ? wrap(operand, static_cast<int64_t>(uint64_t{0} - bits)) : a.i};
    case Op::Not: return {.i = operand == DType::Bool ? static_cast<int64_t>(a.i == 0) : wrap(operand, ~a.i)};
    case Op::Floor:
    case Op::Ceil:
    case Op::RoundEven: return a;
    default: fail_internal("loop IR: a float function of ", dtype_name(operand));
  }
}

Scalar binary_value(Op op, DType operand, Scalar a, Scalar b) {
  if (op == Op::Eq || op == Op::Ne || op == Op::Lt || op == Op::Le) {
    if (operand == DType::Float32) return {.i = compare(op, a.f32, b.f32)};
    if (operand == DType::Float64) return {.i = compare(op, a.f64, b.f64)};
    if (operand == DType::UInt64) return {.i = compare(op, static_cast<uint64_t>(a.i), static_cast<uint64_t>(b.i))};
    return {.i = compare(op, a.i, b.i)};
  }
  if (operand == DType::Float32) return {.f32 = binary_float(op, a.f32, b.f32)};
  if (operand == DType::Float64) return {.f64 = binary_float(op, a.f64, b.f64)};
  if (operand == DType::UInt64) {
    return {.i = static_cast<int64_t>(binary_integer(op, static_cast<uint64_t>(a.i), static_cast<uint64_t>(b.i), 64))};
  }
  return {.i = wrap(operand, binary_integer(op, a.i, b.i, dtype_bits(operand)))};
}

Scalar fma_value(DType operand, Scalar a, Scalar b, Scalar c) {
  if (operand == DType::Float32) return {.f32 = std::fma(a.f32, b.f32, c.f32)};
  if (operand == DType::Float64) return {.f64 = std::fma(a.f64, b.f64, c.f64)};
  return {.i = wrap(operand, binary_integer(Op::Add, binary_integer(Op::Mul, a.i, b.i, 64), c.i, 64))};
}

Scalar cast_value(DType from, DType to, Scalar a) {
  if ((from == DType::BFloat16 || from == DType::Float16) && to == DType::Float32) return a;
  if (from == DType::Float32 && to == DType::BFloat16) return {.i = BFloat16(a.f32).bits};
  if (from == DType::Float32 && to == DType::Float16) return {.i = Half(a.f32).bits};
  if (!has_arithmetic(from) || !has_arithmetic(to))
    fail_internal("loop IR: no cast from ", dtype_name(from), " to ", dtype_name(to));
  if (is_float(from)) {
    const double value = from == DType::Float32 ? static_cast<double>(a.f32) : a.f64;
    if (to == DType::Float32) return {.f32 = from == DType::Float32 ? a.f32 : static_cast<float>(a.f64)};
    if (to == DType::Float64) return {.f64 = value};
    return {.i = to == DType::Bool ? static_cast<int64_t>(value != 0) : truncate(to, value)};
  }
  if (to == DType::Float32) {
    return {.f32 = from == DType::UInt64 ? static_cast<float>(static_cast<uint64_t>(a.i)) : static_cast<float>(a.i)};
  }
  if (to == DType::Float64) {
    return {.f64 = from == DType::UInt64 ? static_cast<double>(static_cast<uint64_t>(a.i)) : static_cast<double>(a.i)};
  }
  return {.i = wrap(to, a.i)};
}

}  // namespace dnn::loops
