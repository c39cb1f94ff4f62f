// Tensors as text; see tensor_text.h.
#include "graph/tensor_text.h"

#include <array>

#include "base/base64.h"
#include "base/file.h"
#include "base/random.h"
#include "base/sha256.h"
#include "tensor/dispatch.h"

namespace dnn {
namespace {

bool is_small_float(DType dtype) { return is_float(dtype) && dtype_size(dtype) == 1; }
bool is_small_integer(DType dtype) { return is_integer(dtype) && dtype_bits(dtype) < 8; }

// Empty when the element's value does not tell its bits (a NaN's payload), or its type has no numbers.
std::string element_text(DType dtype, const std::byte* element) {
  std::string text;
  if (dtype == DType::Bool) {
    text = *element != std::byte{0} ? "true" : "false";
  } else if (is_small_float(dtype)) {
    text = exact_text(small_float_decode(dtype, static_cast<uint8_t>(*element)));
  } else if (is_small_integer(dtype)) {
    text = std::to_string(dtype_class(dtype) == DTypeClass::Signed ? static_cast<int>(static_cast<int8_t>(*element))
                                                                   : static_cast<int>(*element));
  } else if (is_float(dtype) || is_integer(dtype)) {
    text = dispatch_numeric(dtype, [&](auto tag) -> std::string {
      using T = typename decltype(tag)::type;
      T value;
      std::memcpy(&value, element, sizeof value);
      if constexpr (std::is_integral_v<T>) {
        return std::to_string(value);
      } else {
        return exact_text(widen(value));
      }
    });
  } else {
    return "";
  }
  std::array<std::byte, 16> back{};
  if (!parse_element(dtype, text, back.data()) || std::memcmp(back.data(), element, dtype_size(dtype)) != 0) return "";
  return text;
}

}  // namespace

bool parse_element(DType dtype, std::string_view word, std::byte* element) {
  if (dtype == DType::Bool) {
    if (word != "true" && word != "false") return false;
    *element = std::byte{word == "true"};
    return true;
  }
  if (is_integer(dtype)) {
    if (is_small_integer(dtype)) {
      int64_t value = 0;
      const int64_t span = int64_t{1} << dtype_bits(dtype);
      const int64_t lowest = dtype_class(dtype) == DTypeClass::Signed ? -span / 2 : 0;
      if (!parse_int(word, &value) || value < lowest || value >= lowest + span) return false;
      *element = static_cast<std::byte>(value);
      return true;
    }
    return dispatch_numeric(dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_integral_v<T>) {
        T value{};
        if constexpr (std::is_same_v<T, uint64_t>) {
          if (word.empty() || word.size() > 20) return false;
          unsigned __int128 wide = 0;
          for (char c : word) {
            if (c < '0' || c > '9') return false;
            wide = wide * 10 + static_cast<unsigned>(c - '0');
          }
          if (wide > UINT64_MAX) return false;
          value = static_cast<T>(wide);
        } else {
          int64_t wide = 0;
          if (!parse_int(word, &wide)) return false;
          value = static_cast<T>(wide);
          if (static_cast<int64_t>(value) != wide) return false;
        }
        std::memcpy(element, &value, sizeof value);
        return true;
      }
      return false;
    });
  }
  if (!is_float(dtype)) return false;
  double value = 0;
  if (!parse_double(word, &value)) return false;
  if (is_small_float(dtype)) {
    *element = static_cast<std::byte>(small_float_encode(dtype, static_cast<float>(value), false));
    return true;
  }
  const Tensor rounded = convert(Tensor::scalar(value), dtype);
  std::memcpy(element, rounded.bytes().data(), rounded.size_bytes());
  return true;
}

Tensor random_tensor(DType dtype, const Shape& shape, uint64_t seed) {
  Tensor tensor(DType::Float32, shape);
  float* values = tensor.mutable_data<float>();
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const uint64_t z = random_number(seed, static_cast<uint64_t>(i));
    values[i] = is_float(dtype) ? static_cast<float>(z >> 40) * 0x1p-23f - 1 : static_cast<float>(z >> 63);
  }
  return convert(tensor, dtype);
}

std::string tensor_text(const Tensor& tensor, const TextOptions& options) {
  const bool small = tensor.size() <= options.inline_elements;
  if (tensor.dtype() == DType::String) {
    std::vector<std::string> items;
    for (const std::string& text : tensor.strings()) items.push_back(dnn::quoted(text));
    return "{" + join(items) + "}";
  }
  const size_t step = dtype_size(tensor.dtype());
  const Bytes bytes = tensor.bytes();
  const bool uniform = tensor.size() > 4 && std::memcmp(bytes.data(), bytes.data() + step, bytes.size() - step) == 0;
  if (small || uniform) {
    std::vector<std::string> items;
    const int64_t n = uniform ? 1 : tensor.size();
    for (int64_t i = 0; i < n; ++i) {
      items.push_back(element_text(tensor.dtype(), bytes.data() + static_cast<size_t>(i) * step));
      if (items.back().empty()) break;
    }
    if (items.empty() || !items.back().empty()) return "{" + join(items) + (uniform ? ", ...}" : "}");
  }
  if (small || options.inline_all) return "base64 " + dnn::quoted(base64_encode(bytes));
  return "sha256 " + dnn::quoted(sha256_hex(bytes));
}

}  // namespace dnn
