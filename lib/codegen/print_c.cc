// The C vocabularies: GNU C vector extensions, so that gcc and clang compile one text for every instruction set; and C99 without them.
#include "codegen/print.h"

#include <algorithm>

#include "base/text.h"
#include "codegen/integer_vectors.h"
#include "codegen/reduced_floats.h"
#include "codegen/schedule_quantized.h"
#include "codegen/stated_text.h"
#include "codegen/vector_math.h"
#include "package/package.h"
#include "target/target.h"

namespace dnn::codegen {
namespace {

struct ScalarRow {
  DType dtype;
  const char* c_type;
};
constexpr ScalarRow kScalars[] = {
    {DType::Float32, "float"},    {DType::Float64, "double"},  {DType::Int8, "int8_t"},   {DType::Int16, "int16_t"},
    {DType::Int32, "int32_t"},    {DType::Int64, "int64_t"},   {DType::UInt8, "uint8_t"}, {DType::UInt16, "uint16_t"},
    {DType::UInt32, "uint32_t"},  {DType::UInt64, "uint64_t"}, {DType::Bool, "uint8_t"},  {DType::BFloat16, "uint16_t"},
    {DType::Float16, "uint16_t"},
};

bool is_exact(const loops::Kernel& kernel) { return kernel.exact || is_quantized(kernel); }

// Helpers for one float type: C math calls on scalars, lane by lane on vectors.
bool has_own_math(std::string_view name) {
  return std::find(std::begin(kOwnMath), std::end(kOwnMath), name) != std::end(kOwnMath);
}

std::string scalar_helpers(const std::string& t, const std::string& c, const std::string& f) {
  std::string text;
  auto add = [&](const std::string& line) { text += line + "\n"; };
  for (const char* name : kMathFunctions) {
    const bool guarded = t == "f32" && has_own_math(name);
    if (guarded) add("#ifndef DNN_VECTOR_MATH");
    add(cat("static inline ", c, " ", name, "_", t, "(", c, " x) { return ", name, f, "(x); }"));
    if (guarded) add("#endif");
  }
  if (t == "f32") add("#ifndef DNN_VECTOR_MATH");
  add(cat("static inline ", c, " silu_", t, "(", c, " x) { return x / (1 + exp_", t, "(-x)); }"));
  if (t == "f32") add("#endif");
  add(cat("static inline ", c, " abs_", t, "(", c, " x) { return fabs", f, "(x); }"));
  add(cat("static inline ", c, " round_even_", t, "(", c, " x) { return nearbyint", f, "(x); }"));
  add(cat("static inline ", c, " pow_", t, "(", c, " x, ", c, " y) { return pow", f, "(x, y); }"));
  add(cat("static inline ", c, " trunc_mod_", t, "(", c, " x, ", c, " y) { return fmod", f, "(x, y); }"));
  add(cat("static inline ", c, " max_", t, "(", c, " a, ", c, " b) { return a > b ? a : b; }"));
  add(cat("static inline ", c, " min_", t, "(", c, " a, ", c, " b) { return a < b ? a : b; }"));
  add(cat("static inline int is_nan_", t, "(", c, " x) { return x != x; }"));
  add(cat("static inline int is_inf_", t, "(", c, " x) { return isinf(x) != 0; }"));
  add(cat("static inline ", c, " inf_", t, "(void) { return (", c, ")INFINITY; }"));
  add(cat("static inline ", c, " nan_", t, "(void) { return (", c, ")NAN; }"));
  return text;
}

// The function for scalars, or for vectors of so many lanes.
std::string c_stated_functions(DType dtype, int64_t lanes, const std::string& linkage, const std::string& kernels) {
  const std::string suffix = type_suffix(dtype, lanes), c = dtype == DType::Float64 ? "double" : "float";
  return stated_functions_text({.head = "static inline" + std::string(linkage.empty() ? "" : " DNN_EXACT"),
                                .type = lanes == 1 ? c : suffix,
                                .suffix = suffix,
                                .body = linkage.empty() ? "" : "  DNN_EXACT_BODY\n",
                                .splat = lanes == 1 ? "" : "splat_" + suffix},
                               kernels);
}

std::string c_integer_helpers(const std::string& t, const std::string& c, bool is_signed) {
  return cat("static inline ", c, " max_", t, "(", c, " a, ", c, " b) { return a > b ? a : b; }\n", "static inline ", c,
             " min_", t, "(", c, " a, ", c, " b) { return a < b ? a : b; }\n", "static inline ", c, " abs_", t, "(", c,
             " x) { return ", is_signed ? "(" + c + ")(x < 0 ? -x : x)" : "x", "; }\n", "static inline ", c,
             " trunc_mod_", t, "(", c, " x, ", c, " y) { return (", c, ")(x % y); }\n");
}

std::string vector_helpers(DType dtype, int64_t lanes) {
  const std::string v = type_suffix(dtype, lanes), s = type_suffix(dtype, 1);
  const std::string c = dtype == DType::Float64 ? "double" : "float",
                    mask = dtype == DType::Float64 ? "int64_t" : "int32_t";
  const size_t bytes = static_cast<size_t>(lanes) * dtype_size(dtype);
  std::string text;
  auto add = [&](const std::string& line) { text += line + "\n"; };
  add(cat("typedef ", c, " ", v, " __attribute__((vector_size(", bytes, ")));"));
  add(cat("typedef ", c, " ", v, "_in_memory __attribute__((vector_size(", bytes, "), aligned(", dtype_size(dtype),
          "), may_alias));"));
  add(cat("typedef ", mask, " ", v, "_mask __attribute__((vector_size(", bytes, ")));"));
  add(cat("static inline ", v, " splat_", v, "(", c, " x) { return x - (", v, "){0}; }"));
  add(cat("static inline ", v, " select_", v, "(", v, "_mask m, ", v, " a, ", v, " b) { return (", v, ")((m & (", v,
          "_mask)a) | (~m & (", v, "_mask)b)); }"));
  add(cat("static inline ", v, " abs_", v, "(", v, " x) { return (", v, ")((", v, "_mask)x & ~(", v, "_mask)splat_", v,
          "(-0.0f)); }"));
  add(cat("static inline ", v, "_mask is_nan_", v, "(", v, " x) { return x != x; }"));
  const bool own_math = dtype == DType::Float32;
  std::vector<std::string> names(std::begin(kMathFunctions), std::end(kMathFunctions));
  names.insert(names.end(), {"silu", "round_even"});
  for (const std::string& name : names) {
    const bool guarded = own_math && has_own_math(name);
    if (guarded) add("#ifndef DNN_VECTOR_MATH");
    add(cat("static inline ", v, " ", name, "_", v, "(", v, " x) { for (int i = 0; i < ", lanes, "; ++i) x[i] = ", name,
            "_", s, "(x[i]); return x; }"));
    if (guarded) add("#endif");
  }
  for (const char* name : {"pow", "trunc_mod"}) {
    add(cat("static inline ", v, " ", name, "_", v, "(", v, " x, ", v, " y) { for (int i = 0; i < ", lanes,
            "; ++i) x[i] = ", name, "_", s, "(x[i], y[i]); return x; }"));
  }
  if (dtype == DType::Float32 && lanes == 16) {
    add("#if defined(__AVX512F__)");
    // The instructions by builtin: <immintrin.h> would take longer to parse than most kernels to compile.
    add("#if defined(__clang__)");
    add("static inline f32x16 max_f32x16(f32x16 a, f32x16 b) { return __builtin_ia32_maxps512(a, b, 4); }");
    add("static inline f32x16 min_f32x16(f32x16 a, f32x16 b) { return __builtin_ia32_minps512(a, b, 4); }");
    add("#else");
    add("static inline f32x16 max_f32x16(f32x16 a, f32x16 b) { return __builtin_ia32_maxps512_mask(a, b, a, -1, 4); }");
    add("static inline f32x16 min_f32x16(f32x16 a, f32x16 b) { return __builtin_ia32_minps512_mask(a, b, a, -1, 4); }");
    add("#endif");
    add("#else");
  }
  add(cat("static inline ", v, " max_", v, "(", v, " a, ", v, " b) { return select_", v, "(a > b, a, b); }"));
  add(cat("static inline ", v, " min_", v, "(", v, " a, ", v, " b) { return select_", v, "(a < b, a, b); }"));
  if (dtype == DType::Float32 && lanes == 16) add("#endif");
  if (own_math) text += "#ifdef DNN_VECTOR_MATH\n" + vector_math(v, lanes) + "#endif\n";
  return text;
}

class CVocabulary : public Vocabulary {
 public:
  CVocabulary(const char* linkage, bool vectors, Arch architecture)
      : linkage_(linkage), vectors_(vectors), architecture_(architecture) {}

  std::string prelude(const std::string& kernels) const override {
    std::string text =
        "#include <math.h>\n#include <stdint.h>\n"
        "static inline int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }\n"
        "static inline int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }\n";
    auto occurs = [&](const std::string& suffix) { return kernels.find(suffix) != std::string::npos; };
    for (const ScalarRow& row : kScalars) {
      const std::string suffix = type_suffix(row.dtype, 1);
      if (is_integer(row.dtype) && occurs("_" + suffix + "("))
        text += c_integer_helpers(suffix, row.c_type, dtype_class(row.dtype) == DTypeClass::Signed);
    }
    if (occurs("f32")) text += scalar_helpers("f32", "float", "f");
    if (occurs("f64")) text += scalar_helpers("f64", "double", "");
    const bool stated = calls_stated_functions(kernels);
    for (DType dtype : {DType::Float32, DType::Float64}) {
      if (stated && occurs(type_suffix(dtype, 1))) text += c_stated_functions(dtype, 1, linkage_, kernels);
    }
    const bool scalar_math = std::any_of(std::begin(kOwnMath), std::end(kOwnMath),
                                         [&](std::string_view name) { return occurs(cat(name, "_f32(")); });
    text += reduced_floats(kernels, Language::C, 1);
    if (!vectors_) return text + (scalar_math ? "#ifdef DNN_VECTOR_MATH\n" + one_by_one_math() + "#endif\n" : "");
    for (DType dtype : vector_elements()) {
      for (int64_t lanes : {2, 4, 8, 16}) {
        const std::string suffix = type_suffix(dtype, lanes);
        if (occurs(suffix + " ") || occurs(suffix + "_") || occurs(suffix + "(") || occurs(suffix + ")") ||
            (scalar_math && suffix == "f32x4")) {
          if (dtype == DType::Float32 && text.find("exp_terms") == std::string::npos)
            text += "#ifdef DNN_VECTOR_MATH\n" + vector_math_terms() + "#endif\n";
          text += vector_helpers(dtype, lanes);
          if (stated) text += c_stated_functions(dtype, lanes, linkage_, kernels);
        }
      }
    }
    for (int64_t lanes : {2, 4, 8, 16}) text += reduced_floats(kernels, Language::C, lanes);
    for (int64_t lanes : {2, 4, 8, 16}) {
      const std::string suffix = type_suffix(DType::Int32, lanes), real = type_suffix(DType::Float32, lanes);
      if (!occurs(suffix)) continue;
      if (text.find(" " + real + " __attribute__") == std::string::npos) {
        if (text.find("exp_terms") == std::string::npos)
          text += "#ifdef DNN_VECTOR_MATH\n" + vector_math_terms() + "#endif\n";
        if (text.find("log_f32") == std::string::npos) text += scalar_helpers("f32", "float", "f");
        text += vector_helpers(DType::Float32, lanes);
        if (stated) text += c_stated_functions(DType::Float32, lanes, linkage_, kernels);
      }
      text += integer_vectors(lanes, architecture_, kernels);
    }
    if (!scalar_math) return text;
    // An element's bits must not hang on whether it falls into a vector or into the rest after the last one.
    text += "#ifdef DNN_VECTOR_MATH\n";
    for (std::string_view name : kOwnMath)
      text += cat("static inline float ", name, "_f32(float x) { return ", name, "_f32x4(splat_f32x4(x))[0]; }\n");
    return text + "#endif\n";
  }

  std::string open(const loops::Kernel& kernel, int64_t, int64_t) const override {
    std::string text = kernel.comment.empty() ? "" : "// " + kernel.comment + "\n";
    const bool exact = is_exact(kernel);
    if (exact) text = std::string(kExactUnit) + text;
    text += linkage_of(kernel) + "void " + kernel.name + "(void* const* args, int64_t begin, int64_t end) {\n";
    if (exact && !linkage_.empty()) text += "  DNN_EXACT_BODY\n";
    for (size_t i = 0; i < kernel.arguments.size(); ++i) {
      const std::string type = scalar_type(kernel.arguments[i]->dtype);
      text += cat("  ", type, "* restrict const ", kernel.arguments[i]->name, " = (", type, "*)args[", i, "];\n");
    }
    return text + "  for (int64_t task = begin; task < end; ++task) {\n";
  }
  std::string close(const loops::Kernel&) const override { return "  }\n}\n"; }
  std::string index_type(const loops::Kernel&) const override { return "int64_t"; }
  std::string scalar_type(DType dtype) const override {
    for (const ScalarRow& row : kScalars) {
      if (row.dtype == dtype) return row.c_type;
    }
    fail_internal("C has no type for ", dtype_name(dtype));
  }
  std::string local_array(const std::string& type, const std::string& name, int64_t n) const override {
    return cat(type, " ", name, "[", n, "]", vectors_ ? " __attribute__((aligned(64)))" : "", ";");
  }
  bool knows_vectors() const override { return vectors_; }
  bool has_vector(DType dtype, int64_t lanes) const override {
    return vectors_ && (has_vectors(dtype) || dtype == DType::Int32) &&
           (lanes == 2 || lanes == 4 || lanes == 8 || lanes == 16);
  }
  std::string load_vector(DType dtype, int64_t lanes, const std::string& pointer) const override {
    const std::string type = type_suffix(dtype, lanes);
    return "((" + type + ")*(const " + type + "_in_memory*)(" + pointer + "))";
  }
  std::string store_vector(DType dtype, int64_t lanes, const std::string& pointer,
                           const std::string& value) const override {
    return "*(" + type_suffix(dtype, lanes) + "_in_memory*)(" + pointer + ") = " + value;
  }
  std::string make_vector(DType dtype, int64_t lanes, const std::vector<std::string>& values) const override {
    return "((" + type_suffix(dtype, lanes) + "){" + join(values) + "})";
  }
  std::string lane(const std::string& vector, int64_t i) const override { return cat(vector, "[", i, "]"); }
  // Compiled with -ffp-contract=fast where fused operations are allowed, which is where the IR holds any.
  std::string fma(DType, int64_t, const std::string& a, const std::string& b, const std::string& c) const override {
    return "(" + a + " * " + b + " + " + c + ")";
  }
  std::string widen(DType from, int64_t lanes, const std::string& pointer) const override {
    return cat("widen_", type_suffix(from, 1), "_i32x", lanes, "(", pointer, ")");
  }
  std::string narrow(DType to, int64_t lanes, const std::string& pointer, const std::string& value) const override {
    return cat("narrow_", type_suffix(to, 1), "_i32x", lanes, "(", pointer, ", ", value, ")");
  }
  std::string narrow_saturated(DType to, int64_t lanes, const std::string& pointer,
                               const std::string& value) const override {
    return cat("saturate_", type_suffix(to, 1), "_i32x", lanes, "(", pointer, ", ", value, ")");
  }
  std::string round_to_integer(int64_t lanes, const std::string& real) const override {
    return cat("round_i32x", lanes, "(", real, ")");
  }
  std::string round_quotient(int64_t lanes, const std::vector<std::string>& operands) const override {
    return cat(operands.size() > 4 ? "round_quotient_i32x" : "round_quotient_wide_i32x", lanes, "(", join(operands),
               ")");
  }
  std::string integer_to_real(int64_t lanes, const std::string& integer) const override {
    return cat("to_f32x", lanes, "(", integer, ")");
  }
  std::string dot(DType left, int64_t depth, int64_t lanes, const std::string& sum, const std::string& x,
                  const std::string& w) const override {
    return cat("dot", depth, "_", type_suffix(left, 1), left == DType::BFloat16 ? "_f32x" : "_i32x", lanes, "(", sum,
               ", ", x, ", ", w, ")");
  }
  std::string dot_of_rows(DType left, int64_t depth, int64_t lanes, const std::string& sum, const std::string& x,
                          int64_t stride, const std::string& w) const override {
    return cat("dot4_rows_", type_suffix(left, 1), "_i32x", lanes, "(", sum, ", ", x, ", ", stride, ", ", depth, ", ",
               w, ")");
  }
  std::string finished(const loops::Kernel& kernel, const std::string& text) const override {
    return architecture_ == Arch::Aarch64 ? text : with_dot_products(kernel, text, linkage_of(kernel));
  }
  std::string prefetch(const std::string& pointer, loops::Fetch fetch) const override {
    if (!vectors_) return "";
    return cat("__builtin_prefetch(", pointer, ", 0, ", fetch == loops::Fetch::First ? 3 : 2, ")");
  }

 private:
  // In a file of all kernels, a kernel says itself that it is exact: the compiler's options are of the file.
  std::string linkage_of(const loops::Kernel& kernel) const {
    return linkage_.empty() || !is_exact(kernel) ? linkage_ : linkage_ + "DNN_EXACT ";
  }

  const std::string linkage_;
  const bool vectors_;
  const Arch architecture_;
};

}  // namespace

const Vocabulary& c_vocabulary(Arch architecture) {
  static const CVocabulary of_x86_64("", true, Arch::X86_64), of_aarch64("", true, Arch::Aarch64);
  return architecture == Arch::Aarch64 ? of_aarch64 : of_x86_64;
}

const Vocabulary& static_c_vocabulary(bool vectors) {
  static const CVocabulary with("static DNN_KERNEL ", true, Arch::X86_64),
      without("static DNN_KERNEL ", false, Arch::X86_64);
  return vectors ? with : without;
}

}  // namespace dnn::codegen
