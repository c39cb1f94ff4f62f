// The CUDA C++ vocabulary: a task is a thread, or a block of threads with loops of their own; scalars only, as schedules for GPUs make no
// vector loops.
#include "base/text.h"
#include "codegen/print.h"
#include "codegen/reduced_floats.h"
#include "codegen/stated_text.h"
#include "package/package.h"

namespace dnn::codegen {
namespace {

std::string cuda_type(DType dtype) {
  switch (dtype) {
    case DType::Float32: return "float";
    case DType::Float64: return "double";
    case DType::Int8: return "signed char";
    case DType::Int16: return "short";
    case DType::Int32: return "int";
    case DType::Int64: return "long long";
    case DType::UInt8:
    case DType::Bool: return "unsigned char";
    case DType::UInt16: return "unsigned short";
    case DType::UInt32: return "unsigned int";
    case DType::UInt64: return "unsigned long long";
    default: fail_internal("CUDA C++ has no type for ", dtype_name(dtype));
  }
}

std::string cuda_float_helpers(const std::string& t, const std::string& c, const std::string& f) {
  std::string text;
  auto add = [&](const std::string& line) { text += "__device__ __forceinline__ " + line + "\n"; };
  for (const char* name : kMathFunctions) add(cat(c, " ", name, "_", t, "(", c, " x) { return ", name, f, "(x); }"));
  add(cat(c, " silu_", t, "(", c, " x) { return x / (1 + exp_", t, "(-x)); }"));
  add(cat(c, " abs_", t, "(", c, " x) { return fabs", f, "(x); }"));
  add(cat(c, " round_even_", t, "(", c, " x) { return rint", f, "(x); }"));
  add(cat(c, " pow_", t, "(", c, " x, ", c, " y) { return pow", f, "(x, y); }"));
  add(cat(c, " trunc_mod_", t, "(", c, " x, ", c, " y) { return fmod", f, "(x, y); }"));
  add(cat(c, " max_", t, "(", c, " a, ", c, " b) { return a > b ? a : b; }"));
  add(cat(c, " min_", t, "(", c, " a, ", c, " b) { return a < b ? a : b; }"));
  add(cat("bool is_nan_", t, "(", c, " x) { return x != x; }"));
  add(cat("bool is_inf_", t, "(", c, " x) { return isinf(x); }"));
  add(cat(c, " inf_", t, "() { return __int_as_float(0x7f800000); }"));
  add(cat(c, " nan_", t, "() { return __int_as_float(0x7fffffff); }"));
  return text;
}

constexpr const char *kMultiply = "add_products_16x8x8", *kMultiplyExactly = "add_exact_products_16x8x8";

// TF32 keeps 11 bits of float32's 24. What that leaves of an operand, again as TF32, times the other operand goes to the sum first, so that 21
// or 22 bits of each product count; the two remainders' own product is left out (Ootomo and Yokota, "Recovering single precision
// accuracy from Tensor Cores", 2022, who also take sums out of the tensor cores, as these cut off what they add up where float32 rounds it).
// Floats of 16 bits and integers of a byte are TF32 numbers as they are; eight products of such integers add up exactly.
std::string exact_products(const char* type, const char* open, const char* close, const char* back) {
  std::vector<std::string> sums, factors, bits, lines;
  for (int i = 0; i < 4; ++i) sums.push_back(cat(type, "& c", i));
  for (const char* name : {"l0", "l1", "l2", "l3", "r0", "r1"}) {
    factors.push_back(cat(type, " ", name));
    bits.push_back(cat(open, name, close));
  }
  for (int i = 0; i < 4; ++i) lines.push_back(cat("  c", i, " += ", back, "d", i, ";\n"));
  return cat("__device__ __forceinline__ void ", kMultiplyExactly, "(", join(sums), ", ", join(factors),
             ") {\n  float d0 = 0, d1 = 0, d2 = 0, d3 = 0;\n  mma_tf32(d0, d1, d2, d3, ", join(bits), ");\n",
             join(lines, ""), "}\n");
}

std::string matrix_helpers() {
  return cat(
      R"(#if __CUDA_ARCH__ >= 800
__device__ __forceinline__ unsigned tf32(float x) { unsigned y; asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x)); return y; }
__device__ __forceinline__ unsigned tf32_rest(float x, unsigned y) { return (__float_as_uint(x - __uint_as_float(y)) + 0x1000u) & 0xffffe000u; }
__device__ __forceinline__ void mma_tf32(float& d0, float& d1, float& d2, float& d3, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void )",
      kMultiply,
      R"((float& c0, float& c1, float& c2, float& c3, float l0, float l1, float l2, float l3, float r0, float r1) {
  const unsigned a0 = tf32(l0), a1 = tf32(l1), a2 = tf32(l2), a3 = tf32(l3), b0 = tf32(r0), b1 = tf32(r1);
  float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
  mma_tf32(d0, d1, d2, d3, tf32_rest(l0, a0), tf32_rest(l1, a1), tf32_rest(l2, a2), tf32_rest(l3, a3), b0, b1);
  mma_tf32(d0, d1, d2, d3, a0, a1, a2, a3, tf32_rest(r0, b0), tf32_rest(r1, b1));
  mma_tf32(d0, d1, d2, d3, a0, a1, a2, a3, b0, b1);
  c0 += d0;
  c1 += d1;
  c2 += d2;
  c3 += d3;
}
)",
      exact_products("float", "__float_as_uint(", ")", ""),
      exact_products("int", "__float_as_uint((float)", ")", "(int)"), "#endif\n");
}

class CudaVocabulary : public Vocabulary {
 public:
  std::string prelude(const std::string& kernels) const override {
    std::string text =
        "__device__ __forceinline__ long long floor_div(long long a, long long b) { return a / b - (a % b != 0 && (a < "
        "0) != (b < 0)); }\n"
        "__device__ __forceinline__ long long floor_mod(long long a, long long b) { return a - floor_div(a, b) * b; "
        "}\n";
    for (DType dtype : {DType::Int8, DType::Int16, DType::Int32, DType::Int64, DType::UInt8, DType::UInt16,
                        DType::UInt32, DType::UInt64}) {
      const std::string t = type_suffix(dtype, 1), c = cuda_type(dtype);
      const bool is_signed = dtype_class(dtype) == DTypeClass::Signed;
      text += cat("__device__ __forceinline__ ", c, " max_", t, "(", c, " a, ", c, " b) { return a > b ? a : b; }\n",
                  "__device__ __forceinline__ ", c, " min_", t, "(", c, " a, ", c, " b) { return a < b ? a : b; }\n",
                  "__device__ __forceinline__ ", c, " abs_", t, "(", c,
                  is_signed ? " x) { return x < 0 ? -x : x; }\n" : " x) { return x; }\n", "__device__ __forceinline__ ",
                  c, " trunc_mod_", t, "(", c, " x, ", c, " y) { return x % y; }\n");
    }
    text += cuda_float_helpers("f32", "float", "f") + cuda_float_helpers("f64", "double", "");
    if (calls_stated_functions(kernels)) {
      for (const auto& [type, suffix] : {std::pair("float", "f32"), std::pair("double", "f64")})
        text += stated_functions_text({.head = "__device__ __forceinline__",
                                       .type = type,
                                       .suffix = suffix,
                                       .body = "",
                                       .splat = "",
                                       .calls = true},
                                      kernels);
    }
    text += reduced_floats(kernels, Language::Cuda, 1);
    const bool multiplies =
        kernels.find(kMultiply) != std::string::npos || kernels.find(kMultiplyExactly) != std::string::npos;
    return multiplies ? text + matrix_helpers() : text;
  }

  std::string open(const loops::Kernel& kernel, int64_t tasks, int64_t threads) const override {
    std::string text = kernel.comment.empty() ? "" : "// " + kernel.comment + "\n";
    if (kernel.exact) text = std::string(kExactUnit) + text;
    std::vector<std::string> arguments;
    for (const loops::BufferRef& b : kernel.arguments)
      arguments.push_back(cuda_type(b->dtype) + "* __restrict__ " + b->name);
    const std::string bounds = threads > 0 ? cat("__launch_bounds__(", threads, ") ") : "", type = index_type(kernel);
    const std::string task = threads > 0 ? "blockIdx.x" : cat("blockIdx.x * (", type, ")blockDim.x + threadIdx.x");
    return cat(text, "extern \"C\" __global__ void ", bounds, kernel.name, "(", join(arguments), ") {\n  const ", type,
               " task = ", task, ";\n  if (task < ", tasks, ") {\n");
  }
  std::string close(const loops::Kernel&) const override { return "  }\n}\n"; }
  // A GPU computes 64-bit indices in several steps.
  std::string index_type(const loops::Kernel& kernel) const override {
    return small_indices(kernel) ? "int" : "long long";
  }
  std::string shared_array(const std::string& type, const std::string& name, int64_t n) const override {
    return cat("__shared__ __align__(16) ", type, " ", name, "[", n, "];");
  }
  std::string thread_number() const override { return "threadIdx.x"; }
  std::string barrier() const override { return "__syncthreads();"; }
  std::string matrix_condition() const override { return "__CUDA_ARCH__ >= 800"; }  // TF32 since Ampere
  std::string matrix_multiply(const std::vector<std::string>& operands, bool exact) const override {
    return cat(exact ? kMultiplyExactly : kMultiply, "(", join(operands), ")");
  }
  std::string scalar_type(DType dtype) const override { return cuda_type(dtype); }
  std::string local_array(const std::string& type, const std::string& name, int64_t n) const override {
    return cat(type, " ", name, "[", n, "];");
  }
  bool has_vector(DType, int64_t) const override { return false; }
  std::string load_vector(DType, int64_t, const std::string&) const override {
    fail_internal("CUDA kernels have no vector loops");
  }
  std::string store_vector(DType, int64_t, const std::string&, const std::string&) const override {
    fail_internal("CUDA kernels have no vector loops");
  }
  std::string make_vector(DType, int64_t, const std::vector<std::string>&) const override {
    fail_internal("CUDA kernels have no vector loops");
  }
  std::string lane(const std::string&, int64_t) const override { fail_internal("CUDA kernels have no vector loops"); }
  std::string fma(DType dtype, int64_t, const std::string& a, const std::string& b,
                  const std::string& c) const override {
    return (dtype == DType::Float64 ? "fma(" : "fmaf(") + a + ", " + b + ", " + c + ")";
  }
};

}  // namespace

const Vocabulary& cuda_vocabulary() {
  static const CudaVocabulary vocabulary;
  return vocabulary;
}

}  // namespace dnn::codegen
