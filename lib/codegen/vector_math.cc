// exp, erf, tanh and silu of float vectors as C text; see vector_math.h.
#include "codegen/vector_math.h"

#include <vector>

#include "base/text.h"

namespace dnn::codegen {
namespace {

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

std::string terms() {
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

// The bits of numbers of type `v` as integers, and back: casts of vectors, functions of a scalar.
struct Bits {
  std::string v;
  bool vector;
  std::string of(const std::string& x) const {
    return vector ? cat("(", v, "_mask)", x) : cat("bits_", v, "(", x, ")");
  }
  std::string back(const std::string& x) const {
    return vector ? cat("(", v, ")(", x, ")") : cat("of_bits_", v, "(", x, ")");
  }
};

// exp: reduction by multiples of ln 2 in two parts (Cody and Waite, Software Manual for the Elementary Functions, 1980,
// chapter 6); results below 2^-125 become 0.
std::string by_polynomials(const std::string& v, const Bits& bits) {
  return cat("static inline ", v, " exp_", v, "(", v, " x) {\n  const ", v, " c = max_", v, "(splat_", v,
             "(-87.0f), min_", v, "(splat_", v, "(89.0f), x));\n  const ", v,
             " t = c * 0x1.715476p+0f + 12582912.0f, n = t - 12582912.0f;\n  const ", v,
             " r = (c - n * 0.693359375f) + n * 0x1.bd0106p-13f;\n  const ", v, " p = exp_terms(r);\n  const ", v,
             " power = ", bits.back(cat("(", bits.of("t"), " - (0x4b400000 - 126)) << 23")),
             ";\n  return (p * r * r + r + 1.0f) * power * 2.0f;\n}\n", "static inline ", v, " erf_", v, "(", v,
             " x) {\n  const ", v, " s = x * x, t = min_", v, "(splat_", v, "(4.0f), abs_", v, "(x));\n  const ", v,
             " small = x + x * erf_small_terms(s);\n  const ", v, " large = 1.0f - exp_", v,
             "(erf_large_terms(t));\n  return select_", v, "(t < 0.93f, small, with_sign_of_", v, "(large, x));\n}\n",
             "static inline ", v, " silu_", v, "(", v, " x) { return x / (1.0f + exp_", v, "(-x)); }\n");
}

// AVX-512 looks up 16 floats of a table in one instruction, so that a short polynomial around the nearest of 16 points does.
// exp: 2^n e^r with n a multiple of 1/16 and |r| <= ln(2)/32, n's fraction from the table (Tang, Table-driven implementation of the exponential
// function, 1989); 0.99 ulp, over all floats. erf: x + c[0] + d (c[1] + d c[2] ..) around the nearest multiple of 17/64;
// 1.98 ulp, 1 at infinity. silu: x / (1 + exp(-x)) with one constant for ln 2, 2.8 ulp down to -16 and 5.5 down to -87, where
// the second constant would give 3.2.
constexpr const char* kPowers =
    "0x1p+0f, 0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f, 0x1.306fep+0f, 0x1.3dea64p+0f, "
    "0x1.4bfdaep+0f, 0x1.5ab07ep+0f, 0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f, "
    "0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f";
constexpr const char* kErf[] = {
    "0.0f, 0x1.2bd9dap-2f, 0x1.1855a6p-1f, 0x1.7b0058p-1f, 0x1.bbef1p-1f, 0x1.e11a3ep-1f, "
    "0x1.f39bc2p-1f, 0x1.fb9f6p-1f, 0x1.fea422p-1f, 0x1.ffa14ap-1f, 0x1.ffe96ap-1f, 0x1.fffb4ap-1f, "
    "0x1.ffff24p-1f, 0x1.ffffdep-1f, 0x1.fffffcp-1f, 0x1p+0f",
    "0x1.06eba8p-3f, 0x1.a5f496p-5f, -0x1.315404p-3f, -0x1.9bafc2p-2f, -0x1.452b72p-1f, -0x1.9cfe34p-1f, "
    "-0x1.d27034p-1f, -0x1.edcae4p-1f, -0x1.f9ae76p-1f, -0x1.fe188cp-1f, -0x1.ff807p-1f, "
    "-0x1.ffe302p-1f, -0x1.fffa48p-1f, -0x1.ffff06p-1f, -0x1.ffffdap-1f, -0x1.fffffcp-1f",
    "0x1.4f6e84p-22f, -0x1.1e0036p-2f, -0x1.cee4p-2f, -0x1.e7f09p-2f, -0x1.8d04f6p-2f, -0x1.06fbdcp-2f, "
    "-0x1.22745ap-3f, -0x1.0ee0ep-4f, -0x1.adc06cp-6f, -0x1.23a0dep-7f, -0x1.51f964p-9f, "
    "-0x1.51d21cp-11f, -0x1.1da4f8p-13f, -0x1.46470cp-15f, -0x1.05b61p-16f, -0x1.1b7102p-17f",
    "-0x1.812bbap-2f, -0x1.344248p-2f, -0x1.fa156ep-4f, 0x1.b8cedp-5f, 0x1.3950d8p-3f, 0x1.4db4b2p-3f, "
    "0x1.efbce4p-4f, 0x1.1f2d4p-4f, 0x1.0e9ce6p-5f, 0x1.a7bb1cp-7f, 0x1.16e6dap-8f, 0x1.35ac38p-10f, "
    "0x1.29ab1cp-12f, 0x1.03c54ep-14f, 0x1.bb3b7cp-18f, 0x1.7bce32p-18f",
    "0x1.467a48p-12f, 0x1.0e1c2ep-3f, 0x1.75609ep-3f, 0x1.18e5e6p-3f, 0x1.8cac4ap-5f, -0x1.6ef3dap-6f, "
    "-0x1.90d4aep-5f, -0x1.5bf526p-5f, -0x1.ab25fcp-6f, -0x1.8a570cp-7f, -0x1.549316p-8f, "
    "-0x1.adfe88p-10f, -0x1.2c1852p-11f, 0x1.5122fp-11f, 0x1.4898eap-11f, 0x1.cd445ap-12f",
    "0x1.c6113ep-4f, 0x1.35ed92p-4f, -0x1.ec08f2p-11f, -0x1.e392d2p-5f, -0x1.0d3afap-4f, "
    "-0x1.2f892ep-5f, -0x1.57c9fp-8f, 0x1.651e84p-7f, 0x1.9cabf8p-7f, 0x1.06c76ep-7f, 0x1.ea21e2p-9f, "
    "0x1.9be8ecp-10f, 0x1.562094p-12f, -0x1.4edeaep-14f, 0x1.34e7ccp-13f, -0x1.4439d8p-13f"};

std::string by_tables() {
  std::string text =
      "typedef float table16 __attribute__((vector_size(64)));\n"
      "typedef int32_t table16_index __attribute__((vector_size(64)));\n"
      "#if defined(__clang__)\n"
      "#define look_up(table, at) __builtin_ia32_permvarsf512(table, (table16_index)(at))\n"
      "#define smaller(a, b) __builtin_ia32_minps512(a, b, 4)\n"
      "#define larger(a, b) __builtin_ia32_maxps512(a, b, 4)\n"
      "#else\n"
      "#define look_up(table, at) __builtin_ia32_permvarsf512_mask(table, (table16_index)(at), table, -1)\n"
      "#define smaller(a, b) __builtin_ia32_minps512_mask(a, b, a, -1, 4)\n"
      "#define larger(a, b) __builtin_ia32_maxps512_mask(a, b, a, -1, 4)\n"
      "#endif\n"
      "static inline table16 all16(float x) { return x - (table16){0}; }\n";
  text += cat("static inline table16 exp16(table16 x) {\n  const table16 powers = {", kPowers,
              "};\n  const table16 c = larger(all16(-105.0f), smaller(all16(90.0f), x));\n"
              "  const table16 t = c * 0x1.715476p+0f + 786432.0f, n = t - 786432.0f;\n"
              "  const table16 r = (c - n * 0x1.62e43p-1f) + n * 0x1.05c61p-29f;\n"
              "  const table16 p = r * r * (r * 0x1.55571cp-3f + 0x1.00022p-1f) + r, power = look_up(powers, t);\n"
              "  return __builtin_ia32_scalefps512_mask(power * p + power, n, power, -1, 4);\n}\n");
  text += cat("static inline table16 silu16(table16 x) {\n  const table16 powers = {", kPowers,
              "};\n  const table16 c = __builtin_ia32_rangeps512_mask(x, all16(105.0f), 2, x, -1, 4);\n"
              "  const table16 t = c * -0x1.715476p+0f + 786432.0f, n = t - 786432.0f;\n"
              "  const table16 r = c + n * 0x1.62e43p-1f;\n"
              "  const table16 p = r * r * (0x1.00022p-1f - r * 0x1.55571cp-3f) - r, power = look_up(powers, t);\n"
              "  return x / (1.0f + __builtin_ia32_scalefps512_mask(power * p + power, n, power, -1, 4));\n}\n");
  text += "static inline table16 erf16(table16 x) {\n";
  for (size_t i = 0; i < std::size(kErf); ++i) text += cat("  const table16 c", i, " = {", kErf[i], "};\n");
  text +=
      "  const table16_index sign = (table16_index)all16(-0.0f);\n"
      "  const table16 size = smaller(all16(4.1f), (table16)((table16_index)x & ~sign));\n"
      "  const table16 t = size * (64.0f / 17.0f) + 12582912.0f, d = size - (t - 12582912.0f) * (17.0f / 64.0f);\n"
      "  table16 y = look_up(c5, t) * d + look_up(c4, t);\n  y = y * d + look_up(c3, t);\n"
      "  y = y * d + look_up(c2, t);\n  y = y * d + look_up(c1, t);\n  y = y * d + (look_up(c0, t) + d);\n"
      "  return (table16)(((table16_index)y & ~sign) | ((table16_index)x & sign));\n}\n";
  return text;
}

// One of the functions above for fewer lanes, or as many.
std::string widened(const std::string& name, const std::string& v, int64_t lanes) {
  std::string wide, narrow;
  for (int64_t i = 0; i < 16; ++i) {
    wide += cat(", ", i % lanes);
    if (i < lanes) narrow += cat(", ", i);
  }
  const std::string x = lanes == 16 ? "x" : cat("__builtin_shufflevector(x, x", wide, ")");
  const std::string y = cat(name, "16(", x, ")");
  return cat("static inline ", v, " ", name, "_", v, "(", v, " x) { ",
             lanes == 16 ? "" : cat("const table16 y = ", y, "; "), "return ",
             lanes == 16 ? y : cat("__builtin_shufflevector(y, y", narrow, ")"), "; }\n");
}

}  // namespace

std::string vector_math_terms() { return cat("#if defined(__AVX512F__)\n", by_tables(), "#endif\n", terms()); }

namespace {

std::string with_sign(const std::string& v, const Bits& bits) {
  const std::string body = cat("(", bits.of("size"), " & ~sign) | (", bits.of("x"), " & sign)");
  return cat("static inline ", v, " with_sign_of_", v, "(", v, " size, ", v, " x) { const ", v,
             "_mask sign = ", bits.of(cat("splat_", v, "(-0.0f)")), "; return ", bits.back(body), "; }\n");
}

std::string tanh_by_exp(const std::string& v) {
  return cat("static inline ", v, " tanh_", v, "(", v, " x) {\n  const ", v, " s = x * x, t = abs_", v,
             "(x);\n  const ", v, " small = x + x * s * tanh_small_terms(s);\n  const ", v,
             " large = 1.0f - 2.0f / (exp_", v, "(t + t) + 1.0f);\n  return select_", v,
             "(t < 0.55f, small, with_sign_of_", v, "(large, x));\n}\n");
}

}  // namespace

std::string vector_math(const std::string& v, int64_t lanes) {
  const Bits bits = {v, true};
  return cat(with_sign(v, bits), "#if defined(__AVX512F__)\n", widened("exp", v, lanes), widened("erf", v, lanes),
             widened("silu", v, lanes), "#else\n", by_polynomials(v, bits), "#endif\n", tanh_by_exp(v));
}

std::string one_by_one_math() {
  return cat(
      "#include <string.h>\ntypedef float f32;\ntypedef uint32_t f32_mask;\n"
      "static inline f32_mask bits_f32(f32 x) { f32_mask bits; memcpy(&bits, &x, sizeof bits); return bits; }\n"
      "static inline f32 of_bits_f32(f32_mask bits) { f32 x; memcpy(&x, &bits, sizeof x); return x; }\n"
      "static inline f32 splat_f32(f32 x) { return x; }\n"
      "static inline f32 select_f32(int m, f32 a, f32 b) { return m ? a : b; }\n",
      terms(), with_sign("f32", {"f32", false}), by_polynomials("f32", {"f32", false}), tanh_by_exp("f32"));
}

}  // namespace dnn::codegen
