// The horizontal pass of resize.h with AVX-512: that of resize_avx2.cc on four rows at once.
#include "base/simd.h"
#include "image/resize.h"

#if defined(__x86_64__)
// GCC 12 takes its own header's undefined vectors for a mistake (its bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

namespace dnn::resample {
namespace {

DNN_FOR_AVX512 inline __m512i four_loads(const uint8_t* const* rows, size_t at) {
  const auto one = [&](int i) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[i] + at)); };
  const __m512i first = _mm512_inserti32x4(_mm512_castsi128_si512(one(0)), one(1), 1);
  return _mm512_inserti32x4(_mm512_inserti32x4(first, one(2), 2), one(3), 3);
}

DNN_FOR_AVX512 void four_rows_all(const uint8_t* const* in, uint8_t* const* out, const Weights& w, const Pairs& pairs) {
  // Bytes r0 g0 b0 r1 g1 b1 r2 ... to 16-bit pairs (r0 r1)(g0 g1)(b0 b1)(0 0), and the same of taps 2 and 3.
  const __m512i first = _mm512_broadcast_i32x4(_mm_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1));
  const __m512i second =
      _mm512_broadcast_i32x4(_mm_setr_epi8(6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1));
  const auto half_taps = static_cast<size_t>(w.taps) / 2;
  const size_t n = w.first.size();
  for (size_t x = 0; x < n; ++x) {
    const int32_t *low = &pairs.low[x * half_taps], *high = &pairs.high[x * half_taps];
    __m512i sum_low = _mm512_set1_epi32(1 << (kFractionBits - 1));
    __m512i sum_high = _mm512_setzero_si512();
    for (size_t t = 0; t < half_taps; t += 2) {
      const __m512i rows = four_loads(in, 3 * (static_cast<size_t>(w.first[x]) + 2 * t));
      const __m512i p01 = _mm512_shuffle_epi8(rows, first);
      const __m512i p23 = _mm512_shuffle_epi8(rows, second);
      sum_low = _mm512_add_epi32(sum_low, _mm512_madd_epi16(p01, _mm512_set1_epi32(low[t])));
      sum_low = _mm512_add_epi32(sum_low, _mm512_madd_epi16(p23, _mm512_set1_epi32(low[t + 1])));
      sum_high = _mm512_add_epi32(sum_high, _mm512_madd_epi16(p01, _mm512_set1_epi32(high[t])));
      sum_high = _mm512_add_epi32(sum_high, _mm512_madd_epi16(p23, _mm512_set1_epi32(high[t + 1])));
    }
    const __m512i sum =
        _mm512_srai_epi32(_mm512_add_epi32(sum_low, _mm512_slli_epi32(sum_high, kLowBits)), kFractionBits);
    const __m512i words = _mm512_packs_epi32(sum, sum);
    const __m512i bytes = _mm512_packus_epi16(words, words);
    const size_t n_bytes = x + 1 < n ? 4 : 3;  // the next pixel overwrites the fourth
    store_pixel(out[0] + 3 * x, _mm_cvtsi128_si32(_mm512_castsi512_si128(bytes)), n_bytes);
    store_pixel(out[1] + 3 * x, _mm_cvtsi128_si32(_mm512_extracti32x4_epi32(bytes, 1)), n_bytes);
    store_pixel(out[2] + 3 * x, _mm_cvtsi128_si32(_mm512_extracti32x4_epi32(bytes, 2)), n_bytes);
    store_pixel(out[3] + 3 * x, _mm_cvtsi128_si32(_mm512_extracti32x4_epi32(bytes, 3)), n_bytes);
  }
}

}  // namespace

bool avx512_usable() {
  static const bool usable = widest_vector_bytes() >= 64;
  return usable;
}

void horizontal_avx512(const PassHorizontal& pass) {
  const Weights& w = *pass.weights;
  const size_t row_bytes = static_cast<size_t>(pass.in_width) * 3, out_bytes = w.first.size() * 3;
  int y = 0;
  if (pass.in_width >= w.taps) {
    const Pairs pairs = split_weights(w);
    // Rows are read for 4 bytes behind their last window: a last row goes the other way.
    for (; y + 4 < pass.n_rows; y += 4) {
      const uint8_t* in[4];
      uint8_t* out[4];
      for (int i = 0; i < 4; ++i) {
        in[i] = pass.in + static_cast<size_t>(y + i) * row_bytes;
        out[i] = pass.out + static_cast<size_t>(y + i) * out_bytes;
      }
      four_rows_all(in, out, w, pairs);
    }
  }
  PassHorizontal rest = pass;
  rest.in += static_cast<size_t>(y) * row_bytes;
  rest.out += static_cast<size_t>(y) * out_bytes;
  rest.n_rows -= y;
  horizontal_avx2(rest);
}

}  // namespace dnn::resample

#else

namespace dnn::resample {

bool avx512_usable() { return false; }
void horizontal_avx512(const PassHorizontal& pass) { horizontal_portable(pass); }

}  // namespace dnn::resample

#endif
