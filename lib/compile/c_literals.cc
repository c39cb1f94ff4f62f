// Tensors as C initialisers; see c_literals.h.
#include "compile/c_literals.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/text.h"

namespace dnn {
namespace {

template <class T>
void append_float(std::string& text, T value) {
  if (std::isnan(value) || std::isinf(value)) {
    text += std::isnan(value) ? "NAN" : value < 0 ? "-INFINITY" : "INFINITY";
    return;
  }
  char buffer[40];
  const std::to_chars_result end =
      std::to_chars(buffer, buffer + sizeof buffer, std::fabs(value), std::chars_format::hex);
  if (std::signbit(value)) text += '-';
  text += "0x";
  text.append(buffer, end.ptr);
  if (sizeof(T) == sizeof(float)) text += 'f';
}

}  // namespace

std::string c_initializer(const Tensor& given) {
  const Tensor tensor = given.arranged_copy();
  std::string text;
  const auto all = [&](auto one) {
    size_t line = 0;
    for (int64_t i = 0; i < tensor.size(); ++i) {
      one(i);
      text += ',';
      if (text.size() - line > 100) {
        text += '\n';
        line = text.size();
      }
    }
  };
  const std::byte* data = tensor.bytes().data();
  const auto integers = [&](auto zero) {
    using T = decltype(zero);
    all([&](size_t i) {
      T value;
      std::memcpy(&value, data + i * sizeof value, sizeof value);
      if (std::is_signed_v<T> && sizeof value >= 4 && value == std::numeric_limits<T>::min()) {
        text += cat("(", +static_cast<T>(value + 1), " - 1)");  // a literal has no sign, and none is so large
      } else {
        text += std::to_string(value);
      }
      if (!std::is_signed_v<T> && sizeof value >= 4) text += 'u';
    });
  };
  switch (tensor.dtype()) {
    case DType::Float32: all([&](size_t i) { append_float(text, reinterpret_cast<const float*>(data)[i]); }); break;
    case DType::Float64: all([&](size_t i) { append_float(text, reinterpret_cast<const double*>(data)[i]); }); break;
    case DType::Int8: integers(int8_t{}); break;
    case DType::Int16: integers(int16_t{}); break;
    case DType::Int32: integers(int32_t{}); break;
    case DType::Int64: integers(int64_t{}); break;
    case DType::Bool:
    case DType::UInt8: integers(uint8_t{}); break;
    case DType::BFloat16:
    case DType::Float16:
    case DType::UInt16: integers(uint16_t{}); break;
    case DType::UInt32: integers(uint32_t{}); break;
    case DType::UInt64: integers(uint64_t{}); break;
    default: fail_unsupported("C has no type for ", dtype_name(tensor.dtype()));
  }
  return text;
}

}  // namespace dnn
