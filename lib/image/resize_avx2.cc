// The passes of resize.h with AVX2, exact: a 23-bit weight is cut into a low part of 15 bits and a high part, so that
// vpmaddwd forms both products of two neighbouring taps at once; the high sums are shifted in at the end (modulo 2^32).
#include <algorithm>
#include <cstring>

#include "base/simd.h"
#include "image/resize.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace dnn::resample {
namespace {

constexpr int32_t kHalf = 1 << (kFractionBits - 1);

DNN_FOR_AVX2 inline __m256i finish(__m256i low, __m256i high) {
  const __m256i sum = _mm256_add_epi32(low, _mm256_slli_epi32(high, kLowBits));
  return _mm256_srai_epi32(sum, kFractionBits);
}

// One output pixel of two rows: `a` and `b` are where their windows begin. 4 taps are 12 bytes of a 16-byte load.
DNN_FOR_AVX2 inline __m256i two_rows(const uint8_t* a, const uint8_t* b, const int32_t* low, const int32_t* high,
                                     int taps) {
  // Bytes r0 g0 b0 r1 g1 b1 r2 ... to 16-bit pairs (r0 r1)(g0 g1)(b0 b1)(0 0), and the same of taps 2 and 3.
  const __m256i first = _mm256_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1,  //
                                         0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1);
  const __m256i second = _mm256_setr_epi8(6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1,  //
                                          6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1);
  __m256i sum_low = _mm256_set1_epi32(kHalf);
  __m256i sum_high = _mm256_setzero_si256();
  for (int t = 0; t < taps; t += 4) {
    const __m128i row_a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a + 3 * t));
    const __m128i row_b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b + 3 * t));
    const __m256i rows = _mm256_inserti128_si256(_mm256_castsi128_si256(row_a), row_b, 1);
    const __m256i p01 = _mm256_shuffle_epi8(rows, first);
    const __m256i p23 = _mm256_shuffle_epi8(rows, second);
    sum_low = _mm256_add_epi32(sum_low, _mm256_madd_epi16(p01, _mm256_set1_epi32(low[t / 2])));
    sum_low = _mm256_add_epi32(sum_low, _mm256_madd_epi16(p23, _mm256_set1_epi32(low[t / 2 + 1])));
    sum_high = _mm256_add_epi32(sum_high, _mm256_madd_epi16(p01, _mm256_set1_epi32(high[t / 2])));
    sum_high = _mm256_add_epi32(sum_high, _mm256_madd_epi16(p23, _mm256_set1_epi32(high[t / 2 + 1])));
  }
  return finish(sum_low, sum_high);
}

// Both rows must be readable for 4 bytes behind their last window.
DNN_FOR_AVX2 void two_rows_all(const uint8_t* a, const uint8_t* b, uint8_t* out_a, uint8_t* out_b, const Weights& w,
                               const Pairs& pairs) {
  const size_t n = w.first.size();
  const auto half_taps = static_cast<size_t>(w.taps) / 2;
  for (size_t x = 0; x < n; ++x) {
    const size_t begin = 3 * static_cast<size_t>(w.first[x]);
    const __m256i wide = two_rows(a + begin, b + begin, &pairs.low[x * half_taps], &pairs.high[x * half_taps], w.taps);
    const __m256i words = _mm256_packs_epi32(wide, wide);
    const __m256i bytes = _mm256_packus_epi16(words, words);
    const size_t n_bytes = x + 1 < n ? 4 : 3;  // the next pixel overwrites the fourth
    store_pixel(out_a + 3 * x, _mm256_extract_epi32(bytes, 0), n_bytes);
    store_pixel(out_b + 3 * x, _mm256_extract_epi32(bytes, 4), n_bytes);
  }
}

// 32 bytes of one output row, from `in` (the first row of the window) on.
DNN_FOR_AVX2 inline void vertical_32(const uint8_t* in, size_t stride, const int32_t* low, const int32_t* high,
                                     int taps, uint8_t* out) {
  __m256i sum_low[4], sum_high[4];
  for (int i = 0; i < 4; ++i) {
    sum_low[i] = _mm256_set1_epi32(kHalf);
    sum_high[i] = _mm256_setzero_si256();
  }
  const __m256i zero = _mm256_setzero_si256();
  for (int t = 0; t < taps; t += 2) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + static_cast<size_t>(t) * stride));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + static_cast<size_t>(t + 1) * stride));
    const __m256i weights_low = _mm256_set1_epi32(low[t / 2]);
    const __m256i weights_high = _mm256_set1_epi32(high[t / 2]);
    const __m256i ab[2] = {_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)};
    for (int i = 0; i < 2; ++i) {
      const __m256i p = _mm256_unpacklo_epi8(ab[i], zero);
      const __m256i q = _mm256_unpackhi_epi8(ab[i], zero);
      sum_low[2 * i] = _mm256_add_epi32(sum_low[2 * i], _mm256_madd_epi16(p, weights_low));
      sum_high[2 * i] = _mm256_add_epi32(sum_high[2 * i], _mm256_madd_epi16(p, weights_high));
      sum_low[2 * i + 1] = _mm256_add_epi32(sum_low[2 * i + 1], _mm256_madd_epi16(q, weights_low));
      sum_high[2 * i + 1] = _mm256_add_epi32(sum_high[2 * i + 1], _mm256_madd_epi16(q, weights_high));
    }
  }
  // The unpacking and the packing both work within 128-bit lanes, so the bytes come back in their order.
  const __m256i lower = _mm256_packs_epi32(finish(sum_low[0], sum_high[0]), finish(sum_low[1], sum_high[1]));
  const __m256i upper = _mm256_packs_epi32(finish(sum_low[2], sum_high[2]), finish(sum_low[3], sum_high[3]));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_packus_epi16(lower, upper));
}

}  // namespace

Pairs split_weights(const Weights& w) {
  Pairs pairs;
  pairs.low.resize(w.weights.size() / 2);
  pairs.high.resize(w.weights.size() / 2);
  for (size_t i = 0; i < w.weights.size() / 2; ++i) {
    const int32_t a = w.weights[2 * i], b = w.weights[2 * i + 1];
    const int32_t mask = (1 << kLowBits) - 1;
    pairs.low[i] = (a & mask) | (b & mask) << 16;
    pairs.high[i] = static_cast<int32_t>(static_cast<uint32_t>(a >> kLowBits & 0xffff) |
                                         static_cast<uint32_t>(b >> kLowBits) << 16);
  }
  return pairs;
}

bool avx2_usable() {
  static const bool usable = widest_vector_bytes() >= 32;
  return usable;
}

void horizontal_avx2(const PassHorizontal& pass) {
  const Weights& w = *pass.weights;
  const Pairs pairs = split_weights(w);
  const size_t row_bytes = static_cast<size_t>(pass.in_width) * 3;
  const size_t out_bytes = w.first.size() * 3;
  // Rows that may not be read beyond their end go through zero-padded copies: the last pair, an odd last row (its
  // partner is a dummy), and all rows of images narrower than a window.
  const size_t padded_bytes = static_cast<size_t>(std::max(pass.in_width, w.taps)) * 3 + 16;
  std::vector<uint8_t> copies(2 * padded_bytes), spare(out_bytes);
  const bool narrow = pass.in_width < w.taps;
  for (int y = 0; y < pass.n_rows; y += 2) {
    const bool lone = y + 1 == pass.n_rows;
    const uint8_t* a = pass.in + static_cast<size_t>(y) * row_bytes;
    const uint8_t* b = lone ? a : a + row_bytes;
    if (narrow || y + 2 >= pass.n_rows) {
      std::memcpy(copies.data(), a, row_bytes);
      std::memcpy(copies.data() + padded_bytes, b, row_bytes);
      a = copies.data();
      b = copies.data() + padded_bytes;
    }
    uint8_t* out = pass.out + static_cast<size_t>(y) * out_bytes;
    two_rows_all(a, b, out, lone ? spare.data() : out + out_bytes, w, pairs);
  }
}

void vertical_avx2(const PassVertical& pass) {
  const Weights& w = *pass.weights;
  if (pass.row_bytes < 32 || pass.in_rows < w.taps) return vertical_portable(pass);
  const Pairs pairs = split_weights(w);
  const auto half_taps = static_cast<size_t>(w.taps) / 2;
  for (size_t y = 0; y < w.first.size(); ++y) {
    const int32_t* low = &pairs.low[y * half_taps];
    const int32_t* high = &pairs.high[y * half_taps];
    int taps = w.taps, skipped = 0;  // without the pairs of zeros at both ends
    while (taps > 2 && low[taps / 2 - 1] == 0 && high[taps / 2 - 1] == 0) taps -= 2;
    while (taps - skipped > 2 && low[skipped / 2] == 0 && high[skipped / 2] == 0) skipped += 2;
    const uint8_t* in = pass.in + static_cast<size_t>(w.first[y] + skipped) * pass.in_stride;
    uint8_t* out = pass.out + y * pass.row_bytes;
    for (size_t x = 0;; x += 32) {
      x = std::min(x, pass.row_bytes - 32);  // the last block overlaps the one before
      vertical_32(in + x, pass.in_stride, low + skipped / 2, high + skipped / 2, taps - skipped, out + x);
      if (x == pass.row_bytes - 32) break;
    }
  }
}

}  // namespace dnn::resample

#else

namespace dnn::resample {

bool avx2_usable() { return false; }
void horizontal_avx2(const PassHorizontal& pass) { horizontal_portable(pass); }
void vertical_avx2(const PassVertical& pass) { vertical_portable(pass); }

}  // namespace dnn::resample

#endif
