// Float16 and bfloat16 in kernels' text; see reduced_floats.h.
#include "codegen/reduced_floats.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "codegen/dot_products.h"
#include "codegen/print.h"

namespace dnn::codegen {
namespace {

using namespace loops;

// Rounding as text: $V the float type, $S its suffix, $U that of its bits, $b(x) these bits of x, $f(x) back, $?(c, a, b) a choice by bits.
// float16: what rounds to 65536 or more is infinite, what is below 2^-14 is rounded to 2^-24 by the adder.
constexpr std::string_view kRoundBFloat16 =
    R"($L $V round_bfloat16_$S($V x) { const $U b = $b(x), r = (b + 0x7fffu + ((b >> 16) & 1u)) & 0xffff0000u; return $f($?((b & 0x7fffffffu) > 0x7f800000u, (b | 0x400000u) & 0xffff0000u, r)); }
)";
constexpr std::string_view kRoundFloat16 =
    R"($L $V round_float16_$S($V x) { const $U b = $b(x), s = b & 0x80000000u, m = b & 0x7fffffffu, r = (m + 0xfffu + ((m >> 13) & 1u)) & 0xffffe000u; const $V t = $f(m) + 0.5f; const $U low = $b(t - 0.5f); const $U big = $?(m > 0x7f800000u, (m & 0xffffe000u) | 0x400000u, 0x7f800000u + (m & 0u)); return $f(s | $?(m < 0x38800000u, low, $?(m < 0x477ff000u, r, big))); }
)";

struct Words {
  std::string linkage, real, suffix, bits, to_bits, to_real, choose;
};

std::string with_words(std::string_view text, const Words& words) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') {
      result += text[i];
      continue;
    }
    switch (text[++i]) {
      case 'L': result += words.linkage; break;
      case 'V': result += words.real; break;
      case 'S': result += words.suffix; break;
      case 'U': result += words.bits; break;
      case 'b': result += words.to_bits; break;
      case 'f': result += words.to_real; break;
      default: result += words.choose;
    }
  }
  return result;
}

Words words_of(Language language, int64_t lanes) {
  const std::string suffix = type_suffix(DType::Float32, lanes), n = lanes == 1 ? "" : std::to_string(lanes);
  if (language == Language::Cuda)
    return {
        "__device__ __forceinline__", "float", suffix, "unsigned", "__float_as_uint", "__uint_as_float", "choose_bits"};
  if (language == Language::OpenCl)
    return {"inline",          lanes == 1 ? "float" : suffix, suffix, "uint" + n, "as_uint" + n, "as_float" + n,
            "choose_" + suffix};
  if (lanes == 1) return {"static inline", "float", suffix, "uint32_t", "bits_f32", "from_bits_f32", "choose_f32"};
  const std::string bits = suffix + "_bits";
  return {"static inline", suffix, suffix, bits, "(" + bits + ")", "(" + suffix + ")", "choose_" + suffix};
}

// Helpers that the texts above call.
std::string support(Language language, int64_t lanes, const Words& w) {
  if (language == Language::Cuda || (language == Language::OpenCl && lanes == 1))
    return cat("#define ", w.choose, "(c, a, b) ((c) ? (a) : (b))\n");
  if (language == Language::OpenCl) return cat("#define ", w.choose, "(c, a, b) select((b), (a), (c))\n");
  if (lanes == 1)
    return "#define choose_f32(c, a, b) ((c) ? (a) : (b))\n"
           "static inline uint32_t bits_f32(float x) { union { float f; uint32_t b; } u; u.f = x; return u.b; }\n"
           "static inline float from_bits_f32(uint32_t x) { union { float f; uint32_t b; } u; u.b = x; return u.f; }\n";
  return cat("typedef uint32_t ", w.bits, " __attribute__((vector_size(", lanes * 4, ")));\nstatic inline ", w.bits,
             " ", w.choose, "(", w.suffix, "_mask c, ", w.bits, " a, ", w.bits, " b) { return ((", w.bits,
             ")c & a) | (~(", w.bits, ")c & b); }\n");
}

// One by one, as C99 has it.
constexpr std::string_view kWidenBFloat16 =
    "static inline float widen_bf16_f32(uint16_t x) { return from_bits_f32((uint32_t)x << 16); }\n";
// A number that fits keeps its bits.
constexpr std::string_view kNarrowBFloat16 =
    "static inline uint16_t narrow_bf16_f32(float x) { return (uint16_t)(bits_f32(x) >> 16); }\n"
    "#define narrow_round_bfloat16_f32(x) narrow_bf16_f32(round_bfloat16_f32(x))\n";
constexpr std::string_view kWidenFloat16 =
    R"(static inline float widen_f16_f32(uint16_t x) { const uint32_t s = (uint32_t)(x & 0x8000u) << 16, m = x & 0x7fffu; if (m >= 0x400u) return from_bits_f32(s | ((m << 13) + (m >= 0x7c00u ? 0x70000000u : 0x38000000u))); return s ? -((float)m * 0x1p-24f) : (float)m * 0x1p-24f; }
)";

// Vectors out of memory: by instructions where there are some.
std::string widen_vector(const std::string& from, int64_t lanes) {
  const std::string v = type_suffix(DType::Float32, lanes);
  const std::string open = cat("static inline ", v, " widen_", from, "_", v, "(const uint16_t* x) "),
                    loop = cat("{ ", v, " r; for (int i = 0; i < ", lanes, "; ++i) r[i] = widen_", from,
                               "_f32(x[i]); return r; }\n");
  const bool brain = from == "bf16";
  if (lanes < 4 || (!brain && lanes < 16)) return open + loop;
  const std::string words = cat("u16x", lanes, "_narrow");
  std::string text = cat("typedef uint16_t ", words, " __attribute__((vector_size(", lanes * 2, ")));\n");
  const std::string read = cat("{ ", words, " r; __builtin_memcpy(&r, x, sizeof r); return (", v, ")");
  if (!brain) {
    return cat(
        "#if defined(__AVX512F__)\ntypedef int16_t i16x16_narrow __attribute__((vector_size(32)));\n", open,
        "{ i16x16_narrow r; __builtin_memcpy(&r, x, sizeof r); return __builtin_ia32_vcvtph2ps512_mask(r, (f32x16){0}, "
        "(unsigned short)-1, 4); }\n#else\n",
        open, loop, "#endif\n");
  }
  const std::string by_clang = cat(read, "(__builtin_convertvector(r, ", v, "_bits) << 16); }\n");
  if (lanes == 4)
    return text +
           cat("#if defined(__clang__)\n", open, by_clang,
               "#elif defined(__SSE2__)\ntypedef uint16_t u16x8_narrow "
               "__attribute__((vector_size(16)));\ntypedef int64_t i64x2_narrow __attribute__((vector_size(16)));\n",
               open,
               "{ int64_t r; __builtin_memcpy(&r, x, 8); const u16x8_narrow w = (u16x8_narrow)(i64x2_narrow){r, 0}; "
               "return "
               "(f32x4)__builtin_shufflevector((u16x8_narrow){0}, w, 0, 8, 1, 9, 2, 10, 3, 11); }\n#else\n",
               open, loop, "#endif\n");
  const std::string signed_words = lanes == 16 ? "i16x16_words_narrow" : "i16x8_words_narrow";
  const std::string widened = lanes == 16 ? "__builtin_ia32_pmovzxwd512_mask(w, (i32x16_narrow){0}, (unsigned short)-1)"
                                          : "__builtin_ia32_pmovzxwd256(w)";
  return text + cat("#if defined(__clang__)\n", open, by_clang, "#elif defined(",
                    lanes == 16 ? "__AVX512F__" : "__AVX2__", ")\ntypedef int16_t ", signed_words,
                    " __attribute__((vector_size(", lanes * 2, ")));\ntypedef int32_t i32x", lanes,
                    "_narrow __attribute__((vector_size(", lanes * 4, ")));\n", open, "{ ", signed_words,
                    " w; __builtin_memcpy(&w, x, sizeof w); return (", v, ")((", v, "_bits)", widened,
                    " << 16); }\n#else\n", open, loop, "#endif\n");
}

// Vectors to memory. To round takes an instruction of AVX512-BF16, for which compilers have words of their own and, later, types.
std::string narrow_vector(int64_t lanes, bool rounds) {
  const std::string v = type_suffix(DType::Float32, lanes), n = std::to_string(lanes);
  const auto open = [&](const char* name) {
    return cat("static inline void narrow_", name, "_", v, "(uint16_t* y, ", v, " x) { ");
  };
  const std::string words = cat("const ", v, "_bits b = (", v, "_bits)x >> 16; "),
                    copy = "__builtin_memcpy(y, &r, sizeof r); }\n", vector = " __attribute__((vector_size(",
                    half = cat(vector, lanes * 2, ")));\n"),
                    loop = cat(open("bf16"), words, "for (int i = 0; i < ", n, "; ++i) y[i] = (uint16_t)b[i]; }\n");
  std::string text = loop;
  if (lanes >= 8)
    text = cat("#if defined(__clang__)\ntypedef uint16_t u16x", n, "_narrowed", half, open("bf16"), words, "const u16x",
               n, "_narrowed r = __builtin_convertvector(b, u16x", n, "_narrowed); ", copy,
               "#elif defined(__AVX512VL__)\ntypedef int16_t i16x", n, "_narrowed", half, "typedef int32_t i32x", n,
               "_wide", vector, lanes * 4, ")));\n", open("bf16"), words, "const i16x", n,
               "_narrowed r = __builtin_ia32_pmovdw", lanes * 32, "_mask((i32x", n, "_wide)b, (i16x", n,
               "_narrowed){0}, -1); ", copy, "#else\n", loop, "#endif\n");
  if (!rounds) return text;
  const std::string plain = cat(open("round_bfloat16"), "narrow_bf16_", v, "(y, round_bfloat16_", v, "(x)); }\n");
  if (lanes != 16) return text + plain;
  return cat(
      text,
      "#if defined(__AVX512BF16__) && defined(__clang__)\n#if __clang_major__ >= 16\ntypedef __bf16 bf16x16_narrowed",
      half, "#else\ntypedef int16_t bf16x16_narrowed", half, "#endif\n", open("round_bfloat16"),
      "const bf16x16_narrowed r = __builtin_ia32_cvtneps2bf16_512_mask(x, (bf16x16_narrowed){0}, -1); ", copy,
      "#elif defined(__AVX512BF16__)\n", open("round_bfloat16"),
      "const __typeof__(__builtin_ia32_cvtneps2bf16_v16sf(x)) r = __builtin_ia32_cvtneps2bf16_v16sf(x); ", copy,
      "#else\n", plain, "#endif\n");
}

}  // namespace

std::string reduced_floats(const std::string& kernels, Language language, int64_t lanes) {
  const Words words = words_of(language, lanes);
  const auto occurs = [&](const std::string& name) { return kernels.find(name) != std::string::npos; };
  std::string text;
  if (occurs("round_bfloat16_" + words.suffix + "(")) text += with_words(kRoundBFloat16, words);
  if (occurs("round_float16_" + words.suffix + "(")) text += with_words(kRoundFloat16, words);
  const bool rounds = occurs(cat("narrow_round_bfloat16_", words.suffix, "("));
  if (language == Language::C && (rounds || occurs(cat("narrow_bf16_", words.suffix, "("))))
    text += lanes == 1 ? std::string(kNarrowBFloat16) : narrow_vector(lanes, rounds);
  for (const char* from : {"bf16", "f16"}) {
    // Vectors without an instruction for it go through the scalars'.
    if (language == Language::C && lanes == 1 && occurs(cat("widen_", from, "_f32")))
      text += from == std::string_view("bf16") ? kWidenBFloat16 : kWidenFloat16;
    if (language == Language::C && lanes > 1 && occurs(cat("widen_", from, "_", words.suffix, "(")))
      text += widen_vector(from, lanes);
  }
  if (language == Language::C && lanes > 1) text += dot_products(kernels, lanes);
  // Dot products without an instruction read scalars.
  const bool scalars = language == Language::C && lanes == 1 && occurs("dot2_bf16_f32x");
  return text.empty() && !scalars ? text : support(language, lanes, words) + text;
}

Kernel narrow_buffers(const Kernel& kernel, const std::vector<std::string>& names, DType dtype) {
  std::map<std::string, BufferRef> narrow;
  Kernel result = kernel;
  for (BufferRef& argument : result.arguments) {
    if (argument->dtype == dtype || std::find(names.begin(), names.end(), argument->name) == names.end()) continue;
    auto twin = std::make_shared<Buffer>(*argument);
    twin->dtype = dtype;
    narrow[twin->name] = twin;
    argument = twin;
  }
  if (narrow.empty()) return result;
  const auto twin_of = [&](const BufferRef& b) {
    const auto found = b->scope == Scope::Global ? narrow.find(b->name) : narrow.end();
    return found == narrow.end() ? nullptr : found->second;
  };
  const std::function<Stmt(const Stmt&)> statements = [&](const Stmt& s) -> Stmt {
    const BufferRef twin = s->buffer == nullptr ? nullptr : twin_of(s->buffer);
    if (s->kind == StmtKind::Prefetch && twin != nullptr) return prefetch(twin, s->indices, s->value, s->fetch);
    if (s->kind == StmtKind::Store && twin != nullptr) return store(twin, s->indices, cast(dtype, s->value));
    if (s->children.empty()) return s;
    std::vector<Stmt> children;
    for (const Stmt& child : s->children) children.push_back(statements(child));
    return rebuild(*s, std::move(children));
  };
  result.body = rewrite_expressions(statements(result.body), [&](const Expr& e) {
    const BufferRef twin = e->op == Op::Load ? twin_of(e->buffer) : nullptr;
    return twin == nullptr ? e : cast(DType::Float32, load(twin, e->args));
  });
  return result;
}

}  // namespace dnn::codegen
