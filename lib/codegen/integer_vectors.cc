// Vectors of int32 as C text; see integer_vectors.h. gcc turns conversions between vectors of different size into moves of single
// bytes, so that instructions are named, by builtins. What has no instruction is a loop over lanes with the same result.
#include "codegen/integer_vectors.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "codegen/integer_neon.h"
#include "target/isa.h"

namespace dnn::codegen {
namespace {

// Replaces L by the lanes, B by bytes of such a vector of int32, H by lanes of 16 bits, R by r for each lane.
std::string with_lanes(std::string_view text, int64_t lanes) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') {
      result += text[i];
      continue;
    }
    const char what = text[++i];
    if (what == 'R') {
      for (int64_t lane = 0; lane < lanes; ++lane) result += lane > 0 ? ", r" : "r";
      continue;
    }
    result += std::to_string(what == 'B' ? lanes * 4 : what == 'H' ? lanes * 2 : lanes);
  }
  return result;
}

// For any machine.
constexpr std::string_view kTypes = R"(typedef int32_t i32x$L __attribute__((vector_size($B)));
typedef int32_t i32x$L_in_memory __attribute__((vector_size($B), aligned(4), may_alias));
typedef int16_t i16x$H __attribute__((vector_size($B)));
static inline i32x$L splat_i32x$L(int32_t x) { return x - (i32x$L){0}; }
static inline i32x$L max_i32x$L(i32x$L a, i32x$L b) { const i32x$L m = a > b; return (m & a) | (~m & b); }
static inline i32x$L min_i32x$L(i32x$L a, i32x$L b) { const i32x$L m = a < b; return (m & a) | (~m & b); }
static inline f32x$L to_f32x$L(i32x$L x) { return __builtin_convertvector(x, f32x$L); }
)";

// Quotients by multiplications where one instruction multiplies, adds and rounds once; see rounded_quotients.h.
std::string round_quotient(int64_t lanes, Arch architecture) {
  const std::string open = with_lanes(
      "static inline i32x$L round_quotient_i32x$L(f32x$L x, float divisor, float reciprocal, float rest, float low, "
      "float "
      "high) { "
      "const f32x$L v = min_f32x$L(max_f32x$L(x, splat_f32x$L(low)), splat_f32x$L(high));",
      lanes);
  const std::string wide = with_lanes(
      "static inline i32x$L round_quotient_wide_i32x$L(f32x$L v, float divisor, float reciprocal, float rest) {",
      lanes);
  const std::string quotient =
      with_lanes(" (void)reciprocal, (void)rest; return round_i32x$L(v / splat_f32x$L(divisor)); }\n", lanes);
  std::string plain = cat(open, quotient, wide, quotient);
  std::string condition, fused;
  if (architecture == Arch::Aarch64 && lanes == 4) {
    condition = "__aarch64__", fused = "(f32x4)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b)";
  } else if (architecture == Arch::X86_64 && lanes == 16) {
    condition = "__AVX512F__", fused = "__builtin_ia32_vfmaddps512_mask(a, b, c, (unsigned short)-1, 4)";
  } else if (architecture == Arch::X86_64 && lanes == 8) {
    condition = "__FMA__", fused = "__builtin_ia32_vfmaddps256(a, b, c)";
  } else {
    return plain;
  }
  const std::string product = with_lanes(
      " (void)divisor; return round_i32x$L(fused_f32x$L(v, splat_f32x$L(reciprocal), v * splat_f32x$L(rest))); }\n",
      lanes);
  return cat("#if defined(", condition, ")\n",
             with_lanes("static inline f32x$L fused_f32x$L(f32x$L a, f32x$L b, f32x$L c) { return ", lanes), fused,
             "; }\n", open, product, wide, product, "#else\n", plain, "#endif\n");
}

// Weights of 16 bits, which a dot product takes two of.
std::string widen_words(int64_t lanes) {
  const std::string loop = with_lanes("{ i32x$L r; for (int i = 0; i < $L; ++i) r[i] = x[i]; return r; }\n", lanes);
  const std::string open = with_lanes("static inline i32x$L widen_i16_i32x$L(const int16_t* x) ", lanes);
  if (lanes < 8) return open + loop;
  const std::string words =
      with_lanes("typedef int16_t i16x$L_words __attribute__((vector_size(", lanes) + cat(lanes * 2, ")));\n");
  const std::string read = with_lanes("{ i16x$L_words r; __builtin_memcpy(&r, x, sizeof r); return (i32x$L)", lanes);
  const char* gcc = lanes == 16 ? "__builtin_ia32_pmovsxwd512_mask(r, (i32x16){0}, (unsigned short)-1)"
                                : "__builtin_ia32_pmovsxwd256(r)";
  return words + "#if defined(__clang__)\n" + open + read +
         with_lanes("__builtin_convertvector(r, i32x$L); }\n", lanes) +
         cat(lanes == 16 ? "#elif defined(__AVX512BW__)\n" : "#elif defined(__AVX2__)\n", open, read, gcc,
             "; }\n#else\n", open, loop, "#endif\n");
}

constexpr std::string_view kWidePlain =
    R"(static inline i32x$L dot2_u8_i32x$L(i32x$L s, const uint8_t* x, const int16_t* w) { for (int i = 0; i < $L; ++i) s[i] += x[0] * w[2 * i] + x[1] * w[2 * i + 1]; return s; }
static inline i32x$L dot2_i8_i32x$L(i32x$L s, const int8_t* x, const int16_t* w) { for (int i = 0; i < $L; ++i) s[i] += x[0] * w[2 * i] + x[1] * w[2 * i + 1]; return s; }
)";
constexpr std::string_view kWidePairs =
    R"(static inline i32x$L dot2_u8_i32x$L(i32x$L s, const uint8_t* x, const int16_t* w) { return s + multiply_pairs_i32x$L(two_u8_i32x$L(x), (i16x$H)*(const i32x$L_in_memory*)w); }
static inline i32x$L dot2_i8_i32x$L(i32x$L s, const int8_t* x, const int16_t* w) { return s + multiply_pairs_i32x$L(two_i8_i32x$L(x), (i16x$H)*(const i32x$L_in_memory*)w); }
)";
// Two bytes as words in each lane: read as one word into all, and spread; putting them together by scalars takes four times as long.
constexpr std::string_view kTwoSpread =
    R"(static inline i16x$H two_bytes_i32x$L(const void* x, uint32_t from) { int16_t r; __builtin_memcpy(&r, x, 2); return (i16x$H)spread_bytes_i32x$L(r - (i16x$H){0}, splat_i32x$L((int32_t)from)); }
static inline i16x$H two_u8_i32x$L(const uint8_t* x) { return two_bytes_i32x$L(x, 0x80018000u); }
static inline i16x$H two_i8_i32x$L(const int8_t* x) { return two_bytes_i32x$L(x, 0x01800080u) >> 8; }
)";
constexpr std::string_view kTwoByScalars =
    R"(static inline i16x$H two_u8_i32x$L(const uint8_t* x) { return (i16x$H)splat_i32x$L(x[0] | x[1] << 16); }
static inline i16x$H two_i8_i32x$L(const int8_t* x) { return (i16x$H)splat_i32x$L((int32_t)((uint32_t)(uint16_t)x[0] | (uint32_t)(uint16_t)x[1] << 16)); }
)";

constexpr std::string_view kPlain =
    R"(static inline i32x$L widen_u8_i32x$L(const uint8_t* x) { i32x$L r; for (int i = 0; i < $L; ++i) r[i] = x[i]; return r; }
static inline i32x$L widen_i8_i32x$L(const int8_t* x) { i32x$L r; for (int i = 0; i < $L; ++i) r[i] = x[i]; return r; }
static inline void narrow_u8_i32x$L(uint8_t* y, i32x$L x) { for (int i = 0; i < $L; ++i) y[i] = (uint8_t)x[i]; }
static inline void narrow_i8_i32x$L(int8_t* y, i32x$L x) { for (int i = 0; i < $L; ++i) y[i] = (int8_t)x[i]; }
static inline void saturate_u8_i32x$L(uint8_t* y, i32x$L x) { narrow_u8_i32x$L(y, max_i32x$L(min_i32x$L(x, splat_i32x$L(255)), splat_i32x$L(0))); }
static inline void saturate_i8_i32x$L(int8_t* y, i32x$L x) { narrow_i8_i32x$L(y, max_i32x$L(min_i32x$L(x, splat_i32x$L(127)), splat_i32x$L(-128))); }
static inline i32x$L round_i32x$L(f32x$L x) { i32x$L r; for (int i = 0; i < $L; ++i) r[i] = (int32_t)nearbyintf(x[i]); return r; }
static inline i32x$L dot4_u8_i32x$L(i32x$L s, const uint8_t* x, const int8_t* w) { for (int i = 0; i < $L; ++i) s[i] += x[0] * w[4 * i] + x[1] * w[4 * i + 1] + x[2] * w[4 * i + 2] + x[3] * w[4 * i + 3]; return s; }
static inline i32x$L dot4_i8_i32x$L(i32x$L s, const int8_t* x, const int8_t* w) { for (int i = 0; i < $L; ++i) s[i] += x[0] * w[4 * i] + x[1] * w[4 * i + 1] + x[2] * w[4 * i + 2] + x[3] * w[4 * i + 3]; return s; }
static inline i32x$L dot4_rows_u8_i32x$L(i32x$L s, const uint8_t* x, int64_t stride, int n, const int8_t* w) { for (int i = 0; i < $L; ++i) for (int k = 0; k < n; ++k) s[i] += x[k * stride + i] * w[4 * i + k]; return s; }
static inline i32x$L dot4_rows_i8_i32x$L(i32x$L s, const int8_t* x, int64_t stride, int n, const int8_t* w) { for (int i = 0; i < $L; ++i) for (int k = 0; k < n; ++k) s[i] += x[k * stride + i] * w[4 * i + k]; return s; }
)";

// Four bytes are read as a float: gcc would take integers through a register of its own, and each splat of one an arithmetic unit.
// Products of 16-bit halves in pairs: bytes at even places, then those at odd ones. No sum of two such products overflows 32 bits.
constexpr std::string_view kPairs =
    R"(static inline i32x$L dot4_pairs_i32x$L(i32x$L s, i16x$H x0, i16x$H x1, const int8_t* w) { const i16x$H v = (i16x$H)*(const i32x$L_in_memory*)w; return s + multiply_pairs_i32x$L((v << 8) >> 8, x0) + multiply_pairs_i32x$L(v >> 8, x1); }
static inline i32x$L four_bytes_i32x$L(const void* x) { float r; __builtin_memcpy(&r, x, 4); return (i32x$L)(f32x$L){$R}; }
static inline i32x$L dot4_u8_i32x$L(i32x$L s, const uint8_t* x, const int8_t* w) { const i32x$L v = four_bytes_i32x$L(x); return dot4_pairs_i32x$L(s, (i16x$H)(v & 0x00ff00ff), (i16x$H)((v >> 8) & 0x00ff00ff), w); }
static inline i32x$L dot4_rows_u8_i32x$L(i32x$L s, const uint8_t* x, int64_t stride, int n, const int8_t* w) { const i32x$L v = rows_i32x$L(x, stride, n); return dot4_pairs_i32x$L(s, (i16x$H)(v & 0x00ff00ff), (i16x$H)((v >> 8) & 0x00ff00ff), w); }
static inline i32x$L dot4_rows_i8_i32x$L(i32x$L s, const int8_t* x, int64_t stride, int n, const int8_t* w) { const i16x$H v = (i16x$H)rows_i32x$L(x, stride, n); return dot4_pairs_i32x$L(s, (v << 8) >> 8, v >> 8, w); }
static inline i32x$L dot4_i8_i32x$L(i32x$L s, const int8_t* x, const int8_t* w) { const i16x$H v = (i16x$H)four_bytes_i32x$L(x); return dot4_pairs_i32x$L(s, (v << 8) >> 8, v >> 8, w); }
)";

constexpr std::string_view kBytes16 = R"(typedef char i8x16 __attribute__((vector_size(16)));
typedef char i8x64 __attribute__((vector_size(64)));
typedef int32_t i32x4_of_16 __attribute__((vector_size(16)));
typedef i8x16 i8x16_in_memory __attribute__((aligned(1), may_alias));
#if defined(__clang__)
typedef char i8x16_from __attribute__((vector_size(16)));
typedef unsigned char u8x16_from __attribute__((vector_size(16)));
static inline i32x16 widen_u8_i32x16(const uint8_t* x) { return __builtin_convertvector((u8x16_from)*(const i8x16_in_memory*)x, i32x16); }
static inline i32x16 widen_i8_i32x16(const int8_t* x) { typedef signed char s8x16_from __attribute__((vector_size(16))); return __builtin_convertvector((s8x16_from)*(const i8x16_in_memory*)x, i32x16); }
static inline i8x16 narrowed_i32x16(i32x16 x) { return __builtin_convertvector(x, i8x16); }
static inline i8x16 saturated_i32x16(i32x16 x) { typedef signed char s8x16_of __attribute__((vector_size(16))); return (i8x16)__builtin_ia32_pmovsdb512_mask(x, (s8x16_of){0}, (unsigned short)-1); }
static inline i32x16 round_i32x16(f32x16 x) { return (i32x16)__builtin_ia32_cvtps2dq512_mask(x, (i32x16){0}, (unsigned short)-1, 4); }
static inline i32x16 multiply_pairs_i32x16(i16x32 a, i16x32 b) { return (i32x16)__builtin_ia32_pmaddwd512(a, b); }
#define spread_bytes_i32x16(x, from) __builtin_ia32_pshufb512((i8x64)(x), (i8x64)(from))
static inline i32x16 four_times_i32x16(i32x4_of_16 x) { return __builtin_shufflevector(x, x, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3); }
#define with_quarter_i32x16(r, x, k) __builtin_ia32_inserti32x4(r, x, k)
#else
static inline i32x16 widen_u8_i32x16(const uint8_t* x) { return (i32x16)__builtin_ia32_pmovzxbd512_mask(*(const i8x16_in_memory*)x, (i32x16){0}, (unsigned short)-1); }
static inline i32x16 widen_i8_i32x16(const int8_t* x) { return (i32x16)__builtin_ia32_pmovsxbd512_mask(*(const i8x16_in_memory*)x, (i32x16){0}, (unsigned short)-1); }
static inline i8x16 narrowed_i32x16(i32x16 x) { return __builtin_ia32_pmovdb512_mask(x, (i8x16){0}, (unsigned short)-1); }
static inline i8x16 saturated_i32x16(i32x16 x) { return __builtin_ia32_pmovsdb512_mask(x, (i8x16){0}, (unsigned short)-1); }
static inline i32x16 round_i32x16(f32x16 x) { return (i32x16)__builtin_ia32_cvtps2dq512_mask(x, (i32x16){0}, (unsigned short)-1, 4); }
static inline i32x16 multiply_pairs_i32x16(i16x32 a, i16x32 b) { return (i32x16)__builtin_ia32_pmaddwd512_mask(a, b, (i32x16){0}, (unsigned short)-1); }
#define spread_bytes_i32x16(x, from) __builtin_ia32_pshufb512_mask((i8x64)(x), (i8x64)(from), (i8x64){0}, (unsigned long long)-1)
static inline i32x16 four_times_i32x16(i32x4_of_16 x) { return (i32x16)__builtin_ia32_broadcasti32x4_512(x, (i32x16){0}, (unsigned short)-1); }
#define with_quarter_i32x16(r, x, k) (i32x16)__builtin_ia32_inserti32x4_mask(r, x, k, (i32x16){0}, (unsigned short)-1)
#endif
static inline i32x4_of_16 sixteen_bytes_i32x16(const void* x) { i32x4_of_16 r; __builtin_memcpy(&r, x, 16); return r; }
static inline i32x16 stack_i32x16(const char* x, int64_t stride, int n) { i32x16 r = four_times_i32x16(sixteen_bytes_i32x16(x)); if (n > 1) r = with_quarter_i32x16(r, sixteen_bytes_i32x16(x + stride), 1); if (n > 2) r = with_quarter_i32x16(r, sixteen_bytes_i32x16(x + 2 * stride), 2); if (n > 3) r = with_quarter_i32x16(r, sixteen_bytes_i32x16(x + 3 * stride), 3); return r; }
static inline i32x16 rows_i32x16(const void* x, int64_t stride, int n) { const i32x16 r = stack_i32x16((const char*)x, stride, n); const i32x4_of_16 bytes = {0x0c080400, 0x0d090501, 0x0e0a0602, 0x0f0b0703}; return (i32x16)spread_bytes_i32x16((i8x64)__builtin_shufflevector(r, r, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), (i8x64)four_times_i32x16(bytes)); }
static inline void narrow_u8_i32x16(uint8_t* y, i32x16 x) { *(i8x16_in_memory*)y = narrowed_i32x16(x); }
static inline void narrow_i8_i32x16(int8_t* y, i32x16 x) { *(i8x16_in_memory*)y = narrowed_i32x16(x); }
static inline void saturate_u8_i32x16(uint8_t* y, i32x16 x) { const i32x4_of_16 sign = {-0x7f7f7f80, -0x7f7f7f80, -0x7f7f7f80, -0x7f7f7f80}; *(i8x16_in_memory*)y = (i8x16)((i32x4_of_16)saturated_i32x16(x - 128) ^ sign); }
static inline void saturate_i8_i32x16(int8_t* y, i32x16 x) { *(i8x16_in_memory*)y = saturated_i32x16(x); }
)";

// For processors that bring bytes of a vector into any order at once (IsaExtension::permutes).
constexpr std::string_view kRowsPermuted =
    R"(i32x16 rowsb_i32x16(const void* x, int64_t stride, int n) { const i8x64 r = (i8x64)stack_i32x16((const char*)x, stride, n); return (i32x16)__builtin_shufflevector(r, r, 0, 16, 32, 48, 1, 17, 33, 49, 2, 18, 34, 50, 3, 19, 35, 51, 4, 20, 36, 52, 5, 21, 37, 53, 6, 22, 38, 54, 7, 23, 39, 55, 8, 24, 40, 56, 9, 25, 41, 57, 10, 26, 42, 58, 11, 27, 43, 59, 12, 28, 44, 60, 13, 29, 45, 61, 14, 30, 46, 62, 15, 31, 47, 63); }
)";

constexpr std::string_view kBytes8 = R"(typedef char i8x16_of_8 __attribute__((vector_size(16)));
typedef int16_t i16x8_of_8 __attribute__((vector_size(16)));
typedef int64_t i64x2_of_8 __attribute__((vector_size(16)));
typedef int32_t i32x4_of_8 __attribute__((vector_size(16)));
static inline i8x16_of_8 eight_bytes_i32x8(const void* x) { int64_t r; __builtin_memcpy(&r, x, 8); return (i8x16_of_8)(i64x2_of_8){r, 0}; }
#if defined(__clang__)
typedef unsigned char u8x8_of_8 __attribute__((vector_size(8)));
typedef signed char s8x8_of_8 __attribute__((vector_size(8)));
static inline i32x8 widen_u8_i32x8(const uint8_t* x) { u8x8_of_8 r; __builtin_memcpy(&r, x, 8); return __builtin_convertvector(r, i32x8); }
static inline i32x8 widen_i8_i32x8(const int8_t* x) { s8x8_of_8 r; __builtin_memcpy(&r, x, 8); return __builtin_convertvector(r, i32x8); }
#else
static inline i32x8 widen_u8_i32x8(const uint8_t* x) { return (i32x8)__builtin_ia32_pmovzxbd256(eight_bytes_i32x8(x)); }
static inline i32x8 widen_i8_i32x8(const int8_t* x) { return (i32x8)__builtin_ia32_pmovsxbd256(eight_bytes_i32x8(x)); }
#endif
static inline i16x8_of_8 halves_i32x8(i32x8 x) { i32x4_of_8 h[2]; __builtin_memcpy(h, &x, 32); return (i16x8_of_8)__builtin_ia32_packssdw128(h[0], h[1]); }
static inline void narrow_u8_i32x8(uint8_t* y, i32x8 x) { const i16x8_of_8 h = halves_i32x8(x); const i64x2_of_8 r = (i64x2_of_8)__builtin_ia32_packuswb128(h, h); __builtin_memcpy(y, &r, 8); }
static inline void narrow_i8_i32x8(int8_t* y, i32x8 x) { const i16x8_of_8 h = halves_i32x8(x); const i64x2_of_8 r = (i64x2_of_8)__builtin_ia32_packsswb128(h, h); __builtin_memcpy(y, &r, 8); }
#define saturate_u8_i32x8 narrow_u8_i32x8
#define saturate_i8_i32x8 narrow_i8_i32x8
static inline i32x8 round_i32x8(f32x8 x) { return (i32x8)__builtin_ia32_cvtps2dq256(x); }
static inline i32x8 multiply_pairs_i32x8(i16x16 a, i16x16 b) { return (i32x8)__builtin_ia32_pmaddwd256(a, b); }
typedef char i8x32_of_8 __attribute__((vector_size(32)));
#define spread_bytes_i32x8(x, from) __builtin_ia32_pshufb256((i8x32_of_8)(x), (i8x32_of_8)(from))
typedef int64_t i64x4_of_8 __attribute__((vector_size(32)));
typedef uint32_t u32x8_of_8 __attribute__((vector_size(32)));
static inline i32x8 row_i32x8(const void* x, int k) { int64_t r; __builtin_memcpy(&r, x, 8); const i32x8 byte = {0, 1, 2, 3, 4, 5, 6, 7}; return (i32x8)__builtin_ia32_pshufb256((i8x32_of_8)(i64x4_of_8){r, r, r, r}, (i8x32_of_8)((byte << (8 * k)) | (i32x8)(~(0xffu << (8 * k)) - (u32x8_of_8){0}))); }
static inline i32x8 rows_i32x8(const void* x, int64_t stride, int n) { i32x8 r = row_i32x8(x, 0); for (int k = 1; k < n; ++k) r |= row_i32x8((const char*)x + k * stride, k); return r; }
)";

constexpr std::string_view kBytes4 = R"(typedef char i8x16_of_4 __attribute__((vector_size(16)));
typedef int16_t i16x8_of_4 __attribute__((vector_size(16)));
static inline int32_t packed_i32x4(i32x4 x) { int32_t r; __builtin_memcpy(&r, &x, 4); return r; }
static inline i32x4 spread_i32x4(const void* x) { int32_t v; __builtin_memcpy(&v, x, 4); const i8x16_of_4 r = (i8x16_of_4)(i32x4){v, 0, 0, 0}; const i16x8_of_4 h = (i16x8_of_4)__builtin_shufflevector((i8x16_of_4){0}, r, 0, 16, 0, 17, 0, 18, 0, 19, 0, 0, 0, 0, 0, 0, 0, 0); return (i32x4)__builtin_shufflevector((i16x8_of_4){0}, h, 0, 8, 0, 9, 0, 10, 0, 11); }
static inline i32x4 widen_i8_i32x4(const int8_t* x) { return spread_i32x4(x) >> 24; }
static inline i32x4 widen_u8_i32x4(const uint8_t* x) { int32_t v; __builtin_memcpy(&v, x, 4); const i8x16_of_4 r = (i8x16_of_4)(i32x4){v, 0, 0, 0}; const i16x8_of_4 h = (i16x8_of_4)__builtin_shufflevector(r, (i8x16_of_4){0}, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23); return (i32x4)__builtin_shufflevector(h, (i16x8_of_4){0}, 0, 8, 1, 9, 2, 10, 3, 11); }
static inline void narrow_u8_i32x4(uint8_t* y, i32x4 x) { const i16x8_of_4 h = (i16x8_of_4)__builtin_ia32_packssdw128(x, x); const int32_t r = packed_i32x4((i32x4)__builtin_ia32_packuswb128(h, h)); __builtin_memcpy(y, &r, 4); }
static inline void narrow_i8_i32x4(int8_t* y, i32x4 x) { const i16x8_of_4 h = (i16x8_of_4)__builtin_ia32_packssdw128(x, x); const int32_t r = packed_i32x4((i32x4)__builtin_ia32_packsswb128(h, h)); __builtin_memcpy(y, &r, 4); }
#define saturate_u8_i32x4 narrow_u8_i32x4
#define saturate_i8_i32x4 narrow_i8_i32x4
static inline i32x4 round_i32x4(f32x4 x) { return (i32x4)__builtin_ia32_cvtps2dq(x); }
static inline i32x4 multiply_pairs_i32x4(i16x8 a, i16x8 b) { return (i32x4)__builtin_ia32_pmaddwd128(a, b); }
static inline i32x4 rows_i32x4(const void* x, int64_t stride, int n) { i32x4 r = {0}; for (int k = 0; k < n; ++k) { int32_t v; __builtin_memcpy(&v, (const char*)x + k * stride, 4); r[k] = v; } return (i32x4)__builtin_shufflevector((i8x16_of_4)r, (i8x16_of_4)r, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15); }
)";

// One of the two spellings of an instruction that gcc and clang have, and text that is different for each.
std::string by_compiler(const std::string& clang, const std::string& gcc) {
  return cat("#if defined(__clang__)\n", clang, "#else\n", gcc, "#endif\n");
}

// The instruction for four products, in a function that may use it.
std::string dot_instruction(int64_t lanes, const std::string& target, const std::string& permutes) {
  const auto gcc = [&](const char* of) { return cat("__builtin_ia32_vpdp", of, "_v", lanes, "si"); };
  const auto clang = [&](const char* of) { return cat("__builtin_ia32_vpdp", of, lanes * 32); };
  const std::string permuted = lanes == 16 && !permutes.empty() ? cat(target, ",", permutes) : "";
  const auto attribute = [](const std::string& targets) {
    return cat("static inline __attribute__((target(\"", targets, "\"))) ");
  };
  const auto of_rows = [&](const std::string& builtin, const std::string& targets, const char* how) {
    return cat(attribute(targets), with_lanes("i32x$L dot4", lanes), how,
               with_lanes("_rows_u8_i32x$L(i32x$L s, const uint8_t* x, int64_t stride, int n, const int8_t* w) { "
                          "return (i32x$L)",
                          lanes),
               builtin, "(s, rows", how == std::string_view("v") ? "" : how,
               with_lanes("_i32x$L(x, stride, n), *(const i32x$L_in_memory*)w); }\n", lanes));
  };
  const auto two = [&](const std::string& builtin, const char* type, const char* c) {
    return cat(attribute(target), with_lanes("i32x$L dot2v_", lanes), type,
               with_lanes("_i32x$L(i32x$L s, const ", lanes), c, "* x, const int16_t* w) { return (i32x", lanes, ")",
               builtin, "(s, (i32x", lanes, ")two_", type,
               with_lanes("_i32x$L(x), *(const i32x$L_in_memory*)w); }\n", lanes));
  };
  const auto with = [&](const auto& builtin) {
    const std::string bytes = builtin("busd"), words = builtin("wssd");
    const std::string four =
        cat(attribute(target),
            with_lanes("i32x$L dot4v_u8_i32x$L(i32x$L s, const uint8_t* x, const int8_t* w) { return (i32x$L)", lanes),
            bytes, with_lanes("(s, four_bytes_i32x$L(x), *(const i32x$L_in_memory*)w); }\n", lanes));
    return four + two(words, "u8", "uint8_t") + two(words, "i8", "int8_t") + of_rows(bytes, target, "v") +
           (permuted.empty() ? "" : of_rows(bytes, permuted, "b"));
  };
  return (permuted.empty() ? "" : cat(attribute(permuted), kRowsPermuted)) + by_compiler(with(clang), with(gcc)) +
         attribute(target) +
         with_lanes(
             "i32x$L dot4v_i8_i32x$L(i32x$L s, const int8_t* x, const int8_t* w) { return dot4_i8_i32x$L(s, x, w); }\n",
             lanes) +
         attribute(target) +
         with_lanes(
             "i32x$L dot4v_rows_i8_i32x$L(i32x$L s, const int8_t* x, int64_t stride, int n, const int8_t* w) { return "
             "dot4_rows_i8_i32x$L(s, x, stride, n, w); }\n",
             lanes);
}

// An instruction for four products: when code may be made for it, and what compilers call it in a function's target and when code
// asks the processor.
struct Version {
  std::string condition, name, permutes;
};

// The macro that a compiler's option defines.
std::string macro_of(std::string_view option) {
  std::string name;
  for (const char c : option.substr(2)) name += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return "__" + name + "__";
}

// Best first.
std::vector<Version> versions() {
  std::vector<Version> result;
  for (auto row = isa_extensions().rbegin(); row != isa_extensions().rend(); ++row) {
    const Isa* isa = find_isa(row->language, row->isa);
    if (row->dot.k != 4 || isa == nullptr) continue;
    std::vector<std::string> macros;
    for (const std::string_view flag : isa->flags) {
      if (flag.find('=') == std::string_view::npos) macros.push_back("defined(" + macro_of(flag) + ")");
    }
    if (isa->vector_bytes < 64) macros.emplace_back("!defined(__clang__)");  // clang 14 cannot ask for AVX-VNNI
    result.push_back({join(macros, " && "), std::string(row->flags.at(0)).substr(2), row->permutes});
  }
  return result;
}

std::string helpers(int64_t lanes, Arch architecture, std::string_view kernels) {
  const std::string types = with_lanes(kTypes, lanes) + widen_words(lanes);
  const std::string plain = with_lanes(kPlain, lanes) + with_lanes(kWidePlain, lanes);
  if (architecture == Arch::Aarch64)
    return lanes == 4 ? "#include <arm_neon.h>\n" + types + integer_neon(kernels) : types + plain;
  if (lanes < 4) {  // for which no instruction is worth its while
    const std::string same = with_lanes(
        "#define dot4v_u8_i32x$L dot4_u8_i32x$L\n#define dot4v_i8_i32x$L dot4_i8_i32x$L\n"
        "#define dot4v_rows_u8_i32x$L dot4_rows_u8_i32x$L\n#define dot4v_rows_i8_i32x$L dot4_rows_i8_i32x$L\n"
        "#define dot2v_u8_i32x$L dot2_u8_i32x$L\n#define dot2v_i8_i32x$L dot2_i8_i32x$L\n",
        lanes);
    return types + plain + same;
  }
  const std::string_view bytes = lanes == 16 ? kBytes16 : lanes == 8 ? kBytes8 : kBytes4;
  const char* condition = lanes == 16 ? "__AVX512BW__" : lanes == 8 ? "__AVX2__" : "__SSE2__";
  std::string text = types + cat("#if defined(", condition, ")\n") + std::string(bytes) + with_lanes(kPairs, lanes) +
                     with_lanes(lanes > 4 ? kTwoSpread : kTwoByScalars, lanes) + with_lanes(kWidePairs, lanes);
  std::string word = "#if";
  for (const Version& version : versions()) {
    text += cat(word, " ", version.condition, "\n", dot_instruction(lanes, version.name, version.permutes));
    word = "#elif";
  }
  return text + "#endif\n#else\n" + plain + "#endif\n";
}

}  // namespace

std::string integer_vectors(int64_t lanes, Arch architecture, std::string_view kernels) {
  const std::string text = helpers(lanes, architecture, kernels);
  return kernels.find("round_quotient_") == std::string_view::npos ? text : text + round_quotient(lanes, architecture);
}

std::string with_dot_products(const loops::Kernel& kernel, const std::string& text, const std::string& linkage) {
  const std::vector<std::pair<std::string, std::string>> by_dots = {
      {"dot4_", "dot4v_"}, {"dot2_u8_", "dot2v_u8_"}, {"dot2_i8_", "dot2v_i8_"}};
  if (std::none_of(by_dots.begin(), by_dots.end(),
                   [&](const auto& word) { return text.find(word.first) != std::string::npos; }))
    return text;
  const std::string open = cat("void ", kernel.name, "(");
  const auto version = [&](const std::string& suffix, const std::vector<std::pair<std::string, std::string>>& words) {
    std::string result = text;
    const size_t at = result.find(open);
    result.replace(at, open.size(), cat("void ", kernel.name, suffix, "("));
    for (const auto& [from, to] : words) {
      for (size_t i = result.find(from); i != std::string::npos; i = result.find(from, i + to.size()))
        result.replace(i, from.size(), to);
    }
    return linkage.empty() ? result.insert(at, "static ") : result;
  };
  const auto special = [&](const std::string& suffix, const std::string& target,
                           const std::vector<std::pair<std::string, std::string>>& words) {
    std::string result = version(suffix, words);
    return result.insert(result.find(linkage.empty() ? "static void" : "void " + kernel.name),
                         cat("__attribute__((target(\"", target, "\"))) "));
  };
  const std::string of_rows = "dot4_rows_u8_i32x16";
  const bool rows = text.find(of_rows) != std::string::npos;
  std::string result = version("_plain", {}), word = "#if";
  for (const auto& [condition, name, permutes] : versions()) {
    const bool permuted = rows && !permutes.empty();
    const auto call = [&](const std::string& suffix) { return cat(kernel.name, suffix, "(args, begin, end);\n"); };
    const auto has = [](const std::string& feature) { return cat("__builtin_cpu_supports(\"", feature, "\")"); };
    result += cat(word, " ", condition, "\n", special("_dot", name, by_dots));
    if (permuted)
      result += special("_rows", cat(name, ",", permutes), {{of_rows, "dot4b_rows_u8_i32x16"}, {"dot4_", "dot4v_"}});
    result += cat(linkage, open, "void* const* args, int64_t begin, int64_t end) {\n");
    if (permuted) result += cat("  if (", has(name), " && ", has(permutes), ") {\n    ", call("_rows"), "  } else ");
    result += cat(permuted ? "" : "  ", "if (", has(name), ") {\n    ", call("_dot"), "  } else {\n    ",
                  call("_plain"), "  }\n}\n");
    word = "#elif";
  }
  return result + "#else\n" + linkage + open + "void* const* args, int64_t begin, int64_t end) { " + kernel.name +
         "_plain(args, begin, end); }\n#endif\n";
}

}  // namespace dnn::codegen
