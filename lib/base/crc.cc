// Checksums by carry-less multiplication, 64 bytes at a time: Gopal and others, "Fast CRC Computation for Generic Polynomials Using
// PCLMULQDQ" (Intel, 2009); what is left, and processors without it, eight bytes at a time by the tables of Kounavis and Berry, "A
// Systematic Approach to Building High Performance Software-based CRC Generators" (2005).
#include "base/crc.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <array>

namespace dnn {
namespace {

constexpr uint32_t kZip = 0xedb88320u, kCastagnoli = 0x82f63b78u;  // the lowest bit is the highest power

using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr uint32_t times_x(uint32_t value, uint32_t polynomial) {
  return (value >> 1) ^ ((value & 1) != 0 ? polynomial : 0);
}

constexpr Tables make_tables(uint32_t polynomial) {
  Tables tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = times_x(crc, polynomial);
    tables[0][i] = crc;
  }
  for (size_t t = 1; t < 8; ++t) {
    for (size_t i = 0; i < 256; ++i) {
      const uint32_t last = tables[t - 1][i];
      tables[t][i] = (last >> 8) ^ tables[0][last & 0xff];
    }
  }
  return tables;
}

// x^n modulo the polynomial, as a factor of 33 bits.
constexpr uint64_t power(int n, uint32_t polynomial) {
  uint32_t value = 0x80000000u;
  for (int i = 0; i < n; ++i) value = times_x(value, polynomial);
  return uint64_t{value} << 1;
}

template <uint32_t polynomial>
uint32_t by_tables(Bytes bytes, uint32_t crc) {
  static constexpr Tables kTables = make_tables(polynomial);
  const std::byte* p = bytes.data();
  size_t n = bytes.size();
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    word ^= crc;
    crc = 0;
    for (size_t i = 0; i < 8; ++i) crc ^= kTables[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (; n > 0; --n, ++p) crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<uint32_t>(*p)) & 0xff];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("pclmul,sse4.1"))) __m128i folded(__m128i sum, __m128i factors, __m128i next) {
  const __m128i low = _mm_clmulepi64_si128(sum, factors, 0x00), high = _mm_clmulepi64_si128(sum, factors, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

// Of at least 64 bytes, a multiple of 16.
template <uint32_t polynomial>
__attribute__((target("pclmul,sse4.1"))) uint32_t by_folding(Bytes bytes, uint32_t crc) {
  static constexpr uint64_t kFar[] = {power(4 * 128 + 32, polynomial), power(4 * 128 - 32, polynomial)};
  static constexpr uint64_t kNear[] = {power(128 + 32, polynomial), power(128 - 32, polynomial)};
  const auto load = [](const void* p) __attribute__((target("pclmul,sse4.1"))) {
    return _mm_loadu_si128(static_cast<const __m128i*>(p));
  };
  const __m128i far = load(kFar), near = load(kNear);
  const std::byte *p = bytes.data(), *const end = p + bytes.size();
  __m128i a = _mm_xor_si128(load(p), _mm_cvtsi32_si128(static_cast<int>(crc)));
  __m128i b = load(p + 16), c = load(p + 32), d = load(p + 48);
  for (p += 64; end - p >= 64; p += 64) {
    a = folded(a, far, load(p));
    b = folded(b, far, load(p + 16));
    c = folded(c, far, load(p + 32));
    d = folded(d, far, load(p + 48));
  }
  a = folded(folded(folded(a, near, b), near, c), near, d);
  for (; p != end; p += 16) a = folded(a, near, load(p));
  std::array<std::byte, 16> rest;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest.data()), a);
  return by_tables<polynomial>(rest, 0);
}
#endif

template <uint32_t polynomial>
uint32_t checksum(Bytes bytes, uint32_t before) {
#if defined(__x86_64__)
  static const bool folds = [] {
    __builtin_cpu_init();
    return __builtin_cpu_supports("pclmul") != 0 && __builtin_cpu_supports("sse4.1") != 0;
  }();
  uint32_t crc = ~before;
  if (folds && bytes.size() >= 64) {
    const size_t n = bytes.size() / 16 * 16;
    crc = by_folding<polynomial>(bytes.first(n), crc);
    bytes = bytes.subspan(n);
  }
#else
  const uint32_t crc = ~before;
#endif
  return ~by_tables<polynomial>(bytes, crc);
}

}  // namespace

uint32_t zip_crc32(Bytes bytes, uint32_t before) { return checksum<kZip>(bytes, before); }
uint32_t crc32c(Bytes bytes, uint32_t before) { return checksum<kCastagnoli>(bytes, before); }

}  // namespace dnn
