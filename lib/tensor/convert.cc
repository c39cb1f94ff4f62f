// Element conversion between all dtypes (ONNX Cast's rules); see tensor.h.
#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "tensor/dispatch.h"
#include "tensor/tensor.h"

namespace dnn {
namespace {

bool is_small_float(DType dtype) { return is_float(dtype) && dtype_size(dtype) == 1; }
bool is_small_integer(DType dtype) { return is_integer(dtype) && dtype_bits(dtype) < 8; }

// Wraps to the two's complement range of a 2- or 4-bit type.
int64_t wrap_small(DType dtype, int64_t value) {
  const int bits = dtype_bits(dtype);
  const int64_t masked = value & ((1 << bits) - 1);
  const bool is_signed = dtype_class(dtype) == DTypeClass::Signed;
  return is_signed && (masked >> (bits - 1)) != 0 ? masked - (1 << bits) : masked;
}

// Float to integer as x86 conversion instructions do it, without C++'s undefined behaviour.
template <class To>
To truncate(double value) {
  if constexpr (std::is_same_v<To, uint64_t>) {
    if (value >= 0x1p63 && value < 0x1p64) return static_cast<uint64_t>(value - 0x1p63) + (uint64_t{1} << 63);
  }
  if (!(value > -0x1p63 && value < 0x1p63)) return static_cast<To>(std::numeric_limits<int64_t>::min());
  return static_cast<To>(static_cast<int64_t>(value));
}

template <class From, class To>
To convert_one(From value) {
  if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>) {
    return convert_one<float, To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    if constexpr (std::is_same_v<From, double>) {
      // Round to odd first, so that the two roundings give the same as one.
      float single = static_cast<float>(value);
      if (std::isfinite(single) && static_cast<double>(single) != value) {
        uint32_t bits;
        std::memcpy(&bits, &single, 4);
        const bool away = std::fabs(static_cast<double>(single)) > std::fabs(value);
        if (away) --bits;
        bits |= 1;
        std::memcpy(&single, &bits, 4);
      }
      return To(single);
    } else {
      return To(static_cast<float>(value));
    }
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return truncate<To>(static_cast<double>(value));
  } else {
    return static_cast<To>(value);
  }
}

std::string printed(const Tensor& tensor, int64_t i) {
  if (tensor.dtype() == DType::Float64) return exact_text(tensor.data<double>()[i]);
  if (is_float(tensor.dtype())) return exact_text(convert(tensor, DType::Float32).data<float>()[i]);
  if (tensor.dtype() == DType::Bool) return tensor.data<bool>()[i] ? "True" : "False";
  return cat(to_int64s(tensor)[i]);
}

double parsed(const std::string& text) {
  if (text == "NaN" || text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "INF" || text == "+INF" || text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-INF" || text == "-inf") return -std::numeric_limits<double>::infinity();
  double value = 0;
  if (!parse_double(!text.empty() && text[0] == '+' ? std::string_view(text).substr(1) : text, &value)) {
    fail_malformed("Cast: ", quoted(text), " is not a number");
  }
  return value;
}

// 8-bit-stored formats as float32 / int64, the types that hold all their values.
Tensor unpacked(const Tensor& tensor) {
  if (is_small_float(tensor.dtype())) {
    Tensor wide(DType::Float32, tensor.shape());
    float* out = wide.mutable_data<float>();
    const uint8_t* in = tensor.data<uint8_t>();
    for (int64_t i = 0; i < tensor.size(); ++i) out[i] = small_float_decode(tensor.dtype(), in[i]);
    return wide;
  }
  Tensor wide(DType::Int64, tensor.shape());
  int64_t* out = wide.mutable_data<int64_t>();
  const bool is_signed = dtype_class(tensor.dtype()) == DTypeClass::Signed;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    out[i] = is_signed ? int64_t{tensor.data<int8_t>()[i]} : int64_t{tensor.data<uint8_t>()[i]};
  }
  return wide;
}

}  // namespace

Tensor convert(const Tensor& tensor, DType to, bool saturate) {
  const DType from = tensor.dtype();
  if (from == to) return tensor;
  if (from == DType::String) {
    Tensor numbers(DType::Float64, tensor.shape());
    double* out = numbers.mutable_data<double>();
    for (int64_t i = 0; i < tensor.size(); ++i) out[i] = parsed(tensor.strings()[i]);
    return convert(numbers, to, saturate);
  }
  if (to == DType::String) {
    Tensor text(DType::String, tensor.shape());
    auto& out = text.mutable_strings();
    for (int64_t i = 0; i < tensor.size(); ++i) out[i] = printed(tensor, i);
    return text;
  }
  if (is_small_float(from) || is_small_integer(from)) return convert(unpacked(tensor), to, saturate);
  Tensor result(to, tensor.shape());
  const int64_t n = tensor.size();
  if (is_small_float(to)) {
    const Tensor single = convert(tensor, DType::Float32);
    const float* in = single.data<float>();
    uint8_t* out = result.mutable_data<uint8_t>();
    for (int64_t i = 0; i < n; ++i) out[i] = small_float_encode(to, in[i], saturate);
    return result;
  }
  if (is_small_integer(to)) {
    const std::vector<int64_t> in = to_int64s(tensor);
    int8_t* out = result.mutable_data<int8_t>();
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<int8_t>(wrap_small(to, in[i]));
    return result;
  }
  dispatch_numeric(from, [&](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    dispatch_numeric(to, [&](auto to_tag) {
      using To = typename decltype(to_tag)::type;
      const From* in = tensor.data<From>();
      To* out = result.mutable_data<To>();
      for (int64_t i = 0; i < n; ++i) out[i] = convert_one<From, To>(in[i]);
    });
  });
  return result;
}

std::vector<double> to_doubles(const Tensor& tensor) {
  const Tensor wide = convert(tensor, DType::Float64);
  return {wide.data<double>(), wide.data<double>() + wide.size()};
}

std::vector<int64_t> to_int64s(const Tensor& tensor) {
  const Tensor wide = convert(tensor, DType::Int64);
  return {wide.data<int64_t>(), wide.data<int64_t>() + wide.size()};
}

}  // namespace dnn
