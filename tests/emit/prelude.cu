__device__ __forceinline__ long long floor_div(long long a, long long b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
__device__ __forceinline__ long long floor_mod(long long a, long long b) { return a - floor_div(a, b) * b; }
__device__ __forceinline__ signed char max_i8(signed char a, signed char b) { return a > b ? a : b; }
__device__ __forceinline__ signed char min_i8(signed char a, signed char b) { return a < b ? a : b; }
__device__ __forceinline__ signed char abs_i8(signed char x) { return x < 0 ? -x : x; }
__device__ __forceinline__ signed char trunc_mod_i8(signed char x, signed char y) { return x % y; }
__device__ __forceinline__ short max_i16(short a, short b) { return a > b ? a : b; }
__device__ __forceinline__ short min_i16(short a, short b) { return a < b ? a : b; }
__device__ __forceinline__ short abs_i16(short x) { return x < 0 ? -x : x; }
__device__ __forceinline__ short trunc_mod_i16(short x, short y) { return x % y; }
__device__ __forceinline__ int max_i32(int a, int b) { return a > b ? a : b; }
__device__ __forceinline__ int min_i32(int a, int b) { return a < b ? a : b; }
__device__ __forceinline__ int abs_i32(int x) { return x < 0 ? -x : x; }
__device__ __forceinline__ int trunc_mod_i32(int x, int y) { return x % y; }
__device__ __forceinline__ long long max_i64(long long a, long long b) { return a > b ? a : b; }
__device__ __forceinline__ long long min_i64(long long a, long long b) { return a < b ? a : b; }
__device__ __forceinline__ long long abs_i64(long long x) { return x < 0 ? -x : x; }
__device__ __forceinline__ long long trunc_mod_i64(long long x, long long y) { return x % y; }
__device__ __forceinline__ unsigned char max_u8(unsigned char a, unsigned char b) { return a > b ? a : b; }
__device__ __forceinline__ unsigned char min_u8(unsigned char a, unsigned char b) { return a < b ? a : b; }
__device__ __forceinline__ unsigned char abs_u8(unsigned char x) { return x; }
__device__ __forceinline__ unsigned char trunc_mod_u8(unsigned char x, unsigned char y) { return x % y; }
__device__ __forceinline__ unsigned short max_u16(unsigned short a, unsigned short b) { return a > b ? a : b; }
__device__ __forceinline__ unsigned short min_u16(unsigned short a, unsigned short b) { return a < b ? a : b; }
__device__ __forceinline__ unsigned short abs_u16(unsigned short x) { return x; }
__device__ __forceinline__ unsigned short trunc_mod_u16(unsigned short x, unsigned short y) { return x % y; }
__device__ __forceinline__ unsigned int max_u32(unsigned int a, unsigned int b) { return a > b ? a : b; }
__device__ __forceinline__ unsigned int min_u32(unsigned int a, unsigned int b) { return a < b ? a : b; }
__device__ __forceinline__ unsigned int abs_u32(unsigned int x) { return x; }
__device__ __forceinline__ unsigned int trunc_mod_u32(unsigned int x, unsigned int y) { return x % y; }
__device__ __forceinline__ unsigned long long max_u64(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
__device__ __forceinline__ unsigned long long min_u64(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
__device__ __forceinline__ unsigned long long abs_u64(unsigned long long x) { return x; }
__device__ __forceinline__ unsigned long long trunc_mod_u64(unsigned long long x, unsigned long long y) { return x % y; }
__device__ __forceinline__ float exp_f32(float x) { return expf(x); }
__device__ __forceinline__ float log_f32(float x) { return logf(x); }
__device__ __forceinline__ float sqrt_f32(float x) { return sqrtf(x); }
__device__ __forceinline__ float sin_f32(float x) { return sinf(x); }
__device__ __forceinline__ float cos_f32(float x) { return cosf(x); }
__device__ __forceinline__ float tan_f32(float x) { return tanf(x); }
__device__ __forceinline__ float asin_f32(float x) { return asinf(x); }
__device__ __forceinline__ float acos_f32(float x) { return acosf(x); }
__device__ __forceinline__ float atan_f32(float x) { return atanf(x); }
__device__ __forceinline__ float sinh_f32(float x) { return sinhf(x); }
__device__ __forceinline__ float cosh_f32(float x) { return coshf(x); }
__device__ __forceinline__ float tanh_f32(float x) { return tanhf(x); }
__device__ __forceinline__ float asinh_f32(float x) { return asinhf(x); }
__device__ __forceinline__ float acosh_f32(float x) { return acoshf(x); }
__device__ __forceinline__ float atanh_f32(float x) { return atanhf(x); }
__device__ __forceinline__ float erf_f32(float x) { return erff(x); }
__device__ __forceinline__ float floor_f32(float x) { return floorf(x); }
__device__ __forceinline__ float ceil_f32(float x) { return ceilf(x); }
__device__ __forceinline__ float silu_f32(float x) { return x / (1 + exp_f32(-x)); }
__device__ __forceinline__ float abs_f32(float x) { return fabsf(x); }
__device__ __forceinline__ float round_even_f32(float x) { return rintf(x); }
__device__ __forceinline__ float pow_f32(float x, float y) { return powf(x, y); }
__device__ __forceinline__ float trunc_mod_f32(float x, float y) { return fmodf(x, y); }
__device__ __forceinline__ float max_f32(float a, float b) { return a > b ? a : b; }
__device__ __forceinline__ float min_f32(float a, float b) { return a < b ? a : b; }
__device__ __forceinline__ bool is_nan_f32(float x) { return x != x; }
__device__ __forceinline__ bool is_inf_f32(float x) { return isinf(x); }
__device__ __forceinline__ float inf_f32() { return __int_as_float(0x7f800000); }
__device__ __forceinline__ float nan_f32() { return __int_as_float(0x7fffffff); }
__device__ __forceinline__ double exp_f64(double x) { return exp(x); }
__device__ __forceinline__ double log_f64(double x) { return log(x); }
__device__ __forceinline__ double sqrt_f64(double x) { return sqrt(x); }
__device__ __forceinline__ double sin_f64(double x) { return sin(x); }
__device__ __forceinline__ double cos_f64(double x) { return cos(x); }
__device__ __forceinline__ double tan_f64(double x) { return tan(x); }
__device__ __forceinline__ double asin_f64(double x) { return asin(x); }
__device__ __forceinline__ double acos_f64(double x) { return acos(x); }
__device__ __forceinline__ double atan_f64(double x) { return atan(x); }
__device__ __forceinline__ double sinh_f64(double x) { return sinh(x); }
__device__ __forceinline__ double cosh_f64(double x) { return cosh(x); }
__device__ __forceinline__ double tanh_f64(double x) { return tanh(x); }
__device__ __forceinline__ double asinh_f64(double x) { return asinh(x); }
__device__ __forceinline__ double acosh_f64(double x) { return acosh(x); }
__device__ __forceinline__ double atanh_f64(double x) { return atanh(x); }
__device__ __forceinline__ double erf_f64(double x) { return erf(x); }
__device__ __forceinline__ double floor_f64(double x) { return floor(x); }
__device__ __forceinline__ double ceil_f64(double x) { return ceil(x); }
__device__ __forceinline__ double silu_f64(double x) { return x / (1 + exp_f64(-x)); }
__device__ __forceinline__ double abs_f64(double x) { return fabs(x); }
__device__ __forceinline__ double round_even_f64(double x) { return rint(x); }
__device__ __forceinline__ double pow_f64(double x, double y) { return pow(x, y); }
__device__ __forceinline__ double trunc_mod_f64(double x, double y) { return fmod(x, y); }
__device__ __forceinline__ double max_f64(double a, double b) { return a > b ? a : b; }
__device__ __forceinline__ double min_f64(double a, double b) { return a < b ? a : b; }
__device__ __forceinline__ bool is_nan_f64(double x) { return x != x; }
__device__ __forceinline__ bool is_inf_f64(double x) { return isinf(x); }
__device__ __forceinline__ double inf_f64() { return __int_as_float(0x7f800000); }
__device__ __forceinline__ double nan_f64() { return __int_as_float(0x7fffffff); }

