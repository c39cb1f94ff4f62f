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

constexpr int kArchitectures[] = {80, 90};

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
using std::isinf;
#line 1 "kernels.cu"
)";

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
  std::string contract = "off";
  bool exact = false;
  for (int i = 0; i < n_options; ++i) {
    if (std::strcmp(options[i], "--fmad=true") == 0) contract = "fast";
    if (std::strncmp(options[i], "--gpu-architecture=sm_", 22) == 0) exact = true;
  }
  std::ofstream(base + "/kernels.cc") << kPrelude << p.source << "\n" << calls(p.source);
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
