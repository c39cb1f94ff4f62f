// DType; see dtype.h.
#include "tensor/dtype.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace dnn {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  size_t size;
  DTypeClass kind;
};
constexpr DTypeRow kDTypeRows[] = {
#define DNN_DTYPE(enumerator, name, onnx, bytes, kind) {DType::enumerator, name, bytes, DTypeClass::kind},
#include "tensor/dtype.def"
};

// Field widths of a small float: value = (-1)^s * 2^(e - bias) * 1.m, subnormal when e = 0.
struct SmallFormat {
  int exponent_bits, mantissa_bits, bias;
  bool has_sign, has_infinity;
  float largest;  // largest finite value
  int nan_code;   // -1: the format has no NaN
};

SmallFormat small_format(DType dtype) {
  switch (dtype) {
    case DType::Float8E4M3FN: return {4, 3, 7, true, false, 448.f, 0x7f};
    case DType::Float8E4M3FNUZ: return {4, 3, 8, true, false, 240.f, 0x80};
    case DType::Float8E5M2: return {5, 2, 15, true, true, 57344.f, 0x7f};
    case DType::Float8E5M2FNUZ: return {5, 2, 16, true, false, 57344.f, 0x80};
    case DType::Float4E2M1: return {2, 1, 1, true, false, 6.f, -1};
    case DType::Float6E2M3: return {2, 3, 1, true, false, 7.5f, -1};
    case DType::Float6E3M2: return {3, 2, 3, true, false, 28.f, -1};
    default: return {8, 0, 127, false, false, 0x1p127f, 0xff};  // Float8E8M0
  }
}

}  // namespace

std::string_view dtype_name(DType dtype) {
  for (const DTypeRow& row : kDTypeRows) {
    if (row.dtype == dtype) return row.name;
  }
  return "undefined";
}

DType dtype_from_name(std::string_view name) {
  for (const DTypeRow& row : kDTypeRows) {
    if (row.name == name) return row.dtype;
  }
  return DType::Undefined;
}

DType dtype_from_onnx(int64_t code) {
  for (const DTypeRow& row : kDTypeRows) {
    if (static_cast<int64_t>(row.dtype) == code) return row.dtype;
  }
  return DType::Undefined;
}

size_t dtype_size(DType dtype) {
  for (const DTypeRow& row : kDTypeRows) {
    if (row.dtype == dtype) return row.size;
  }
  return 0;
}

DTypeClass dtype_class(DType dtype) {
  for (const DTypeRow& row : kDTypeRows) {
    if (row.dtype == dtype) return row.kind;
  }
  return DTypeClass::Other;
}

int dtype_bits(DType dtype) {
  switch (dtype) {
    case DType::UInt4:
    case DType::Int4:
    case DType::Float4E2M1: return 4;
    case DType::UInt2:
    case DType::Int2: return 2;
    case DType::Float6E2M3:
    case DType::Float6E3M2: return 6;
    default: return static_cast<int>(dtype_size(dtype)) * 8;
  }
}

Half::Half(float value) {
  const uint32_t x = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (x >> 16) & 0x8000u, magnitude = x & 0x7fffffffu;
  if (magnitude >= 0x7f800000u) {  // infinity, NaN (kept quiet, payload's top bits kept)
    bits =
        static_cast<uint16_t>(sign | 0x7c00u | (magnitude > 0x7f800000u ? 0x200u | ((magnitude >> 13) & 0x3ffu) : 0u));
  } else if (magnitude >= 0x477ff000u) {  // rounds to 65536 or more
    bits = static_cast<uint16_t>(sign | 0x7c00u);
  } else if (magnitude < 0x38800000u) {  // subnormal half: let the FPU round at 2^-24
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    bits = static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0.5f)));
  } else {
    const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u;
    bits = static_cast<uint16_t>(sign | (rounded >> 13));
  }
}

Half::operator float() const {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude >= 0x400u) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
  const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
  return sign != 0 ? -subnormal : subnormal;
}

BFloat16::BFloat16(float value) {
  const uint32_t x = std::bit_cast<uint32_t>(value);
  if ((x & 0x7fffffffu) > 0x7f800000u) {
    bits = static_cast<uint16_t>((x >> 16) | 0x40u);
  } else {
    bits = static_cast<uint16_t>((x + 0x7fffu + ((x >> 16) & 1u)) >> 16);
  }
}

BFloat16::operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

float small_float_decode(DType dtype, uint8_t code) {
  const SmallFormat f = small_format(dtype);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  if (!f.has_sign) return code == 0xff ? nan : std::ldexp(1.f, code - f.bias);
  const int width = 1 + f.exponent_bits + f.mantissa_bits;
  const int sign = (code >> (width - 1)) & 1;
  const int magnitude = code & ((1 << (width - 1)) - 1);
  const int exponent = magnitude >> f.mantissa_bits, mantissa = magnitude & ((1 << f.mantissa_bits) - 1);
  if (f.nan_code == 0x80 && code == 0x80) return nan;
  if (f.nan_code == 0x7f && !f.has_infinity && magnitude == 0x7f) return nan;
  if (f.has_infinity && exponent == (1 << f.exponent_bits) - 1) {
    if (mantissa != 0) return nan;
    const float infinity = std::numeric_limits<float>::infinity();
    return sign != 0 ? -infinity : infinity;
  }
  const float value = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), 1 - f.bias - f.mantissa_bits)
                                    : std::ldexp(static_cast<float>(mantissa + (1 << f.mantissa_bits)),
                                                 exponent - f.bias - f.mantissa_bits);
  return sign != 0 ? -value : value;
}

uint8_t small_float_encode(DType dtype, float value, bool saturate) {
  const SmallFormat f = small_format(dtype);
  const int width = 1 + f.exponent_bits + f.mantissa_bits;
  if (!f.has_sign) {  // powers of two; ties go up, as the OCP MX text and ONNX round (half up in magnitude)
    if (std::isnan(value) || value < 0) return 0xff;
    if (std::isinf(value)) return saturate ? 0xfe : 0xff;
    if (value == 0) return 0;
    int exponent = 0;
    const float fraction = std::frexp(value, &exponent);  // value = fraction * 2^exponent, fraction in [0.5, 1)
    const int code = exponent - 1 + f.bias + (fraction >= 0.75f ? 1 : 0);
    if (code < 0) return 0;
    if (code > 0xfe) return saturate ? 0xfe : 0xff;
    return static_cast<uint8_t>(code);
  }
  const int sign_bit = 1 << (width - 1);
  const bool unsigned_zero = f.nan_code == 0x80;
  if (std::isnan(value)) return static_cast<uint8_t>(f.nan_code < 0 ? 0 : f.nan_code);
  const int sign = std::signbit(value) ? sign_bit : 0;
  const float magnitude = std::fabs(value);
  // Round to nearest even on the grid of this magnitude's binade.
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int lowest = 1 - f.bias - f.mantissa_bits;  // exponent of the smallest step
  const int step = std::isinf(magnitude) ? 0 : std::max(exponent - 1 - f.mantissa_bits, lowest);
  const float rounded =
      std::isinf(magnitude) ? magnitude : std::ldexp(std::nearbyint(std::ldexp(magnitude, -step)), step);
  if (rounded > f.largest) {
    const bool saturates = saturate || f.nan_code < 0;
    if (!saturates && f.has_infinity)
      return static_cast<uint8_t>(sign | (((1 << f.exponent_bits) - 1) << f.mantissa_bits));
    if (!saturates) return static_cast<uint8_t>(f.nan_code == 0x7f ? (sign | 0x7f) : f.nan_code);
    return small_float_encode(dtype, sign != 0 ? -f.largest : f.largest, true);
  }
  if (rounded == 0) return static_cast<uint8_t>(unsigned_zero ? 0 : sign);
  std::frexp(rounded, &exponent);
  const int biased = exponent - 1 + f.bias;
  const int code = biased <= 0 ? static_cast<int>(std::ldexp(rounded, -lowest))
                               : (biased << f.mantissa_bits) +
                                     static_cast<int>(std::ldexp(rounded, f.mantissa_bits - (exponent - 1))) -
                                     (1 << f.mantissa_bits);
  return static_cast<uint8_t>(sign | code);
}

}  // namespace dnn
