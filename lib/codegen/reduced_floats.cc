// Float16 and bfloat16 in kernels' text; see reduced_floats.h.
#include "codegen/reduced_floats.h"

#include <algorithm>
#include <map>

#include "base/text.h"
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

}  // namespace

std::string reduced_floats(const std::string& kernels, Language language, int64_t lanes) {
  const Words words = words_of(language, lanes);
  const auto occurs = [&](const std::string& name) { return kernels.find(name) != std::string::npos; };
  std::string text;
  if (occurs("round_bfloat16_" + words.suffix + "(")) text += with_words(kRoundBFloat16, words);
  if (occurs("round_float16_" + words.suffix + "(")) text += with_words(kRoundFloat16, words);
  for (const char* from : {"bf16", "f16"}) {
    // Vectors without an instruction for it go through the scalars'.
    if (language == Language::C && lanes == 1 && occurs(cat("widen_", from, "_f32")))
      text += from == std::string_view("bf16") ? kWidenBFloat16 : kWidenFloat16;
    if (language == Language::C && lanes > 1 && occurs(cat("widen_", from, "_", words.suffix, "(")))
      text += widen_vector(from, lanes);
  }
  return text.empty() ? text : support(language, lanes, words) + text;
}

Kernel narrow_constants(const Kernel& kernel, const std::vector<std::string>& names, DType dtype) {
  std::map<std::string, BufferRef> narrow;
  Kernel result = kernel;
  for (BufferRef& argument : result.arguments) {
    if (std::find(names.begin(), names.end(), argument->name) == names.end()) continue;
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
  const std::function<Stmt(const Stmt&)> prefetches = [&](const Stmt& s) -> Stmt {
    if (s->kind == StmtKind::Prefetch) {
      const BufferRef twin = twin_of(s->buffer);
      return twin == nullptr ? s : prefetch(twin, s->indices, s->value, s->fetch);
    }
    if (s->children.empty()) return s;
    std::vector<Stmt> children;
    for (const Stmt& child : s->children) children.push_back(prefetches(child));
    return rebuild(*s, std::move(children));
  };
  result.body = rewrite_expressions(prefetches(result.body), [&](const Expr& e) {
    const BufferRef twin = e->op == Op::Load ? twin_of(e->buffer) : nullptr;
    return twin == nullptr ? e : cast(DType::Float32, load(twin, e->args));
  });
  return result;
}

}  // namespace dnn::codegen
