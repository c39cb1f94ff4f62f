// DType: the element types of tensors (rows in dtype.def), and the C++ types that stand for them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dnn {

enum class DType : uint8_t {
  Undefined = 0,
#define DNN_DTYPE(enumerator, name, onnx, bytes, kind) enumerator = onnx,
#include "tensor/dtype.def"
};

enum class DTypeClass : uint8_t { Float, Signed, Unsigned, Other };

std::string_view dtype_name(DType dtype);      // "float32"; "undefined" for Undefined
DType dtype_from_name(std::string_view name);  // Undefined when there is no such type
DType dtype_from_onnx(int64_t code);           // Undefined when there is no such code
size_t dtype_size(DType dtype);                // bytes of one element in memory; 0 for string
DTypeClass dtype_class(DType dtype);
inline bool is_float(DType dtype) { return dtype_class(dtype) == DTypeClass::Float; }
inline bool is_integer(DType dtype) {
  return dtype_class(dtype) == DTypeClass::Signed || dtype_class(dtype) == DTypeClass::Unsigned;
}
// Bits of one element in a packed file: 4 for int4, 2 for uint2, 6 for float6, else 8 * dtype_size.
int dtype_bits(DType dtype);

// Storage-only floats: conversions round to nearest, ties to even.
struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(float value);
  explicit operator float() const;
};
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value);
  explicit operator float() const;
};

// The small formats of the OCP MX and FP8 papers, by their field widths. `code` is one element as stored in a Tensor.
float small_float_decode(DType dtype, uint8_t code);
// `saturate`: out-of-range values become the largest finite value instead of infinity or NaN (ONNX Cast's attribute).
uint8_t small_float_encode(DType dtype, float value, bool saturate);

// The C++ type of a DType and back, for the types that kernels compute in.
template <class T>
inline constexpr DType kDTypeOf = DType::Undefined;
template <>
inline constexpr DType kDTypeOf<float> = DType::Float32;
template <>
inline constexpr DType kDTypeOf<double> = DType::Float64;
template <>
inline constexpr DType kDTypeOf<Half> = DType::Float16;
template <>
inline constexpr DType kDTypeOf<BFloat16> = DType::BFloat16;
template <>
inline constexpr DType kDTypeOf<int8_t> = DType::Int8;
template <>
inline constexpr DType kDTypeOf<int16_t> = DType::Int16;
template <>
inline constexpr DType kDTypeOf<int32_t> = DType::Int32;
template <>
inline constexpr DType kDTypeOf<int64_t> = DType::Int64;
template <>
inline constexpr DType kDTypeOf<uint8_t> = DType::UInt8;
template <>
inline constexpr DType kDTypeOf<uint16_t> = DType::UInt16;
template <>
inline constexpr DType kDTypeOf<uint32_t> = DType::UInt32;
template <>
inline constexpr DType kDTypeOf<uint64_t> = DType::UInt64;
template <>
inline constexpr DType kDTypeOf<bool> = DType::Bool;

}  // namespace dnn
