// dispatch: calls a generic function with the C++ type of a run-time DType.
#pragma once
#include "base/error.h"
#include "tensor/dtype.h"

namespace dnn {

template <class T>
struct TypeTag {
  using type = T;
};

// body(TypeTag<T>{}) for every type with C++ arithmetic, Half and BFloat16 included; others are Unsupported.
template <class Body>
decltype(auto) dispatch_numeric(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::Float32: return body(TypeTag<float>{});
    case DType::Float64: return body(TypeTag<double>{});
    case DType::Float16: return body(TypeTag<Half>{});
    case DType::BFloat16: return body(TypeTag<BFloat16>{});
    case DType::Int8: return body(TypeTag<int8_t>{});
    case DType::Int16: return body(TypeTag<int16_t>{});
    case DType::Int32: return body(TypeTag<int32_t>{});
    case DType::Int64: return body(TypeTag<int64_t>{});
    case DType::UInt8: return body(TypeTag<uint8_t>{});
    case DType::UInt16: return body(TypeTag<uint16_t>{});
    case DType::UInt32: return body(TypeTag<uint32_t>{});
    case DType::UInt64: return body(TypeTag<uint64_t>{});
    case DType::Bool: return body(TypeTag<bool>{});
    default: fail_unsupported("no arithmetic on ", dtype_name(dtype), " tensors");
  }
}

// The same for floating-point types only.
template <class Body>
decltype(auto) dispatch_float(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::Float32: return body(TypeTag<float>{});
    case DType::Float64: return body(TypeTag<double>{});
    case DType::Float16: return body(TypeTag<Half>{});
    case DType::BFloat16: return body(TypeTag<BFloat16>{});
    default: fail_unsupported("a floating-point tensor is needed, not ", dtype_name(dtype));
  }
}

// The type arithmetic on T is done in: float for Half and BFloat16 (rounded after each operation), else T itself.
template <class T>
struct ComputeType {
  using type = T;
};
template <>
struct ComputeType<Half> {
  using type = float;
};
template <>
struct ComputeType<BFloat16> {
  using type = float;
};
template <class T>
using Compute = typename ComputeType<T>::type;

template <class T>
Compute<T> widen(T value) {
  return static_cast<Compute<T>>(value);
}
template <class T>
T narrow(Compute<T> value) {
  return static_cast<T>(value);
}

}  // namespace dnn
