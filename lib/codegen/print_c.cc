// The C vocabulary: GNU C vector extensions, so that gcc and clang compile one text for every instruction set.
#include "codegen/print.h"

#include <algorithm>

#include "base/text.h"

namespace dnn::codegen {
namespace {

struct ScalarRow {
  DType dtype;
  const char* c_type;
};
constexpr ScalarRow kScalars[] = {
    {DType::Float32, "float"},   {DType::Float64, "double"},  {DType::Int8, "int8_t"},   {DType::Int16, "int16_t"},
    {DType::Int32, "int32_t"},   {DType::Int64, "int64_t"},   {DType::UInt8, "uint8_t"}, {DType::UInt16, "uint16_t"},
    {DType::UInt32, "uint32_t"}, {DType::UInt64, "uint64_t"}, {DType::Bool, "uint8_t"},
};

// Helpers for one float type: C math calls on scalars, lane by lane on vectors.
constexpr const char* kMath[] = {"exp",  "log",  "sqrt", "sin",   "cos",   "tan",   "asin", "acos",  "atan",
                                 "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf",  "floor", "ceil"};

// Functions with a vector form of our own for float, which DNN_VECTOR_MATH chooses.
constexpr std::string_view kOwnMath[] = {"exp", "erf", "tanh"};
bool has_own_math(std::string_view name) {
  return std::find(std::begin(kOwnMath), std::end(kOwnMath), name) != std::end(kOwnMath);
}

std::string scalar_helpers(const std::string& t, const std::string& c, const std::string& f) {
  std::string text;
  auto add = [&](const std::string& line) { text += line + "\n"; };
  for (const char* name : kMath) {
    const bool guarded = t == "f32" && has_own_math(name);
    if (guarded) add("#ifndef DNN_VECTOR_MATH");
    add(cat("static inline ", c, " ", name, "_", t, "(", c, " x) { return ", name, f, "(x); }"));
    if (guarded) add("#endif");
  }
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

std::string integer_helpers(const std::string& t, const std::string& c, bool is_signed) {
  return cat("static inline ", c, " max_", t, "(", c, " a, ", c, " b) { return a > b ? a : b; }\n", "static inline ", c,
             " min_", t, "(", c, " a, ", c, " b) { return a < b ? a : b; }\n", "static inline ", c, " abs_", t, "(", c,
             " x) { return ", is_signed ? "(" + c + ")(x < 0 ? -x : x)" : "x", "; }\n", "static inline ", c,
             " trunc_mod_", t, "(", c, " x, ", c, " y) { return (", c, ")(x % y); }\n");
}

// A polynomial in `x`, lowest coefficient first, by Estrin's scheme (Organization of computer systems, 1960): neighbours are
// joined by x, pairs by x^2, and so on, so that few operations wait for each other.
std::string polynomial(std::string x, std::vector<std::string> terms) {
  while (terms.size() > 1) {
    std::vector<std::string> joined;
    for (size_t i = 0; i + 1 < terms.size(); i += 2)
      joined.push_back(cat("(", terms[i + 1], " * ", x, " + ", terms[i], ")"));
    if (terms.size() % 2 != 0) joined.push_back(terms.back());
    terms = std::move(joined);
    x = cat("(", x, " * ", x, ")");
  }
  return terms[0];
}

// The polynomials of exp, erf and tanh: minimax fits of our own of (e^r - 1 - r) / r^2, erf(x) / x - 1 in x^2 below 0.93,
// log erfc above, (tanh(x) / x - 1) / x^2 in x^2 below 0.55. The second of each is the shorter one of DNN_FAST_MATH.
struct Terms {
  const char* name;
  const char* variable;
  std::vector<std::string> exact, fast;
};

std::string vector_math_terms() {
  const Terms rows[] = {
      {"exp_terms",
       "r",
       {"0x1.0p-1f", "0x1.555556p-3f", "0x1.55547ep-5f", "0x1.11108cp-7f", "0x1.6d97ecp-10f", "0x1.a1a42ep-13f"},
       {"0x1.fffd3ep-2f", "0x1.571f86p-3f", "0x1.576c1ap-5f"}},
      {"erf_small_terms",
       "s",
       {"0x1.06eba8p-3f", "-0x1.812744p-2f", "0x1.ce2e1cp-4f", "-0x1.b80ff2p-6f", "0x1.54d428p-8f", "-0x1.aaa2bep-11f",
        "0x1.5e05e2p-14f"},
       {"0x1.06e32cp-3f", "-0x1.808496p-2f", "0x1.bed902p-4f", "-0x1.3e2338p-6f"}},
      {"erf_large_terms",
       "t",
       {"0x1.60443ap-14f", "-0x1.21040ap+0f", "-0x1.45027ep-1f", "-0x1.b2ab84p-4f", "0x1.7a1e0ap-6f", "-0x1.7ddbb6p-9f",
        "-0x1.27a732p-14f", "0x1.bd560ap-14f", "-0x1.325fcap-16f", "0x1.30de92p-20f"},
       {"-0x1.b20742p-6f", "-0x1.09992ap+0f", "-0x1.82b450p-1f", "-0x1.f0b898p-6f"}},
      {"tanh_small_terms",
       "s",
       {"-0x1.55554ap-2f", "0x1.110cb0p-3f", "-0x1.b91368p-5f", "0x1.58824ep-6f", "-0x1.96ce2ep-8f"},
       {"-0x1.553ec6p-2f", "0x1.0d6814p-3f", "-0x1.6182c2p-5f"}},
  };
  std::string exact, fast;
  for (const Terms& row : rows) {
    const std::string head = cat("#define ", row.name, "(", row.variable, ") (");
    exact += head + polynomial(row.variable, row.exact) + ")\n";
    fast += head + polynomial(row.variable, row.fast) + ")\n";
  }
  return "#ifdef DNN_FAST_MATH\n" + fast + "#else\n" + exact + "#endif\n";
}

// exp, erf and tanh of float vectors to about 2 ulp, with DNN_FAST_MATH to 2e-5 (results below 2^-126 become 0). exp:
// reduction by multiples of ln 2 in two parts (Cody and Waite, Software Manual for the Elementary Functions, 1980, chapter 6).
std::string vector_math(const std::string& v) {
  return cat(
      "static inline ", v, " exp_", v, "(", v, " x) {\n  const ", v, " c = max_", v, "(splat_", v, "(-87.0f), min_", v,
      "(splat_", v, "(89.0f), x));\n  const ", v,
      " t = c * 0x1.715476p+0f + 12582912.0f, n = t - 12582912.0f;\n  const ", v,
      " r = (c - n * 0.693359375f) + n * 0x1.bd0106p-13f;\n  const ", v, " p = exp_terms(r);\n  const ", v,
      " power = (", v, ")(((", v,
      "_mask)t - (0x4b400000 - 126)) << 23);\n  return (p * r * r + r + 1.0f) * power * 2.0f;\n}\n", "static inline ",
      v, " with_sign_of_", v, "(", v, " size, ", v, " x) { const ", v, "_mask sign = (", v, "_mask)splat_", v,
      "(-0.0f); return (", v, ")(((", v, "_mask)size & ~sign) | ((", v, "_mask)x & sign)); }\n", "static inline ", v,
      " erf_", v, "(", v, " x) {\n  const ", v, " s = x * x, t = min_", v, "(splat_", v, "(4.0f), abs_", v,
      "(x));\n  const ", v, " small = x + x * erf_small_terms(s);\n  const ", v, " large = 1.0f - exp_", v,
      "(erf_large_terms(t));\n  return select_", v, "(t < 0.93f, small, with_sign_of_", v, "(large, x));\n}\n",
      "static inline ", v, " tanh_", v, "(", v, " x) {\n  const ", v, " s = x * x, t = abs_", v, "(x);\n  const ", v,
      " small = x + x * s * tanh_small_terms(s);\n  const ", v, " large = 1.0f - 2.0f / (exp_", v,
      "(t + t) + 1.0f);\n  return select_", v, "(t < 0.55f, small, with_sign_of_", v, "(large, x));\n}\n");
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
  std::vector<std::string> names(std::begin(kMath), std::end(kMath));
  names.emplace_back("round_even");
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
  if (own_math) text += "#ifdef DNN_VECTOR_MATH\n" + vector_math(v) + "#endif\n";
  return text;
}

class CVocabulary : public Vocabulary {
 public:
  std::string prelude(const std::string& kernels) const override {
    std::string text =
        "#include <math.h>\n#include <stdint.h>\n"
        "static inline int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }\n"
        "static inline int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }\n";
    auto occurs = [&](const std::string& suffix) { return kernels.find(suffix) != std::string::npos; };
    for (const ScalarRow& row : kScalars) {
      const std::string suffix = type_suffix(row.dtype, 1);
      if (is_integer(row.dtype) && occurs("_" + suffix + "("))
        text += integer_helpers(suffix, row.c_type, dtype_class(row.dtype) == DTypeClass::Signed);
    }
    if (occurs("f32")) text += scalar_helpers("f32", "float", "f");
    if (occurs("f64")) text += scalar_helpers("f64", "double", "");
    const bool scalar_math = std::any_of(std::begin(kOwnMath), std::end(kOwnMath),
                                         [&](std::string_view name) { return occurs(cat(name, "_f32(")); });
    for (DType dtype : {DType::Float32, DType::Float64}) {
      for (int64_t lanes : {2, 4, 8, 16}) {
        const std::string suffix = type_suffix(dtype, lanes);
        if (occurs(suffix + " ") || occurs(suffix + "_") || occurs(suffix + "(") || occurs(suffix + ")") ||
            (scalar_math && suffix == "f32x4")) {
          if (dtype == DType::Float32 && text.find("exp_terms") == std::string::npos)
            text += "#ifdef DNN_VECTOR_MATH\n" + vector_math_terms() + "#endif\n";
          text += vector_helpers(dtype, lanes);
        }
      }
    }
    if (!scalar_math) return text;
    // An element's bits must not hang on whether it falls into a vector or into the rest after the last one.
    text += "#ifdef DNN_VECTOR_MATH\n";
    for (std::string_view name : kOwnMath)
      text += cat("static inline float ", name, "_f32(float x) { return ", name, "_f32x4(splat_f32x4(x))[0]; }\n");
    return text + "#endif\n";
  }

  std::string open(const loops::Kernel& kernel, int64_t) const override {
    std::string text = kernel.comment.empty() ? "" : "// " + kernel.comment + "\n";
    text += "void " + kernel.name + "(void* const* args, int64_t begin, int64_t end) {\n";
    for (size_t i = 0; i < kernel.arguments.size(); ++i) {
      const std::string type = scalar_type(kernel.arguments[i]->dtype);
      text += cat("  ", type, "* restrict const ", kernel.arguments[i]->name, " = (", type, "*)args[", i, "];\n");
    }
    return text + "  for (int64_t task = begin; task < end; ++task) {\n";
  }
  std::string close() const override { return "  }\n}\n"; }
  std::string index_type() const override { return "int64_t"; }
  std::string scalar_type(DType dtype) const override {
    for (const ScalarRow& row : kScalars) {
      if (row.dtype == dtype) return row.c_type;
    }
    fail_internal("C has no type for ", dtype_name(dtype));
  }
  std::string local_array(const std::string& type, const std::string& name, int64_t n) const override {
    return cat(type, " ", name, "[", n, "] __attribute__((aligned(64)));");
  }
  bool has_vector(DType dtype, int64_t lanes) const override {
    return (dtype == DType::Float32 || dtype == DType::Float64) &&
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
  std::string prefetch(const std::string& pointer) const override {
    return "__builtin_prefetch(" + pointer + ", 0, 2)";
  }
};

}  // namespace

const Vocabulary& c_vocabulary() {
  static const CVocabulary vocabulary;
  return vocabulary;
}

}  // namespace dnn::codegen
