#include <math.h>
#include <stdint.h>
static inline int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
static inline int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }
#ifndef DNN_VECTOR_MATH
static inline float exp_f32(float x) { return expf(x); }
#endif
static inline float log_f32(float x) { return logf(x); }
static inline float sqrt_f32(float x) { return sqrtf(x); }
static inline float sin_f32(float x) { return sinf(x); }
static inline float cos_f32(float x) { return cosf(x); }
static inline float tan_f32(float x) { return tanf(x); }
static inline float asin_f32(float x) { return asinf(x); }
static inline float acos_f32(float x) { return acosf(x); }
static inline float atan_f32(float x) { return atanf(x); }
static inline float sinh_f32(float x) { return sinhf(x); }
static inline float cosh_f32(float x) { return coshf(x); }
#ifndef DNN_VECTOR_MATH
static inline float tanh_f32(float x) { return tanhf(x); }
#endif
static inline float asinh_f32(float x) { return asinhf(x); }
static inline float acosh_f32(float x) { return acoshf(x); }
static inline float atanh_f32(float x) { return atanhf(x); }
#ifndef DNN_VECTOR_MATH
static inline float erf_f32(float x) { return erff(x); }
#endif
static inline float floor_f32(float x) { return floorf(x); }
static inline float ceil_f32(float x) { return ceilf(x); }
#ifndef DNN_VECTOR_MATH
static inline float silu_f32(float x) { return x / (1 + exp_f32(-x)); }
#endif
static inline float abs_f32(float x) { return fabsf(x); }
static inline float round_even_f32(float x) { return nearbyintf(x); }
static inline float pow_f32(float x, float y) { return powf(x, y); }
static inline float trunc_mod_f32(float x, float y) { return fmodf(x, y); }
static inline float max_f32(float a, float b) { return a > b ? a : b; }
static inline float min_f32(float a, float b) { return a < b ? a : b; }
static inline int is_nan_f32(float x) { return x != x; }
static inline int is_inf_f32(float x) { return isinf(x) != 0; }
static inline float inf_f32(void) { return (float)INFINITY; }
static inline float nan_f32(void) { return (float)NAN; }
#ifdef DNN_VECTOR_MATH
#if defined(__AVX512F__)
typedef float table16 __attribute__((vector_size(64)));
typedef int32_t table16_index __attribute__((vector_size(64)));
#if defined(__clang__)
#define look_up(table, at) __builtin_ia32_permvarsf512(table, (table16_index)(at))
#define smaller(a, b) __builtin_ia32_minps512(a, b, 4)
#define larger(a, b) __builtin_ia32_maxps512(a, b, 4)
#else
#define look_up(table, at) __builtin_ia32_permvarsf512_mask(table, (table16_index)(at), table, -1)
#define smaller(a, b) __builtin_ia32_minps512_mask(a, b, a, -1, 4)
#define larger(a, b) __builtin_ia32_maxps512_mask(a, b, a, -1, 4)
#endif
static inline table16 all16(float x) { return x - (table16){0}; }
static inline table16 exp16(table16 x) {
  const table16 powers = {0x1p+0f, 0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f, 0x1.306fep+0f, 0x1.3dea64p+0f, 0x1.4bfdaep+0f, 0x1.5ab07ep+0f, 0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f, 0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f};
  const table16 c = larger(all16(-105.0f), smaller(all16(90.0f), x));
  const table16 t = c * 0x1.715476p+0f + 786432.0f, n = t - 786432.0f;
  const table16 r = (c - n * 0x1.62e43p-1f) + n * 0x1.05c61p-29f;
  const table16 p = r * r * (r * 0x1.55571cp-3f + 0x1.00022p-1f) + r, power = look_up(powers, t);
  return __builtin_ia32_scalefps512_mask(power * p + power, n, power, -1, 4);
}
static inline table16 silu16(table16 x) {
  const table16 powers = {0x1p+0f, 0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f, 0x1.306fep+0f, 0x1.3dea64p+0f, 0x1.4bfdaep+0f, 0x1.5ab07ep+0f, 0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f, 0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f};
  const table16 c = __builtin_ia32_rangeps512_mask(x, all16(105.0f), 2, x, -1, 4);
  const table16 t = c * -0x1.715476p+0f + 786432.0f, n = t - 786432.0f;
  const table16 r = c + n * 0x1.62e43p-1f;
  const table16 p = r * r * (0x1.00022p-1f - r * 0x1.55571cp-3f) - r, power = look_up(powers, t);
  return x / (1.0f + __builtin_ia32_scalefps512_mask(power * p + power, n, power, -1, 4));
}
static inline table16 erf16(table16 x) {
  const table16 c0 = {0.0f, 0x1.2bd9dap-2f, 0x1.1855a6p-1f, 0x1.7b0058p-1f, 0x1.bbef1p-1f, 0x1.e11a3ep-1f, 0x1.f39bc2p-1f, 0x1.fb9f6p-1f, 0x1.fea422p-1f, 0x1.ffa14ap-1f, 0x1.ffe96ap-1f, 0x1.fffb4ap-1f, 0x1.ffff24p-1f, 0x1.ffffdep-1f, 0x1.fffffcp-1f, 0x1p+0f};
  const table16 c1 = {0x1.06eba8p-3f, 0x1.a5f496p-5f, -0x1.315404p-3f, -0x1.9bafc2p-2f, -0x1.452b72p-1f, -0x1.9cfe34p-1f, -0x1.d27034p-1f, -0x1.edcae4p-1f, -0x1.f9ae76p-1f, -0x1.fe188cp-1f, -0x1.ff807p-1f, -0x1.ffe302p-1f, -0x1.fffa48p-1f, -0x1.ffff06p-1f, -0x1.ffffdap-1f, -0x1.fffffcp-1f};
  const table16 c2 = {0x1.4f6e84p-22f, -0x1.1e0036p-2f, -0x1.cee4p-2f, -0x1.e7f09p-2f, -0x1.8d04f6p-2f, -0x1.06fbdcp-2f, -0x1.22745ap-3f, -0x1.0ee0ep-4f, -0x1.adc06cp-6f, -0x1.23a0dep-7f, -0x1.51f964p-9f, -0x1.51d21cp-11f, -0x1.1da4f8p-13f, -0x1.46470cp-15f, -0x1.05b61p-16f, -0x1.1b7102p-17f};
  const table16 c3 = {-0x1.812bbap-2f, -0x1.344248p-2f, -0x1.fa156ep-4f, 0x1.b8cedp-5f, 0x1.3950d8p-3f, 0x1.4db4b2p-3f, 0x1.efbce4p-4f, 0x1.1f2d4p-4f, 0x1.0e9ce6p-5f, 0x1.a7bb1cp-7f, 0x1.16e6dap-8f, 0x1.35ac38p-10f, 0x1.29ab1cp-12f, 0x1.03c54ep-14f, 0x1.bb3b7cp-18f, 0x1.7bce32p-18f};
  const table16 c4 = {0x1.467a48p-12f, 0x1.0e1c2ep-3f, 0x1.75609ep-3f, 0x1.18e5e6p-3f, 0x1.8cac4ap-5f, -0x1.6ef3dap-6f, -0x1.90d4aep-5f, -0x1.5bf526p-5f, -0x1.ab25fcp-6f, -0x1.8a570cp-7f, -0x1.549316p-8f, -0x1.adfe88p-10f, -0x1.2c1852p-11f, 0x1.5122fp-11f, 0x1.4898eap-11f, 0x1.cd445ap-12f};
  const table16 c5 = {0x1.c6113ep-4f, 0x1.35ed92p-4f, -0x1.ec08f2p-11f, -0x1.e392d2p-5f, -0x1.0d3afap-4f, -0x1.2f892ep-5f, -0x1.57c9fp-8f, 0x1.651e84p-7f, 0x1.9cabf8p-7f, 0x1.06c76ep-7f, 0x1.ea21e2p-9f, 0x1.9be8ecp-10f, 0x1.562094p-12f, -0x1.4edeaep-14f, 0x1.34e7ccp-13f, -0x1.4439d8p-13f};
  const table16_index sign = (table16_index)all16(-0.0f);
  const table16 size = smaller(all16(4.1f), (table16)((table16_index)x & ~sign));
  const table16 t = size * (64.0f / 17.0f) + 12582912.0f, d = size - (t - 12582912.0f) * (17.0f / 64.0f);
  table16 y = look_up(c5, t) * d + look_up(c4, t);
  y = y * d + look_up(c3, t);
  y = y * d + look_up(c2, t);
  y = y * d + look_up(c1, t);
  y = y * d + (look_up(c0, t) + d);
  return (table16)(((table16_index)y & ~sign) | ((table16_index)x & sign));
}
#endif
#ifdef DNN_FAST_MATH
#define exp_terms(r) ((0x1.576c1ap-5f * (r * r) + (0x1.571f86p-3f * r + 0x1.fffd3ep-2f)))
#define erf_small_terms(s) (((-0x1.3e2338p-6f * s + 0x1.bed902p-4f) * (s * s) + (-0x1.808496p-2f * s + 0x1.06e32cp-3f)))
#define erf_large_terms(t) (((-0x1.f0b898p-6f * t + -0x1.82b450p-1f) * (t * t) + (-0x1.09992ap+0f * t + -0x1.b20742p-6f)))
#define tanh_small_terms(s) ((-0x1.6182c2p-5f * (s * s) + (0x1.0d6814p-3f * s + -0x1.553ec6p-2f)))
#else
#define exp_terms(r) (((0x1.a1a42ep-13f * r + 0x1.6d97ecp-10f) * ((r * r) * (r * r)) + ((0x1.11108cp-7f * r + 0x1.55547ep-5f) * (r * r) + (0x1.555556p-3f * r + 0x1.0p-1f))))
#define erf_small_terms(s) (((0x1.5e05e2p-14f * (s * s) + (-0x1.aaa2bep-11f * s + 0x1.54d428p-8f)) * ((s * s) * (s * s)) + ((-0x1.b80ff2p-6f * s + 0x1.ce2e1cp-4f) * (s * s) + (-0x1.812744p-2f * s + 0x1.06eba8p-3f))))
#define erf_large_terms(t) (((0x1.30de92p-20f * t + -0x1.325fcap-16f) * (((t * t) * (t * t)) * ((t * t) * (t * t))) + (((0x1.bd560ap-14f * t + -0x1.27a732p-14f) * (t * t) + (-0x1.7ddbb6p-9f * t + 0x1.7a1e0ap-6f)) * ((t * t) * (t * t)) + ((-0x1.b2ab84p-4f * t + -0x1.45027ep-1f) * (t * t) + (-0x1.21040ap+0f * t + 0x1.60443ap-14f)))))
#define tanh_small_terms(s) ((-0x1.96ce2ep-8f * ((s * s) * (s * s)) + ((0x1.58824ep-6f * s + -0x1.b91368p-5f) * (s * s) + (0x1.110cb0p-3f * s + -0x1.55554ap-2f))))
#endif
#endif
typedef float f32x4 __attribute__((vector_size(16)));
typedef float f32x4_in_memory __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t f32x4_mask __attribute__((vector_size(16)));
static inline f32x4 splat_f32x4(float x) { return x - (f32x4){0}; }
static inline f32x4 select_f32x4(f32x4_mask m, f32x4 a, f32x4 b) { return (f32x4)((m & (f32x4_mask)a) | (~m & (f32x4_mask)b)); }
static inline f32x4 abs_f32x4(f32x4 x) { return (f32x4)((f32x4_mask)x & ~(f32x4_mask)splat_f32x4(-0.0f)); }
static inline f32x4_mask is_nan_f32x4(f32x4 x) { return x != x; }
#ifndef DNN_VECTOR_MATH
static inline f32x4 exp_f32x4(f32x4 x) { for (int i = 0; i < 4; ++i) x[i] = exp_f32(x[i]); return x; }
#endif
static inline f32x4 log_f32x4(f32x4 x) { for (int i = 0; i < 4; ++i) x[i] = log_f32(x[i]); return x; }
static inline f32x4 sqrt_f32x4(f32x4 x) { for (int i = 0; i < 4; ++i) x[i] = sqrt_f32(x[i]); return x; }
static inline f32x4 sin_f32x4(f32x4 x) { for (int i = 0; i < 4; ++i) x[i] = sin_f32(x[i]); return x; }
static inline f32x4 cos_f32x4(f32x4 x) { for (int i = 0; i < 4; ++i) x[i] = cos_f32(x[i]); return x; }
static inline f32x4 tan_f32x4(f32x4 x) { for (int i = 0; i < 4; ++i) x[i] = tan_f32(x[i]); return x; }
static inline f32x4 asin_f32x4(f32x4 x) { for (int i = 0; i < 4; ++i) x[i] = asin_f32(x[i]); return x; }
static inline f32x4 acos_f32x4(f32x4 x) { for (int i = 0; i < 4; ++i) x[i] = acos_f32(x[i]); return x; }
static inline f32x4 atan_f32x4(f32x4 x) { for (int i = 0; i < 4; ++i) x[i] = atan_f32(x[i]); return x; }
static inline f32x4 sinh_f32x4(f32x4 x) { for (int i = 0; i < 4; ++i) x[i] = sinh_f32(x[i]); return x; }
static inline f32x4 cosh_f32x4(f32x4 x) { for (int i = 0; i < 4; ++i) x[i] = cosh_f32(x[i]); return x; }
#ifndef DNN_VECTOR_MATH
static inline f32x4 tanh_f32x4(f32x4 x) { for (int i = 0; i < 4; ++i) x[i] = tanh_f32(x[i]); return x; }
#endif
static inline f32x4 asinh_f32x4(f32x4 x) { for (int i = 0; i < 4; ++i) x[i] = asinh_f32(x[i]); return x; }
static inline f32x4 acosh_f32x4(f32x4 x) { for (int i = 0; i < 4; ++i) x[i] = acosh_f32(x[i]); return x; }
static inline f32x4 atanh_f32x4(f32x4 x) { for (int i = 0; i < 4; ++i) x[i] = atanh_f32(x[i]); return x; }
#ifndef DNN_VECTOR_MATH
static inline f32x4 erf_f32x4(f32x4 x) { for (int i = 0; i < 4; ++i) x[i] = erf_f32(x[i]); return x; }
#endif
static inline f32x4 floor_f32x4(f32x4 x) { for (int i = 0; i < 4; ++i) x[i] = floor_f32(x[i]); return x; }
static inline f32x4 ceil_f32x4(f32x4 x) { for (int i = 0; i < 4; ++i) x[i] = ceil_f32(x[i]); return x; }
#ifndef DNN_VECTOR_MATH
static inline f32x4 silu_f32x4(f32x4 x) { for (int i = 0; i < 4; ++i) x[i] = silu_f32(x[i]); return x; }
#endif
static inline f32x4 round_even_f32x4(f32x4 x) { for (int i = 0; i < 4; ++i) x[i] = round_even_f32(x[i]); return x; }
static inline f32x4 pow_f32x4(f32x4 x, f32x4 y) { for (int i = 0; i < 4; ++i) x[i] = pow_f32(x[i], y[i]); return x; }
static inline f32x4 trunc_mod_f32x4(f32x4 x, f32x4 y) { for (int i = 0; i < 4; ++i) x[i] = trunc_mod_f32(x[i], y[i]); return x; }
static inline f32x4 max_f32x4(f32x4 a, f32x4 b) { return select_f32x4(a > b, a, b); }
static inline f32x4 min_f32x4(f32x4 a, f32x4 b) { return select_f32x4(a < b, a, b); }
#ifdef DNN_VECTOR_MATH
static inline f32x4 with_sign_of_f32x4(f32x4 size, f32x4 x) { const f32x4_mask sign = (f32x4_mask)splat_f32x4(-0.0f); return (f32x4)(((f32x4_mask)size & ~sign) | ((f32x4_mask)x & sign)); }
#if defined(__AVX512F__)
static inline f32x4 exp_f32x4(f32x4 x) { const table16 y = exp16(__builtin_shufflevector(x, x, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3)); return __builtin_shufflevector(y, y, 0, 1, 2, 3); }
static inline f32x4 erf_f32x4(f32x4 x) { const table16 y = erf16(__builtin_shufflevector(x, x, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3)); return __builtin_shufflevector(y, y, 0, 1, 2, 3); }
static inline f32x4 silu_f32x4(f32x4 x) { const table16 y = silu16(__builtin_shufflevector(x, x, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3)); return __builtin_shufflevector(y, y, 0, 1, 2, 3); }
#else
static inline f32x4 exp_f32x4(f32x4 x) {
  const f32x4 c = max_f32x4(splat_f32x4(-87.0f), min_f32x4(splat_f32x4(89.0f), x));
  const f32x4 t = c * 0x1.715476p+0f + 12582912.0f, n = t - 12582912.0f;
  const f32x4 r = (c - n * 0.693359375f) + n * 0x1.bd0106p-13f;
  const f32x4 p = exp_terms(r);
  const f32x4 power = (f32x4)(((f32x4_mask)t - (0x4b400000 - 126)) << 23);
  return (p * r * r + r + 1.0f) * power * 2.0f;
}
static inline f32x4 erf_f32x4(f32x4 x) {
  const f32x4 s = x * x, t = min_f32x4(splat_f32x4(4.0f), abs_f32x4(x));
  const f32x4 small = x + x * erf_small_terms(s);
  const f32x4 large = 1.0f - exp_f32x4(erf_large_terms(t));
  return select_f32x4(t < 0.93f, small, with_sign_of_f32x4(large, x));
}
static inline f32x4 silu_f32x4(f32x4 x) { return x / (1.0f + exp_f32x4(-x)); }
#endif
static inline f32x4 tanh_f32x4(f32x4 x) {
  const f32x4 s = x * x, t = abs_f32x4(x);
  const f32x4 small = x + x * s * tanh_small_terms(s);
  const f32x4 large = 1.0f - 2.0f / (exp_f32x4(t + t) + 1.0f);
  return select_f32x4(t < 0.55f, small, with_sign_of_f32x4(large, x));
}
#endif
#ifdef DNN_VECTOR_MATH
static inline float exp_f32(float x) { return exp_f32x4(splat_f32x4(x))[0]; }
static inline float erf_f32(float x) { return erf_f32x4(splat_f32x4(x))[0]; }
static inline float tanh_f32(float x) { return tanh_f32x4(splat_f32x4(x))[0]; }
static inline float silu_f32(float x) { return silu_f32x4(splat_f32x4(x))[0]; }
#endif

