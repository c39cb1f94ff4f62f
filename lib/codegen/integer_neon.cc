// NEON's helpers for integers; see integer_neon.h.
#include "codegen/integer_neon.h"

namespace dnn::codegen {
namespace {

constexpr const char* kAny = R"(
static inline uint32_t four_bytes_i32x4(const void* x) { uint32_t r; __builtin_memcpy(&r, x, 4); return r; }
static inline i32x4 widen_u8_i32x4(const uint8_t* x) { return (i32x4)vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(four_bytes_i32x4(x))))); }
static inline i32x4 widen_i8_i32x4(const int8_t* x) { return (i32x4)vmovl_s16(vget_low_s16(vmovl_s8(vcreate_s8(four_bytes_i32x4(x))))); }
static inline void narrow_u8_i32x4(uint8_t* y, i32x4 x) { const uint16x4_t h = vmovn_u32((uint32x4_t)x); const uint32_t r = vget_lane_u32(vreinterpret_u32_u8(vmovn_u16(vcombine_u16(h, h))), 0); __builtin_memcpy(y, &r, 4); }
static inline void narrow_i8_i32x4(int8_t* y, i32x4 x) { narrow_u8_i32x4((uint8_t*)y, x); }
static inline void saturate_u8_i32x4(uint8_t* y, i32x4 x) { const uint16x4_t h = vqmovun_s32((int32x4_t)x); const uint32_t r = vget_lane_u32(vreinterpret_u32_u8(vqmovn_u16(vcombine_u16(h, h))), 0); __builtin_memcpy(y, &r, 4); }
static inline void saturate_i8_i32x4(int8_t* y, i32x4 x) { const int16x4_t h = vqmovn_s32((int32x4_t)x); const uint32_t r = vget_lane_u32(vreinterpret_u32_s8(vqmovn_s16(vcombine_s16(h, h))), 0); __builtin_memcpy(y, &r, 4); }
static inline i32x4 round_i32x4(f32x4 x) { return (i32x4)vcvtnq_s32_f32((float32x4_t)x); }
static inline i32x4 dot2_i32x4(i32x4 s, uint32_t x, const int16_t* w) { const int16x8_t v = vreinterpretq_s16_u32(vdupq_n_u32(x)), c = vld1q_s16(w); return s + (i32x4)vpaddq_s32(vmull_s16(vget_low_s16(c), vget_low_s16(v)), vmull_high_s16(c, v)); }
static inline i32x4 dot2_u8_i32x4(i32x4 s, const uint8_t* x, const int16_t* w) { return dot2_i32x4(s, (uint32_t)x[0] | (uint32_t)x[1] << 16, w); }
static inline i32x4 dot2_i8_i32x4(i32x4 s, const int8_t* x, const int16_t* w) { return dot2_i32x4(s, (uint32_t)(uint16_t)x[0] | (uint32_t)(uint16_t)x[1] << 16, w); }
)";

// No product of two bytes overflows 16 bits, and no sum of two products is made in 16 bits. With instructions for four products of signed
// bytes, unsigned ones are taken less 128, and 128 times the weights is added.
constexpr const char* kSignedDot = R"(
#if defined(__ARM_FEATURE_DOTPROD)
static inline i32x4 dot4_i8_i32x4(i32x4 s, const int8_t* x, const int8_t* w) { return (i32x4)vdotq_s32((int32x4_t)s, vld1q_s8(w), vreinterpretq_s8_u32(vdupq_n_u32(four_bytes_i32x4(x)))); }
#else
static inline i32x4 dot4_i8_i32x4(i32x4 s, const int8_t* x, const int8_t* w) { const int8x16_t v = vreinterpretq_s8_u32(vdupq_n_u32(four_bytes_i32x4(x))), c = vld1q_s8(w); return s + (i32x4)vpaddq_s32(vpaddlq_s16(vmull_s8(vget_low_s8(c), vget_low_s8(v))), vpaddlq_s16(vmull_high_s8(c, v))); }
#endif
)";
constexpr const char* kUnsignedDot = R"(
#if defined(__ARM_FEATURE_MATMUL_INT8)
static inline i32x4 dot4_u8_i32x4(i32x4 s, const uint8_t* x, const int8_t* w) { return (i32x4)vusdotq_s32((int32x4_t)s, vreinterpretq_u8_u32(vdupq_n_u32(four_bytes_i32x4(x))), vld1q_s8(w)); }
#elif defined(__ARM_FEATURE_DOTPROD)
static inline i32x4 dot4_u8_i32x4(i32x4 s, const uint8_t* x, const int8_t* w) { const int8x16_t v = vreinterpretq_s8_u32(vdupq_n_u32(four_bytes_i32x4(x) ^ 0x80808080u)), c = vld1q_s8(w); return (i32x4)vdotq_s32(vaddq_s32((int32x4_t)s, vshlq_n_s32(vdotq_s32(vdupq_n_s32(0), c, vdupq_n_s8(1)), 7)), c, v); }
#else
static inline i32x4 dot4_u8_i32x4(i32x4 s, const uint8_t* x, const int8_t* w) { const int16x8_t v = vreinterpretq_s16_u16(vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(four_bytes_i32x4(x))))); const int8x16_t c = vld1q_s8(w); return s + (i32x4)vpaddq_s32(vpaddlq_s16(vmulq_s16(vmovl_s8(vget_low_s8(c)), v)), vpaddlq_s16(vmulq_s16(vmovl_high_s8(c), v))); }
#endif
)";

}  // namespace

std::string integer_neon(std::string_view kernels) {
  const auto used = [&](std::string_view name) { return kernels.find(name) != std::string_view::npos; };
  return std::string(kAny + 1) + (used("dot4_i8_") ? kSignedDot + 1 : "") + (used("dot4_u8_") ? kUnsignedDot + 1 : "");
}

}  // namespace dnn::codegen
