// Distances; see compare.h.
#include "tensor/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/simd.h"
#include "tensor/dispatch.h"

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

// The bits of a floating-point type, and those of its infinity.
template <class T>
struct BitsOf {
  using type = int16_t;
};
template <>
struct BitsOf<float> {
  using type = int32_t;
};
template <>
struct BitsOf<double> {
  using type = int64_t;
};
template <class T>
constexpr typename BitsOf<T>::type infinity_bits() {
  return std::is_same_v<T, float>    ? 0x7f800000
         : std::is_same_v<T, double> ? 0x7ff0000000000000
         : std::is_same_v<T, Half>   ? 0x7c00
                                     : 0x7f80;
}

void add_element(double a, double b, int64_t i, Distance* d) {
  if (std::isfinite(a)) d->largest = std::max(d->largest, std::abs(a));
  const bool finite = std::isfinite(a) && std::isfinite(b);
  if (finite) {
    d->reference_squares += a * a;
    d->other_squares += b * b;
    d->product += a * b;
  }
  if (a == b || (std::isnan(a) && std::isnan(b))) return;
  ++d->n_different;
  d->n_nan += std::isnan(a) != std::isnan(b) ? 1 : 0;
  const double difference = finite ? std::abs(a - b) : std::numeric_limits<double>::infinity();
  d->difference_sum += difference;
  d->difference_squares += difference * difference;
  if (difference > d->max_abs || d->max_abs_index < 0) {
    d->max_abs = difference;
    d->max_abs_index = i;
  }
}

// Elements begin to end, one by one: whatever they are.
template <class T>
void add_elements(const T* a, const T* b, int64_t begin, int64_t end, Distance* d, uint64_t* ulp) {
  using Bits = typename BitsOf<T>::type;
  for (int64_t i = begin; i < end; ++i) {
    add_element(static_cast<double>(widen(a[i])), static_cast<double>(widen(b[i])), i, d);
    *ulp = std::max(*ulp, ulp_of_bits(std::bit_cast<Bits>(a[i]), std::bit_cast<Bits>(b[i]), infinity_bits<T>()));
  }
}

constexpr int kSums = 8;  // side by side, whatever vectors hold them: the same on every processor
constexpr int64_t kBlock = 1024;

// What a block of finite numbers adds up to, in kSums parts.
template <class T>
struct BlockSums {
  using Bits = typename BitsOf<T>::type;
  double reference_squares[kSums], other_squares[kSums], products[kSums], differences[kSums], squares[kSums],
      most[kSums];
  T largest[kSums];
  Bits equal[kSums];  // elements, as far as they fit
  std::make_unsigned_t<Bits> ulp[kSums];
  Bits odd[kSums];  // not 0 where a number is not finite: the rest means nothing then
};

template <class T, int lanes>
[[gnu::always_inline]] inline void sum_block(const T* a, const T* b, BlockSums<T>* sums) {
  using Bits = typename BitsOf<T>::type;
  typedef T V __attribute__((vector_size(lanes * sizeof(T))));  // `using` drops the attribute of a dependent type
  typedef Bits M __attribute__((vector_size(lanes * sizeof(T))));
  typedef std::make_unsigned_t<Bits> U __attribute__((vector_size(lanes * sizeof(T))));
  typedef double D __attribute__((vector_size(lanes * sizeof(double))));
  constexpr Bits kMagnitude = std::numeric_limits<Bits>::max(), kInfinity = infinity_bits<T>();
  constexpr int kShift = 8 * static_cast<int>(sizeof(T)) - 1;
  for (int part = 0; part < kSums; part += lanes) {
    D squares_a = {}, squares_b = {}, products = {}, differences = {}, squares = {}, most = {};
    V largest = {};
    M equal = {}, odd = {};
    U ulp = {};
    for (int64_t i = part; i < kBlock; i += kSums) {
      V x, y;
      std::memcpy(&x, a + i, sizeof x);
      std::memcpy(&y, b + i, sizeof y);
      M m, n;
      std::memcpy(&m, &x, sizeof m);
      std::memcpy(&n, &y, sizeof n);
      const D p = __builtin_convertvector(x, D), q = __builtin_convertvector(y, D);
      const D r = p - q, opposite = q - p, difference = r > opposite ? r : opposite;
      squares_a += p * p;
      squares_b += q * q;
      products += p * q;
      differences += difference;
      squares += r * r;
      most = difference > most ? difference : most;
      const M magnitude_m = m & kMagnitude, magnitude_n = n & kMagnitude;
      odd |= (magnitude_m >= kInfinity) | (magnitude_n >= kInfinity);
      V size;
      std::memcpy(&size, &magnitude_m, sizeof size);
      largest = size > largest ? size : largest;
      equal -= x == y;
      const M sign_m = m >> kShift, sign_n = n >> kShift;
      const M place_m = (magnitude_m ^ sign_m) - sign_m, place_n = (magnitude_n ^ sign_n) - sign_n;
      const U from = __builtin_convertvector(place_m, U), to = __builtin_convertvector(place_n, U);
      const U steps = place_m > place_n ? from - to : to - from;
      ulp = steps > ulp ? steps : ulp;
    }
    std::memcpy(sums->reference_squares + part, &squares_a, sizeof squares_a);
    std::memcpy(sums->other_squares + part, &squares_b, sizeof squares_b);
    std::memcpy(sums->products + part, &products, sizeof products);
    std::memcpy(sums->differences + part, &differences, sizeof differences);
    std::memcpy(sums->squares + part, &squares, sizeof squares);
    std::memcpy(sums->most + part, &most, sizeof most);
    std::memcpy(sums->largest + part, &largest, sizeof largest);
    std::memcpy(sums->equal + part, &equal, sizeof equal);
    std::memcpy(sums->ulp + part, &ulp, sizeof ulp);
    std::memcpy(sums->odd + part, &odd, sizeof odd);
  }
}

template <class T>
void in_16_bytes(const T* a, const T* b, BlockSums<T>* sums) {
  sum_block<T, 2>(a, b, sums);
}
#if defined(__x86_64__)
template <class T>
DNN_FOR_AVX2 void in_32_bytes(const T* a, const T* b, BlockSums<T>* sums) {
  sum_block<T, 4>(a, b, sums);
}
template <class T>
DNN_FOR_AVX512 void in_64_bytes(const T* a, const T* b, BlockSums<T>* sums) {
  sum_block<T, 8>(a, b, sums);
}
#endif

template <class T>
auto best_sums() {
#if defined(__x86_64__)
  return version_for(widest_vector_bytes(), in_16_bytes<T>, in_32_bytes<T>, in_64_bytes<T>);
#else
  return in_16_bytes<T>;
#endif
}

template <class T>
T sum_of(const T* lanes) {
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

template <class T>
void add_block(const T* a, const T* b, int64_t begin, Distance* d, uint64_t* ulp) {
  static const auto sum = best_sums<T>();
  BlockSums<T> sums;
  sum(a + begin, b + begin, &sums);
  if (std::any_of(sums.odd, sums.odd + kSums, [](auto lane) { return lane != 0; }))
    return add_elements(a, b, begin, begin + kBlock, d, ulp);
  d->reference_squares += sum_of(sums.reference_squares);
  d->other_squares += sum_of(sums.other_squares);
  d->product += sum_of(sums.products);
  d->difference_sum += sum_of(sums.differences);
  d->difference_squares += sum_of(sums.squares);
  d->n_different += kBlock - sum_of(sums.equal);
  d->largest = std::max(d->largest, static_cast<double>(*std::max_element(sums.largest, sums.largest + kSums)));
  *ulp = std::max(*ulp, static_cast<uint64_t>(*std::max_element(sums.ulp, sums.ulp + kSums)));
  const double most = *std::max_element(sums.most, sums.most + kSums);
  if (!(most > d->max_abs)) return;
  int64_t i = begin;
  while (std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])) != most) ++i;
  d->max_abs = most;
  d->max_abs_index = i;
}

template <class T>
void add_all(const Tensor& reference, const Tensor& other, Distance* d) {
  const T *a = reference.data<T>(), *b = other.data<T>();
  uint64_t ulp = 0;
  int64_t i = 0;
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    for (; i + kBlock <= d->n; i += kBlock) add_block(a, b, i, d, &ulp);
  }
  add_elements(a, b, i, d->n, d, &ulp);
  if (d->n_nan == 0) d->max_ulp = ulp;
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
  Distance d;
  d.n = reference.size();
  if (reference.dtype() == other.dtype() && is_float(reference.dtype()) && dtype_bits(reference.dtype()) >= 16) {
    dispatch_float(reference.dtype(), [&](auto tag) { add_all<typename decltype(tag)::type>(reference, other, &d); });
    return d;
  }
  const std::vector<double> a = to_doubles(reference), b = to_doubles(other);
  for (int64_t i = 0; i < d.n; ++i) add_element(a[i], b[i], i, &d);
  return d;
}

uint64_t ulp_distance(float a, float b) {
  return ulp_of_bits<int32_t>(std::bit_cast<int32_t>(a), std::bit_cast<int32_t>(b), 0x7f800000);
}

uint64_t ulp_distance(double a, double b) {
  return ulp_of_bits<int64_t>(std::bit_cast<int64_t>(a), std::bit_cast<int64_t>(b), 0x7ff0000000000000);
}

int64_t top_label(const Tensor& output) {
  if (!output.defined() || !(is_float(output.dtype()) || is_integer(output.dtype()))) return -1;
  const Shape& shape = output.shape();
  if (shape.empty() || output.size() < 2 || *std::max_element(shape.begin(), shape.end()) != output.size()) return -1;
  const std::vector<double> scores = to_doubles(output);
  int64_t best = -1;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) continue;
    if (best < 0 || scores[i] > scores[best]) best = static_cast<int64_t>(i);
  }
  return best;
}

}  // namespace dnn
