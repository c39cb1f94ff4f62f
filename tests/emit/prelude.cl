#ifdef DNN_CONTRACT
#pragma OPENCL FP_CONTRACT ON
#else
#pragma OPENCL FP_CONTRACT OFF
#endif
inline long floor_div(long a, long b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
inline long floor_mod(long a, long b) { return a - floor_div(a, b) * b; }
inline float max_f32(float a, float b) { return a > b ? a : b; }
inline float min_f32(float a, float b) { return a < b ? a : b; }
#define inf_f32() ((float)INFINITY)
#define nan_f32() ((float)NAN)
#define exp_f32 exp
#define log_f32 log
#define sqrt_f32 sqrt
#define sin_f32 sin
#define cos_f32 cos
#define tan_f32 tan
#define asin_f32 asin
#define acos_f32 acos
#define atan_f32 atan
#define sinh_f32 sinh
#define cosh_f32 cosh
#define tanh_f32 tanh
#define asinh_f32 asinh
#define acosh_f32 acosh
#define atanh_f32 atanh
#define erf_f32 erf
#define floor_f32 floor
#define ceil_f32 ceil
#define pow_f32 pow
inline float silu_f32(float x) { return x / (1 + exp(-x)); }
#define abs_f32 fabs
#define round_even_f32 rint
#define trunc_mod_f32 fmod
#define is_nan_f32 isnan
#define is_inf_f32 isinf

