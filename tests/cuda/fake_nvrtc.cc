// A stand-in for NVRTC: CUDA C++ text, with what it needs of CUDA's words, made a shared object by the system's C++ compiler. Its "machine
// code" is that object's path; fake_driver.cc loads it.
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kArchitectures[] = {70, 80, 90};

// Threads of a block take turns on one thread of the host: fake_driver.cc says whose turn it is.
constexpr const char* kPrelude = R"(#include <cmath>
#include <cstring>
#include <utility>
extern "C" {
struct { unsigned x, y, z; } threadIdx, blockIdx, blockDim, gridDim;
void (*dnn_fake_barrier)();
}
#define __global__
#define __device__ static
#define __forceinline__ inline
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(n)
#define __syncthreads() dnn_fake_barrier()
static inline float __int_as_float(int bits) { float f; std::memcpy(&f, &bits, sizeof f); return f; }
static inline float __uint_as_float(unsigned bits) { return __int_as_float(static_cast<int>(bits)); }
static inline unsigned __float_as_uint(float f) { unsigned bits; std::memcpy(&bits, &f, sizeof bits); return bits; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __dadd_rn(double a, double b) { return a + b; }
using std::isinf;

// cvt.rna.tf32.f32: to the nearest, from half on away from zero.
static inline void dnn_fake_tf32(unsigned& y, float x) {
  const unsigned bits = __float_as_uint(x);
  y = std::isnan(x) ? 0x7fffe000u : std::isinf(x) ? bits : (bits + 0x1000u) & 0xffffe000u;
}

// mma.m16n8k8 of TF32, whose low bits must be clear, by the 32 threads of a warp together, exactly and then cut off.
static void dnn_fake_mma(float& d0, float& d1, float& d2, float& d3, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
  static unsigned turns[1024];
  static struct { float a[16][8], b[8][8]; } operands[2][32];
  const unsigned thread = threadIdx.x, lane = thread % 32, group = lane / 4, in_group = lane % 4;
  auto& [a, b] = operands[turns[thread]++ % 2][thread / 32];
  const auto value = [](unsigned bits) { return __uint_as_float((bits & 0x1fffu) == 0 ? bits : 0x7fc00000u); };
  a[group][in_group] = value(a0);
  a[group + 8][in_group] = value(a1);
  a[group][in_group + 4] = value(a2);
  a[group + 8][in_group + 4] = value(a3);
  b[in_group][group] = value(b0);
  b[in_group + 4][group] = value(b1);
  dnn_fake_barrier();
  float* const d[] = {&d0, &d1, &d2, &d3};
  for (unsigned i = 0; i < 4; ++i) {
    double sum = *d[i];
    for (unsigned k = 0; k < 8; ++k)
      sum += static_cast<double>(a[group + i / 2 * 8][k]) * b[k][in_group * 2 + i % 2];
    float cut = static_cast<float>(sum);
    if (std::fabs(static_cast<double>(cut)) > std::fabs(sum)) cut = std::nextafter(cut, 0.0f);
    *d[i] = cut;
  }
}
#line 1 "kernels.cu"
)";

// The two instructions that kernels name themselves, as calls of what stands in for them: outputs, then inputs.
std::string without_instructions(const std::string& source) {
  static const std::regex instruction("asm(?: volatile)?\\(\"([^\"]*)\"([^;]*)\\);"),
      operand("\"[+=]?[fr]\"\\((\\w+)\\)");
  constexpr const char* kCast = "cvt.rna.tf32.f32 %0, %1;";
  constexpr const char* kProduct =
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};";
  std::string text;
  auto end = source.begin();
  for (std::sregex_iterator at(source.begin(), source.end(), instruction), last; at != last; ++at) {
    const std::string name = (*at)[1], operands = (*at)[2];
    text.append(end, (*at)[0].first);
    text += name == kCast ? "dnn_fake_tf32(" : name == kProduct ? "dnn_fake_mma(" : "unknown_instruction(";
    bool first = true;
    for (std::sregex_iterator o(operands.begin(), operands.end(), operand); o != last; ++o, first = false)
      text += (first ? "" : ", ") + (*o)[1].str();
    text += ");";
    end = (*at)[0].second;
  }
  return text.append(end, source.end());
}

struct Program {
  std::string source, log, code, ptx;
};

// How the driver calls each kernel, and how many arguments it has.
std::string calls(const std::string& source) {
  static const std::regex kernel(R"(extern "C" __global__ void (?:__launch_bounds__\(\d+\) )?(\w+)\()");
  std::string text = R"(
template <class... A, std::size_t... i>
static void dnn_fake_call(void (*kernel)(A...), void** a, std::index_sequence<i...>) { kernel(static_cast<A>(a[i])...); }
template <class... A>
static void dnn_fake_call(void (*kernel)(A...), void** a) { dnn_fake_call(kernel, a, std::index_sequence_for<A...>()); }
template <class... A>
static constexpr int dnn_fake_count(void (*)(A...)) { return sizeof...(A); }
)";
  for (std::sregex_iterator at(source.begin(), source.end(), kernel), end; at != end; ++at) {
    const std::string name = (*at)[1];
    text += "extern \"C\" const int dnn_fake_arguments_" + name + " = dnn_fake_count(" + name + ");\n";
    text += "extern \"C\" void dnn_fake_call_" + name + "(void** a) { dnn_fake_call(" + name + ", a); }\n";
  }
  return text;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): names are NVIDIA's
extern "C" {

int nvrtcVersion(int* major, int* minor) {
  *major = 0;
  *minor = 1;
  return 0;
}

int nvrtcGetNumSupportedArchs(int* n) {
  *n = std::size(kArchitectures);
  return 0;
}

int nvrtcGetSupportedArchs(int* all) {
  for (const int architecture : kArchitectures) *all++ = architecture;
  return 0;
}

int nvrtcCreateProgram(void** program, const char* source, const char*, int, const char* const*, const char* const*) {
  *program = new Program{source, {}, {}, {}};
  return 0;
}

int nvrtcCompileProgram(void* program, int n_options, const char* const* options) {
  Program& p = *static_cast<Program*>(program);
  const char* folder = getenv("DNN_FAKE_CUDA_FOLDER");
  if (folder == nullptr) return 1;
  std::string base = std::string(folder) + "/kernels-XXXXXX";
  if (mkdtemp(base.data()) == nullptr) return 1;
  std::string contract = "off", architecture;
  bool exact = false;
  for (int i = 0; i < n_options; ++i) {
    if (std::strcmp(options[i], "--fmad=true") == 0) contract = "fast";
    if (std::strncmp(options[i], "--gpu-architecture=", 19) != 0) continue;
    exact = std::strncmp(options[i] + 19, "sm_", 3) == 0;
    architecture = std::strchr(options[i], '_') + 1;
  }
  std::ofstream(base + "/kernels.cc") << "#define __CUDA_ARCH__ " << architecture << "0\n"
                                      << kPrelude << without_instructions(p.source) << "\n"
                                      << calls(p.source);
  const std::string command =
      "c++ -std=c++17 -O1 -w -fPIC -shared -march=native -fno-math-errno -ffp-contract=" + contract + " -o " + base +
      "/kernels.so " + base + "/kernels.cc 2> " + base + "/log";
  const int status = std::system(command.c_str());
  std::stringstream log;
  log << std::ifstream(base + "/log").rdbuf();
  p.log = log.str();
  if (status != 0) return 6;  // NVRTC_ERROR_COMPILATION
  (exact ? p.code : p.ptx) = base + "/kernels.so";
  return 0;
}

int nvrtcGetProgramLogSize(void* program, size_t* n) {
  *n = static_cast<Program*>(program)->log.size() + 1;
  return 0;
}

int nvrtcGetProgramLog(void* program, char* text) {
  const std::string& log = static_cast<Program*>(program)->log;
  std::memcpy(text, log.c_str(), log.size() + 1);
  return 0;
}

int nvrtcGetCUBINSize(void* program, size_t* n) {
  const std::string& code = static_cast<Program*>(program)->code;
  *n = code.empty() ? 0 : code.size() + 1;
  return 0;
}

int nvrtcGetCUBIN(void* program, char* text) {
  const std::string& code = static_cast<Program*>(program)->code;
  std::memcpy(text, code.c_str(), code.size() + 1);
  return 0;
}

int nvrtcGetPTXSize(void* program, size_t* n) {
  *n = static_cast<Program*>(program)->ptx.size() + 1;
  return 0;
}

int nvrtcGetPTX(void* program, char* text) {
  const std::string& ptx = static_cast<Program*>(program)->ptx;
  std::memcpy(text, ptx.c_str(), ptx.size() + 1);
  return 0;
}

int nvrtcDestroyProgram(void** program) {
  delete static_cast<Program*>(*program);
  *program = nullptr;
  return 0;
}
}
// NOLINTEND(readability-identifier-naming)
