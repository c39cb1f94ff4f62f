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
static inline f32x4 round_even_f32x4(f32x4 x) { for (int i = 0; i < 4; ++i) x[i] = round_even_f32(x[i]); return x; }
static inline f32x4 pow_f32x4(f32x4 x, f32x4 y) { for (int i = 0; i < 4; ++i) x[i] = pow_f32(x[i], y[i]); return x; }
static inline f32x4 trunc_mod_f32x4(f32x4 x, f32x4 y) { for (int i = 0; i < 4; ++i) x[i] = trunc_mod_f32(x[i], y[i]); return x; }
static inline f32x4 max_f32x4(f32x4 a, f32x4 b) { return select_f32x4(a > b, a, b); }
static inline f32x4 min_f32x4(f32x4 a, f32x4 b) { return select_f32x4(a < b, a, b); }
#ifdef DNN_VECTOR_MATH
static inline f32x4 exp_f32x4(f32x4 x) {
  const f32x4 c = max_f32x4(splat_f32x4(-87.0f), min_f32x4(splat_f32x4(89.0f), x));
  const f32x4 t = c * 0x1.715476p+0f + 12582912.0f, n = t - 12582912.0f;
  const f32x4 r = (c - n * 0.693359375f) + n * 0x1.bd0106p-13f;
  const f32x4 p = exp_terms(r);
  const f32x4 power = (f32x4)(((f32x4_mask)t - (0x4b400000 - 126)) << 23);
  return (p * r * r + r + 1.0f) * power * 2.0f;
}
static inline f32x4 with_sign_of_f32x4(f32x4 size, f32x4 x) { const f32x4_mask sign = (f32x4_mask)splat_f32x4(-0.0f); return (f32x4)(((f32x4_mask)size & ~sign) | ((f32x4_mask)x & sign)); }
static inline f32x4 erf_f32x4(f32x4 x) {
  const f32x4 s = x * x, t = min_f32x4(splat_f32x4(4.0f), abs_f32x4(x));
  const f32x4 small = x + x * erf_small_terms(s);
  const f32x4 large = 1.0f - exp_f32x4(erf_large_terms(t));
  return select_f32x4(t < 0.93f, small, with_sign_of_f32x4(large, x));
}
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
#endif

