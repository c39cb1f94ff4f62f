// Distances; see compare.h.
#include "tensor/compare.h"

#include <bit>
#include <cmath>
#include <limits>

namespace dnn {
namespace {

// Sign-magnitude bits as a two's complement integer: neighbours in value are neighbours in number, -0 and 0 are one.
template <class Signed>
Signed ordered(Signed bits) {
  return bits < 0 ? std::numeric_limits<Signed>::min() - bits : bits;
}

template <class Signed>
uint64_t bits_distance(Signed a, Signed b) {
  const auto x = static_cast<uint64_t>(static_cast<int64_t>(ordered(a)));
  const auto y = static_cast<uint64_t>(static_cast<int64_t>(ordered(b)));
  return ordered(a) > ordered(b) ? x - y : y - x;
}

template <class Signed>
bool is_nan_bits(Signed bits, Signed infinity) {
  return (bits & std::numeric_limits<Signed>::max()) > infinity;
}

template <class Signed>
uint64_t ulp_of_bits(Signed a, Signed b, Signed infinity) {
  const bool a_nan = is_nan_bits(a, infinity), b_nan = is_nan_bits(b, infinity);
  if (a_nan || b_nan) return a_nan && b_nan ? 0 : std::numeric_limits<uint64_t>::max();
  return bits_distance(a, b);
}

template <class Signed>
uint64_t max_ulp_of(const Tensor& a, const Tensor& b, Signed infinity) {
  uint64_t result = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    Signed x, y;
    std::memcpy(&x, a.bytes().data() + i * static_cast<int64_t>(sizeof x), sizeof x);
    std::memcpy(&y, b.bytes().data() + i * static_cast<int64_t>(sizeof y), sizeof y);
    result = std::max(result, ulp_of_bits(x, y, infinity));
  }
  return result;
}

std::optional<uint64_t> max_ulp_of(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype()) return std::nullopt;
  switch (a.dtype()) {
    case DType::Float32: return max_ulp_of<int32_t>(a, b, 0x7f800000);
    case DType::Float64: return max_ulp_of<int64_t>(a, b, 0x7ff0000000000000);
    case DType::Float16: return max_ulp_of<int16_t>(a, b, 0x7c00);
    case DType::BFloat16: return max_ulp_of<int16_t>(a, b, 0x7f80);
    default: return std::nullopt;
  }
}

}  // namespace

double Distance::relative() const {
  if (n_different == 0) return 0;
  return largest > 0 ? max_abs / largest : std::numeric_limits<double>::infinity();
}

double Distance::l2() const { return std::sqrt(difference_squares); }

double Distance::cosine() const {
  if (reference_squares == 0 && other_squares == 0) return 1;
  if (reference_squares == 0 || other_squares == 0) return 0;
  return product / (std::sqrt(reference_squares) * std::sqrt(other_squares));
}

Distance compare(const Tensor& reference, const Tensor& other) {
  if (reference.size() != other.size()) {
    fail_malformed("cannot compare tensors of shapes ", shape_text(reference.shape()), " and ",
                   shape_text(other.shape()));
  }
  const std::vector<double> a = to_doubles(reference), b = to_doubles(other);
  Distance d;
  d.n = reference.size();
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(a[i])) d.largest = std::max(d.largest, std::abs(a[i]));
    const bool finite = std::isfinite(a[i]) && std::isfinite(b[i]);
    if (finite) {
      d.reference_squares += a[i] * a[i];
      d.other_squares += b[i] * b[i];
      d.product += a[i] * b[i];
    }
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    ++d.n_different;
    const double difference = finite ? std::abs(a[i] - b[i]) : std::numeric_limits<double>::infinity();
    d.difference_sum += difference;
    d.difference_squares += difference * difference;
    if (difference > d.max_abs || d.max_abs_index < 0) {
      d.max_abs = difference;
      d.max_abs_index = static_cast<int64_t>(i);
    }
  }
  d.max_ulp = max_ulp_of(reference, other);
  return d;
}

uint64_t ulp_distance(float a, float b) {
  return ulp_of_bits<int32_t>(std::bit_cast<int32_t>(a), std::bit_cast<int32_t>(b), 0x7f800000);
}

uint64_t ulp_distance(double a, double b) {
  return ulp_of_bits<int64_t>(std::bit_cast<int64_t>(a), std::bit_cast<int64_t>(b), 0x7ff0000000000000);
}

}  // namespace dnn
