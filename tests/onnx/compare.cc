// Comparison with expected tensors; see compare.h.
#include "onnx/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/text.h"

namespace dnn::conformance {
namespace {

bool close(double actual, double expected, double rtol, double atol) {
  if (std::isnan(actual) || std::isnan(expected)) return std::isnan(actual) && std::isnan(expected);
  if (std::isinf(actual) || std::isinf(expected)) return actual == expected;
  return std::fabs(actual - expected) <= atol + rtol * std::fabs(expected);
}

std::string at(const Tensor& tensor, int64_t i) {
  Shape index(tensor.shape().size());
  for (size_t axis = index.size(); axis-- > 0;) {
    index[axis] = i % tensor.shape()[axis];
    i /= tensor.shape()[axis];
  }
  return shape_text(index);
}

std::string complex_difference(const Tensor& actual, const Tensor& expected, double rtol, double atol) {
  const size_t half = dtype_size(expected.dtype()) / 2;
  const auto part = [half](const Tensor& tensor, int64_t i) {
    const std::byte* from = tensor.bytes().data() + static_cast<size_t>(i) * half;
    float single = 0;
    double value = 0;
    if (half == 8) {
      std::memcpy(&value, from, 8);
      return value;
    }
    std::memcpy(&single, from, 4);
    return static_cast<double>(single);
  };
  for (int64_t i = 0; i < 2 * expected.size(); ++i) {
    if (!close(part(actual, i), part(expected, i), rtol, atol))
      return cat("element ", at(expected, i / 2), " differs: ", part(actual, i), ", expected ", part(expected, i));
  }
  return "";
}

}  // namespace

std::string difference(const Tensor& actual, const Tensor& expected, double rtol, double atol) {
  if (!actual.defined()) return "no output";
  if (actual.dtype() != expected.dtype() || actual.shape() != expected.shape()) {
    return cat(dtype_name(actual.dtype()), shape_text(actual.shape()), ", expected ", dtype_name(expected.dtype()),
               shape_text(expected.shape()));
  }
  const DType dtype = expected.dtype();
  if (dtype == DType::String) {
    for (int64_t i = 0; i < expected.size(); ++i) {
      const auto k = static_cast<size_t>(i);
      if (actual.strings()[k] != expected.strings()[k])
        return cat("element ", at(expected, i), " is ", quoted(actual.strings()[k]), ", expected ",
                   quoted(expected.strings()[k]));
    }
    return "";
  }
  if (dtype == DType::Complex64 || dtype == DType::Complex128) return complex_difference(actual, expected, rtol, atol);
  if (!is_float(dtype)) {
    if (actual.identical(expected)) return "";
    const auto a = to_int64s(actual), e = to_int64s(expected);
    for (size_t i = 0; i < e.size(); ++i) {
      if (a[i] != e[i])
        return cat("element ", at(expected, static_cast<int64_t>(i)), " is ", a[i], ", expected ", e[i]);
    }
    return "bytes differ";
  }
  if (dtype == DType::BFloat16) rtol = std::max(rtol, 0x1p-6);
  const auto a = to_doubles(actual), e = to_doubles(expected);
  for (size_t i = 0; i < e.size(); ++i) {
    if (!close(a[i], e[i], rtol, atol))
      return cat("element ", at(expected, static_cast<int64_t>(i)), " is ", exact_text(a[i]), ", expected ",
                 exact_text(e[i]));
  }
  return "";
}

}  // namespace dnn::conformance
