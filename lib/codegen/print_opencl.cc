// The OpenCL C vocabulary: one work-item per task, OpenCL's own vectors.
#include "base/text.h"
#include "codegen/print.h"
#include "codegen/reduced_floats.h"
#include "codegen/stated_text.h"
#include "package/package.h"
#include "target/target.h"

namespace dnn::codegen {
namespace {

std::string opencl_type(DType dtype) {
  switch (dtype) {
    case DType::Float32: return "float";
    case DType::Float64: return "double";
    case DType::Int8: return "char";
    case DType::Int16: return "short";
    case DType::Int32: return "int";
    case DType::Int64: return "long";
    case DType::UInt8:
    case DType::Bool: return "uchar";
    case DType::UInt16: return "ushort";
    case DType::UInt32: return "uint";
    case DType::UInt64: return "ulong";
    default: fail_internal("OpenCL C has no type for ", dtype_name(dtype));
  }
}

// Functions that OpenCL C has under the same name for scalars and vectors.
constexpr const char* kSameName[] = {"exp",  "log",  "sqrt",  "sin",   "cos",   "tan", "asin",  "acos", "atan", "sinh",
                                     "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "floor", "ceil", "pow"};

std::string opencl_float_helpers(DType dtype, int64_t lanes) {
  const std::string t = type_suffix(dtype, lanes);
  const std::string type = lanes == 1 ? opencl_type(dtype) : t;
  std::string text;
  auto add = [&](const std::string& line) { text += line + "\n"; };
  if (lanes > 1) {
    add(cat("typedef ", opencl_type(dtype), lanes, " ", t, ";"));
    add(cat("#define splat_", t, "(x) ((", t, ")(x))"));
    add(cat("#define select_", t, "(m, a, b) select((b), (a), (m))"));
    add(cat("inline ", t, " max_", t, "(", t, " a, ", t, " b) { return select(b, a, a > b); }"));
    add(cat("inline ", t, " min_", t, "(", t, " a, ", t, " b) { return select(b, a, a < b); }"));
  } else {
    add(cat("inline ", type, " max_", t, "(", type, " a, ", type, " b) { return a > b ? a : b; }"));
    add(cat("inline ", type, " min_", t, "(", type, " a, ", type, " b) { return a < b ? a : b; }"));
    add(cat("#define inf_", t, "() ((", type, ")INFINITY)"));
    add(cat("#define nan_", t, "() ((", type, ")NAN)"));
  }
  for (const char* name : kSameName) add(cat("#define ", name, "_", t, " ", name));
  add(cat("inline ", type, " silu_", t, "(", type, " x) { return x / (1 + exp(-x)); }"));
  add(cat("#define abs_", t, " fabs"));
  add(cat("#define round_even_", t, " rint"));
  add(cat("#define trunc_mod_", t, " fmod"));
  add(cat("#define is_nan_", t, " isnan"));
  add(cat("#define is_inf_", t, " isinf"));
  return text;
}

std::string opencl_integer_helpers(DType dtype) {
  const std::string t = type_suffix(dtype, 1), c = opencl_type(dtype);
  const bool is_signed = dtype_class(dtype) == DTypeClass::Signed;
  return cat("inline ", c, " max_", t, "(", c, " a, ", c, " b) { return a > b ? a : b; }\n", "inline ", c, " min_", t,
             "(", c, " a, ", c, " b) { return a < b ? a : b; }\n", "inline ", c, " abs_", t, "(", c,
             is_signed ? " x) { return x < 0 ? -x : x; }\n" : " x) { return x; }\n", "inline ", c, " trunc_mod_", t,
             "(", c, " x, ", c, " y) { return x % y; }\n");
}

// Vectors of int32, which bytes are computed in.
std::string integer_vector(int64_t lanes) {
  const std::string t = type_suffix(DType::Int32, lanes);
  return cat("typedef int", lanes, " ", t, ";\n#define splat_", t, "(x) ((", t, ")(x))\n#define max_", t,
             " max\n#define min_", t, " min\n");
}

class OpenClVocabulary : public Vocabulary {
 public:
  std::string prelude(const std::string& kernels) const override {
    auto occurs = [&](const std::string& suffix) { return kernels.find(suffix) != std::string::npos; };
    std::string text;
    if (occurs("f64") || occurs("double")) text += "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
    text +=
        "#ifdef DNN_CONTRACT\n#pragma OPENCL FP_CONTRACT ON\n#else\n#pragma OPENCL FP_CONTRACT OFF\n#endif\n"
        "inline long floor_div(long a, long b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }\n"
        "inline long floor_mod(long a, long b) { return a - floor_div(a, b) * b; }\n";
    if (occurs("PREFETCH(")) {  // OpenCL's own prefetch() is to no cache in particular
      text +=
          "#ifdef __has_builtin\n#if __has_builtin(__builtin_prefetch)\n"
          "#define PREFETCH(at, cache) __builtin_prefetch(at, 0, cache)\n#endif\n#endif\n"
          "#ifndef PREFETCH\n#define PREFETCH(at, cache)\n#endif\n";
    }
    for (DType dtype : {DType::Int8, DType::Int16, DType::Int32, DType::Int64, DType::UInt8, DType::UInt16,
                        DType::UInt32, DType::UInt64}) {
      if (occurs("_" + type_suffix(dtype, 1) + "(")) text += opencl_integer_helpers(dtype);
    }
    for (int64_t lanes : {2, 4, 8, 16}) {
      if (occurs(type_suffix(DType::Int32, lanes))) text += integer_vector(lanes);
    }
    for (DType dtype : vector_elements()) {
      for (int64_t lanes : {1, 2, 4, 8, 16}) {
        if (occurs(type_suffix(dtype, lanes))) text += opencl_float_helpers(dtype, lanes);
        if (calls_stated_functions(kernels) && occurs(type_suffix(dtype, lanes)))
          text += stated_functions_text({.head = "inline",
                                         .type = lanes == 1 ? opencl_type(dtype) : type_suffix(dtype, lanes),
                                         .suffix = type_suffix(dtype, lanes),
                                         .body = "  #pragma OPENCL FP_CONTRACT OFF\n",
                                         .splat = lanes == 1 ? "" : "splat_" + type_suffix(dtype, lanes)},
                                        kernels);
        if (dtype == DType::Float32) text += reduced_floats(kernels, Language::OpenCl, lanes);
      }
    }
    return text;
  }

  std::string open(const loops::Kernel& kernel, int64_t, int64_t threads) const override {
    std::string comment = kernel.comment.empty() ? "" : "// " + kernel.comment + "\n";
    if (kernel.exact) comment = std::string(kExactUnit) + comment;
    if (threads > 0) {  // what they share is declared in the outermost braces of a kernel
      return cat(comment, "__kernel __attribute__((reqd_work_group_size(", threads, ", 1, 1))) void ", kernel.name, "(",
                 parameters(kernel), ") {\n    const ", index_type(kernel), " task = get_group_id(0);\n");
    }
    return comment + "void " + kernel.name + "_task(" + parameters(kernel) + ", const long task) {\n  {\n";
  }
  // One task as a function, which a kernel over many steps calls, too, and the kernel of a launch of its own.
  std::string close(const loops::Kernel& kernel) const override {
    if (thread_count(kernel) > 0) return "}\n";
    std::vector<std::string> names;
    for (const loops::BufferRef& b : kernel.arguments) names.push_back(b->name);
    return "  }\n}\n__kernel void " + kernel.name + "(" + parameters(kernel) + ") {\n  " + kernel.name + "_task(" +
           join(names) + ", get_global_id(0));\n}\n";
  }
  std::string index_type(const loops::Kernel& kernel) const override {
    return thread_count(kernel) > 0 && small_indices(kernel) ? "int" : "long";
  }
  std::string shared_array(const std::string& type, const std::string& name, int64_t n) const override {
    return cat("__local ", type, " ", name, "[", n, "] __attribute__((aligned(16)));");
  }
  std::string thread_number() const override { return "get_local_id(0)"; }
  std::string barrier() const override { return "barrier(CLK_LOCAL_MEM_FENCE);"; }
  std::string scalar_type(DType dtype) const override { return opencl_type(dtype); }
  std::string local_array(const std::string& type, const std::string& name, int64_t n) const override {
    return cat(type, " ", name, "[", n, "];");
  }
  bool has_vector(DType dtype, int64_t lanes) const override {
    return (has_vectors(dtype) || dtype == DType::Int32) && (lanes == 2 || lanes == 4 || lanes == 8 || lanes == 16);
  }
  std::string load_vector(DType, int64_t lanes, const std::string& pointer) const override {
    return cat("vload", lanes, "(0, ", pointer, ")");
  }
  std::string store_vector(DType, int64_t lanes, const std::string& pointer, const std::string& value) const override {
    return cat("vstore", lanes, "(", value, ", 0, ", pointer, ")");
  }
  std::string make_vector(DType dtype, int64_t lanes, const std::vector<std::string>& values) const override {
    return "((" + type_suffix(dtype, lanes) + ")(" + join(values) + "))";
  }
  std::string lane(const std::string& vector, int64_t i) const override {
    return vector + ".s" + std::string(1, "0123456789abcdef"[i]);
  }
  std::string widen(DType, int64_t lanes, const std::string& pointer) const override {
    return cat("convert_int", lanes, "(vload", lanes, "(0, ", pointer, "))");
  }
  std::string narrow(DType dtype, int64_t lanes, const std::string& pointer, const std::string& value) const override {
    return cat("vstore", lanes, "(convert_", opencl_type(dtype), lanes, "(", value, "), 0, ", pointer, ")");
  }
  std::string round_to_integer(int64_t lanes, const std::string& value) const override {
    return cat("convert_int", lanes, "_rte(", value, ")");
  }
  std::string integer_to_real(int64_t lanes, const std::string& value) const override {
    return cat("convert_float", lanes, "(", value, ")");
  }
  // Built with DNN_CONTRACT where fused operations are allowed, which is where the IR holds any.
  std::string fma(DType, int64_t, const std::string& a, const std::string& b, const std::string& c) const override {
    return "(" + a + " * " + b + " + " + c + ")";
  }
  std::string prefetch(const std::string& pointer, loops::Fetch fetch) const override {
    return cat("PREFETCH(", pointer, ", ", fetch == loops::Fetch::First ? 3 : 2, ")");
  }

 private:
  static std::string parameters(const loops::Kernel& kernel) {
    std::vector<std::string> arguments;
    for (const loops::BufferRef& b : kernel.arguments)
      arguments.push_back("__global " + opencl_type(b->dtype) + "* restrict " + b->name);
    return join(arguments);
  }
};

}  // namespace

const Vocabulary& opencl_vocabulary() {
  static const OpenClVocabulary vocabulary;
  return vocabulary;
}

}  // namespace dnn::codegen
