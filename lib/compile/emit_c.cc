// Networks as C source files; see emit_c.h.
#include "compile/emit_c.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "base/text.h"
#include "codegen/print.h"
#include "loops/layout.h"
#include "target/isa.h"
#include "target/level.h"

namespace dnn {
namespace {

// Makes values that the emitted test makes, too: see kFill.
class Numbers {
 public:
  uint32_t next() {
    state_ = state_ * 1664525u + 1013904223u;
    return state_ >> 8;
  }

 private:
  uint32_t state_ = 1;
};

constexpr const char* kFill =
    "static uint32_t state = 1;\n"
    "static uint32_t next_number(void) { state = state * 1664525u + 1013904223u; return state >> 8; }\n";

// The rule by which a number of a type is made, in C++ and in C.
constexpr float kHalfRange = 8388608.0f;
bool takes_bytes(DType dtype) { return is_integer(dtype) && dtype_size(dtype) == 1; }
std::string filling(DType dtype, const std::string& type) {
  if (is_float(dtype)) return cat("(", type, ")((float)next_number() / 8388608.0f - 1.0f)");
  return cat("(", type, ")(next_number() & ", takes_bytes(dtype) ? 255 : 1, ")");
}

template <class T>
void append_float(std::string& text, T value) {
  if (std::isnan(value) || std::isinf(value)) {
    text += std::isnan(value) ? "NAN" : value < 0 ? "-INFINITY" : "INFINITY";
    return;
  }
  char buffer[40];
  const std::to_chars_result end =
      std::to_chars(buffer, buffer + sizeof buffer, std::fabs(value), std::chars_format::hex);
  if (std::signbit(value)) text += '-';
  text += "0x";
  text.append(buffer, end.ptr);
  if (sizeof(T) == sizeof(float)) text += 'f';
}

// An array's elements, with line breaks.
std::string initializer(const Tensor& given) {
  const Tensor tensor = given.arranged_copy();
  std::string text;
  const auto all = [&](auto one) {
    size_t line = 0;
    for (int64_t i = 0; i < tensor.size(); ++i) {
      one(i);
      text += ',';
      if (text.size() - line > 100) {
        text += '\n';
        line = text.size();
      }
    }
  };
  const std::byte* data = tensor.bytes().data();
  const auto integers = [&](auto zero) {
    using T = decltype(zero);
    all([&](size_t i) {
      T value;
      std::memcpy(&value, data + i * sizeof value, sizeof value);
      if (std::is_signed_v<T> && sizeof value >= 4 && value == std::numeric_limits<T>::min()) {
        text += cat("(", +static_cast<T>(value + 1), " - 1)");  // a literal has no sign, and none is so large
      } else {
        text += std::to_string(value);
      }
      if (!std::is_signed_v<T> && sizeof value >= 4) text += 'u';
    });
  };
  switch (tensor.dtype()) {
    case DType::Float32: all([&](size_t i) { append_float(text, reinterpret_cast<const float*>(data)[i]); }); break;
    case DType::Float64: all([&](size_t i) { append_float(text, reinterpret_cast<const double*>(data)[i]); }); break;
    case DType::Int8: integers(int8_t{}); break;
    case DType::Int16: integers(int16_t{}); break;
    case DType::Int32: integers(int32_t{}); break;
    case DType::Int64: integers(int64_t{}); break;
    case DType::Bool:
    case DType::UInt8: integers(uint8_t{}); break;
    case DType::BFloat16:
    case DType::Float16:
    case DType::UInt16: integers(uint16_t{}); break;
    case DType::UInt32: integers(uint32_t{}); break;
    case DType::UInt64: integers(uint64_t{}); break;
    default: fail_unsupported("C has no type for ", dtype_name(tensor.dtype()));
  }
  return text;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// The preprocessor's condition for the code of an instruction set: the macros of its options, or any vectors.
std::string condition_of(const Isa& isa) {
  std::vector<std::string> macros;
  for (const std::string flag : isa.flags) {
    if (starts_with(flag, "-m") && flag.find('=') == std::string::npos)
      macros.push_back(cat("defined(__", upper(flag.substr(2)), "__)"));
  }
  for (const char* macro : isa.macros) macros.push_back(cat("defined(", macro, ")"));
  return macros.empty()
             ? "defined(__SSE2__) || defined(__ARM_NEON) || defined(__ALTIVEC__) || defined(__wasm_simd128__)"
             : join(macros, " && ");
}

class Emitter {
 public:
  Emitter(const Package& package, const EmitCOptions& options)
      : package_(package),
        options_(options),
        level_(level_of(package.info.opt)),
        name_(options.name),
        upper_(upper(name_)) {
    DNN_CHECK(options.texts.size() == package.variants.size());
    for (size_t i = 0; i < package.variants.size(); ++i) {
      DNN_CHECK(options.texts[i].isa == package.variants[i].target.isa);
      check(package.variants[i]);
      const auto row = [&](size_t v) { return find_isa(Language::C, package.variants[v].target.isa); };
      if (row(i) < row(plainest_)) plainest_ = i;
      best_first_.push_back(i);
    }
    std::sort(best_first_.begin(), best_first_.end(), [&](size_t a, size_t b) { return row_of(a) > row_of(b); });
    std::set<std::string> taken;
    const auto name = [&](const char* prefix, ValueId id) {
      const std::string wanted = prefix + c_identifier(package_.graph().value(id).name);
      std::string found = wanted;
      for (int n = 2; !taken.insert(found).second; ++n) found = cat(wanted, "_", n);
      return found;
    };
    for (ValueId id : package.graph().inputs) inputs_.push_back(name("in_", id));
    for (ValueId id : package.graph().outputs) outputs_.push_back(name("out_", id));
  }

  EmittedC run() {
    EmittedC result;
    for (size_t i = 0; i < package_.variants.size(); ++i) {
      result.arena_bytes = std::max(result.arena_bytes, arena_of(package_.variants[i]));
      result.weight_bytes = std::max(result.weight_bytes, weights_of(package_.variants[i]));
    }
    result.files[name_ + ".h"] = header();
    result.files[name_ + ".c"] = source();
    result.files[name_ + "_test.c"] = test();
    result.files["Makefile"] = makefile();
    result.files["CMakeLists.txt"] = cmake();
    return result;
  }

 private:
  const Isa* row_of(size_t variant) const { return find_isa(Language::C, package_.variants[variant].target.isa); }

  static void check(const Variant& variant) {
    std::vector<std::string> interpreted;
    for (const Step& step : variant.steps) {
      if (step.kernel < 0) interpreted.push_back(variant.graph->node(step.node).label());
    }
    if (!interpreted.empty()) {
      const size_t count = interpreted.size();
      interpreted.resize(std::min<size_t>(count, 5));
      fail_unsupported("no C code for ", join(interpreted), count > 5 ? cat(" and ", count - 5, " more nodes") : "",
                       ": packages interpret what has no kernel; set open shapes with --shape or --batch, and try "
                       "--pass=+expand-quantization,+fold-constant where numbers are quantised");
    }
    if (variant.slots > 0) fail_unsupported("no C code for values whose shape a run decides; bind shapes with --shape");
    if (!variant.state.empty()) fail_unsupported("no C code for a network that keeps state");
  }

  static int64_t arena_of(const Variant& variant) { return variant.arena_bytes + variant.sample_arena_bytes; }

  static std::set<int64_t> constants_of(const Variant& variant) {
    std::set<int64_t> used;
    const auto add = [&](const Argument& a) {
      if (a.kind == Argument::Kind::Constant) used.insert(a.at);
    };
    for (const Step& step : variant.steps) {
      for (const Argument& a : step.arguments) add(a);
    }
    for (ValueId id : variant.graph->outputs) add(variant.values[id].where);
    return used;
  }

  int64_t weights_of(const Variant& variant) const {
    int64_t bytes = 0;
    for (int64_t i : constants_of(variant)) bytes += static_cast<int64_t>(constant(i).size_bytes());
    return bytes;
  }

  const Tensor& constant(int64_t i) const { return package_.constants[i]; }
  static std::string c_type(DType dtype) { return codegen::static_c_vocabulary(false).scalar_type(dtype); }

  std::string signature() const {
    std::vector<std::string> parameters;
    for (size_t i = 0; i < inputs_.size(); ++i)
      parameters.push_back(cat("const ", c_type(package_.input_types[i].dtype), "* ", inputs_[i]));
    for (size_t i = 0; i < outputs_.size(); ++i)
      parameters.push_back(cat(c_type(package_.output_types[i].dtype), "* ", outputs_[i]));
    return cat("void ", name_, "_run(", join(parameters), ")");
  }

  std::string bits_note() const {
    return level_.contract ? "-ffp-contract=fast, Clang -ffp-contract=on (multiply-adds may be fused)"
                           : "-ffp-contract=off (multiply-adds stay apart)";
  }

  std::string header() const {
    std::string text = cat(
        "/* ", name_, ": a neural network in C99, as dnn-compile --emit-c -O", package_.info.opt, " wrote it.\n\n   ",
        name_, "_run() computes it. It allocates nothing and calls only libm. Its memory is a static arena of\n   ",
        upper_,
        "_ARENA_BYTES, so one call at a time may run.\n\n   The compiler's options choose the code: vectors where it "
        "has them, else scalars, or always scalars with\n"
        "   -DDNN_SCALAR. To give the bits of the package of this level, compile with\n   ",
        bits_note(), ". */\n#ifndef ", upper_, "_H\n#define ", upper_,
        "_H\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n#if !defined(__GNUC__) || "
        "defined(DNN_SCALAR)\n#define ",
        upper_, "_VARIANT 0 /* scalars */\n");
    for (size_t v : best_first_)
      text += cat("#elif ", condition_of(*row_of(v)), "\n#define ", upper_, "_VARIANT ", v + 1, " /* ", row_of(v)->name,
                  " */\n");
    text += cat("#else\n#define ", upper_, "_VARIANT 0\n#endif\n\n");
    for (size_t v = 0; v < package_.variants.size(); ++v) {
      text += cat(v == 0 ? "#if " : "#elif ", upper_, "_VARIANT == ", v + 1,
                  v == plainest_ ? cat(" || ", upper_, "_VARIANT == 0") : "", "\n#define ", upper_, "_ARENA_BYTES ",
                  arena_of(package_.variants[v]), "\n#define ", upper_, "_WEIGHT_BYTES ",
                  weights_of(package_.variants[v]), "\n");
    }
    text += "#endif\n\n";
    const auto sizes = [&](const std::vector<std::string>& names, const std::vector<Type>& types) {
      for (size_t i = 0; i < names.size(); ++i)
        text += cat("#define ", upper_, "_", upper(names[i]), "_ELEMENTS ", element_count(types[i].fixed_shape()),
                    " /* ", types[i].text(), " */\n");
    };
    sizes(inputs_, package_.input_types);
    sizes(outputs_, package_.output_types);
    return text + cat("\n", signature(), ";\n\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
  }

  // The variants that take something, as the preprocessor asks; "" for all.
  std::string used_by(const std::vector<size_t>& variants) const {
    if (variants.size() == package_.variants.size()) return "";
    std::vector<std::string> conditions;
    for (size_t v : variants) {
      conditions.push_back(cat(upper_, "_VARIANT == ", v + 1));
      if (v == plainest_) conditions.push_back(cat(upper_, "_VARIANT == 0"));
    }
    return join(conditions, " || ");
  }

  std::string source() const {
    std::string text =
        cat("/* ", name_, ": kernels, weights and ", name_, "_run(); see ", name_, ".h. */\n#include \"", name_,
            ".h\"\n\n#include <math.h>\n#include <string.h>\n\n",
            "#if defined(__GNUC__)\n#define DNN_HELPER inline __attribute__((unused))\n"
            "#define DNN_KERNEL __attribute__((noinline, unused))\n#define DNN_ALIGNED __attribute__((aligned(64)))\n"
            "#else\n#define DNN_HELPER inline\n#define DNN_KERNEL\n#define DNN_ALIGNED\n#endif\n"
            "\n/* Kernels that store integers round each product before it is added, whatever others may fuse. */\n"
            "#if defined(__clang__)\n#define DNN_EXACT\n#define DNN_EXACT_BODY _Pragma(\"clang fp contract(off)\")\n"
            "#elif defined(__GNUC__)\n#define DNN_EXACT __attribute__((optimize(\"fp-contract=off\")))\n"
            "#define DNN_EXACT_BODY\n#else\n#define DNN_EXACT\n"
            "#define DNN_EXACT_BODY _Pragma(\"STDC FP_CONTRACT OFF\")\n#endif\n");
    text += level_.contract ? "#define DNN_VECTOR_MATH\n"
                            : "#if defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n#endif\n";
    std::map<int64_t, std::vector<size_t>> users;
    for (size_t v = 0; v < package_.variants.size(); ++v) {
      for (int64_t i : constants_of(package_.variants[v])) users[i].push_back(v);
    }
    for (const auto& [i, variants] : users) {
      const std::string condition = used_by(variants);
      const Tensor& tensor = constant(i);
      text += cat("\n", condition.empty() ? "" : "#if " + condition + "\n", "static const ", c_type(tensor.dtype()),
                  " w", i, "[", std::max<int64_t>(1, tensor.size()), "] DNN_ALIGNED = {\n",
                  tensor.size() == 0 ? "0" : initializer(tensor), "};\n", condition.empty() ? "" : "#endif\n");
    }
    text += cat("\n#if ", upper_,
                "_ARENA_BYTES > 0\n/* As a union, so that it is aligned for any element. */\nstatic union {\n",
                "  double d;\n  int64_t i;\n  unsigned char bytes[", upper_,
                "_ARENA_BYTES];\n} arena DNN_ALIGNED;\n#endif\n");
    for (size_t v = 0; v < package_.variants.size(); ++v) {
      const auto part = [&](size_t number, const std::string& kernels) {
        text += cat("\n#if ", upper_, "_VARIANT == ", number, "\n",
                    replaced(kernels, "static inline ", "static DNN_HELPER "), "#endif\n");
      };
      if (v == plainest_) part(0, options_.texts[v].scalars);
      part(v + 1, options_.texts[v].vectors);
    }
    for (size_t v = 0; v < package_.variants.size(); ++v) text += run_function(v);
    return text;
  }

  std::string address(const Argument& a, const Variant& variant) const {
    const size_t at = a.at;
    switch (a.kind) {
      case Argument::Kind::Arena: return cat("arena.bytes + ", a.at);
      case Argument::Kind::Sample: return cat("arena.bytes + ", variant.arena_bytes + a.at);
      case Argument::Kind::Constant: return cat("(void*)w", a.at);
      case Argument::Kind::Input: return "(void*)" + inputs_[at];
      case Argument::Kind::Output: return outputs_[at];
      default: fail_internal("a kernel argument has no address");
    }
  }

  std::string call(const Variant& variant, const Step& step, const std::string& indent) const {
    std::vector<std::string> arguments;
    for (size_t a = 0; a < step.arguments.size(); ++a) {
      std::string text = address(step.arguments[a], variant);
      if (step.samples > 1 && step.strides[a] != 0) text = cat("(char*)(", text, ") + s * ", step.strides[a]);
      arguments.push_back(text);
    }
    const size_t kernel = step.kernel;
    return cat(indent, "{\n", indent, "  void* const args[] = {", join(arguments), "};\n", indent, "  ",
               variant.kernels[kernel].name, "(args, 0, ", variant.code.tasks[kernel], ");\n", indent, "}\n");
  }

  // An output that no kernel writes to the caller's memory.
  std::string copy_out(const Variant& variant, size_t i, std::string* kernels) const {
    const ValueId id = variant.graph->outputs[i];
    const Placement& place = variant.values[id];
    if (place.where.kind == Argument::Kind::Output && place.where.at == static_cast<int64_t>(i)) return "";
    if (place.where.kind == Argument::Kind::Sample)
      fail_unsupported("no C code for outputs of samples that go on their own; use --batch 1");
    const Type& type = package_.output_types[i];
    const std::string from = address(place.where, variant);
    const loops::Layout layout = loops::Layout::parse(place.layout);
    const Shape shape = type.fixed_shape();
    if (layout.row_major())
      return cat("  memcpy(", outputs_[i], ", ", from, ", ",
                 element_count(shape) * static_cast<int64_t>(dtype_size(type.dtype)), ");\n");
    const auto buffer = [&](const char* name, const loops::Layout& l) {
      return std::make_shared<const loops::Buffer>(loops::Buffer{name, type.dtype, shape, l, loops::Scope::Global});
    };
    const loops::BufferRef x = buffer("x", layout), y = buffer("y", {});
    std::vector<loops::Expr> at;
    for (size_t axis = 0; axis < shape.size(); ++axis) at.push_back(loops::variable(cat("d", axis)));
    loops::Kernel kernel;
    kernel.name = cat("copy_out_", i);
    kernel.arguments = {y, x};
    kernel.body = loops::store(y, at, loops::load(x, at));
    for (size_t axis = shape.size(); axis-- > 0;) kernel.body = loops::loop(cat("d", axis), shape[axis], kernel.body);
    *kernels += "\n" + codegen::print_kernel(kernel, codegen::static_c_vocabulary(false));
    return cat("  {\n    void* const args[] = {", outputs_[i], ", ", from, "};\n    ", kernel.name,
               "(args, 0, 1);\n  }\n");
  }

  std::string run_function(size_t v) const {
    const Variant& variant = package_.variants[v];
    std::string body, kernels;
    for (size_t i = 0; i < variant.steps.size(); ++i) {
      if (variant.steps[i].samples <= 1) {
        body += call(variant, variant.steps[i], "  ");
        continue;
      }
      body += cat("  for (int64_t s = 0; s < ", variant.steps[i].samples, "; ++s) {\n");
      while (true) {
        body += call(variant, variant.steps[i], "    ");
        if (!variant.joins_next(i)) break;
        ++i;
      }
      body += "  }\n";
    }
    for (size_t i = 0; i < outputs_.size(); ++i) body += copy_out(variant, i, &kernels);
    // As in packages of the level: numbers below the smallest normal one count as 0.
    const char* flush_on =
        "#if defined(__GNUC__) && defined(__SSE2__)\n  const unsigned saved = __builtin_ia32_stmxcsr();\n"
        "  __builtin_ia32_ldmxcsr(saved | 0x8040u);\n#elif defined(__GNUC__) && defined(__aarch64__)\n  uint64_t "
        "saved;\n"
        "  __asm__ volatile(\"mrs %0, fpcr\" : \"=r\"(saved));\n  __asm__ volatile(\"msr fpcr, %0\" : : \"r\"(saved | "
        "(1u << 24)));\n#endif\n";
    const char* flush_off =
        "#if defined(__GNUC__) && defined(__SSE2__)\n  __builtin_ia32_ldmxcsr(saved);\n"
        "#elif defined(__GNUC__) && defined(__aarch64__)\n  __asm__ volatile(\"msr fpcr, %0\" : : "
        "\"r\"(saved));\n#endif\n";
    const bool flush = level_.flush_denormals;
    const std::string condition = used_by({v});
    return cat(condition.empty() ? "" : cat("\n#if ", condition), "\n", kernels, kernels.empty() ? "" : "\n",
               signature(), " {\n", flush ? flush_on : "", body, flush ? flush_off : "", "}\n",
               condition.empty() ? "" : "#endif\n");
  }

  std::string test() const {
    std::string text =
        cat("/* Feeds ", name_,
            "_run() pseudo-random numbers and compares with what dnn-infer's package gave. With an argument it also\n"
            "   runs that many times and prints how long one run took. Exit code 1: outputs differ by more than 1e-4 "
            "of the largest. */\n#include \"",
            name_,
            ".h\"\n\n#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include "
            "<time.h>\n\n",
            kFill, "\n");
    for (size_t i = 0; i < inputs_.size(); ++i)
      text += cat("static ", c_type(package_.input_types[i].dtype), " ", inputs_[i], "[", upper_, "_",
                  upper(inputs_[i]), "_ELEMENTS];\n");
    for (size_t i = 0; i < outputs_.size(); ++i)
      text += cat("static ", c_type(package_.output_types[i].dtype), " ", outputs_[i], "[", upper_, "_",
                  upper(outputs_[i]), "_ELEMENTS];\n");
    const auto first_run =
        std::find_if(options_.expected.begin(), options_.expected.end(), [](const auto& e) { return !e.empty(); });
    DNN_CHECK(first_run != options_.expected.end());
    for (size_t v = 0; v < package_.variants.size(); ++v) {
      const std::vector<Tensor>& expected = options_.expected[v].empty() ? *first_run : options_.expected[v];
      const std::string condition = used_by({v});
      if (!condition.empty()) text += cat("#if ", condition, "\n");
      for (size_t i = 0; i < outputs_.size(); ++i)
        text += cat("static const ", c_type(package_.output_types[i].dtype), " expected_", outputs_[i], "[", upper_,
                    "_", upper(outputs_[i]), "_ELEMENTS] = {\n", initializer(expected[i]), "};\n");
      if (!condition.empty()) text += "#endif\n";
    }
    text +=
        "\nint main(int argc, char** argv) {\n  const int runs = argc > 1 ? atoi(argv[1]) : 0;\n  int same = 1;\n  "
        "double worst = 0;\n  size_t i;\n";
    const auto loop = [&](const std::string& name, const std::string& body) {
      text += cat("  for (i = 0; i < ", upper_, "_", upper(name), "_ELEMENTS; ++i) ", body, "\n");
    };
    for (size_t i = 0; i < inputs_.size(); ++i)
      loop(inputs_[i], cat(inputs_[i], "[i] = ",
                           filling(package_.input_types[i].dtype, c_type(package_.input_types[i].dtype)), ";"));
    std::vector<std::string> arguments = inputs_;
    arguments.insert(arguments.end(), outputs_.begin(), outputs_.end());
    const std::string run = cat(name_, "_run(", join(arguments), ");\n");
    text += "  " + run;
    for (const std::string& out : outputs_) {
      text +=
          cat("  if (memcmp(", out, ", expected_", out, ", sizeof ", out,
              ") != 0) {\n    double most = 0, apart = 0;\n    same = 0;\n    for (i = 0; i < ", upper_, "_",
              upper(out), "_ELEMENTS; ++i) {\n      const double a = (double)", out, "[i], b = (double)expected_", out,
              "[i];\n      if (fabs(b) > most) most = fabs(b);\n      if (!(fabs(a - b) <= apart) && !(a != a && b != "
              "b)) apart = fabs(a - b);\n"
              "    }\n    if (!(apart <= worst * most)) worst = most > 0 ? apart / most : apart > 0 ? 1 : 0;\n  }\n");
    }
    text += cat("  if (same) printf(\"", name_, ": same bits\\n\");\n  else printf(\"", name_,
                ": differs by at most %g of the largest output\\n\", worst);\n  if (runs > 0) {\n    const clock_t "
                "start = clock();\n    int n;\n    for (n = 0; n < runs; ++n) ",
                run, "    printf(\"", name_,
                ": %.0f ns a run\\n\", (double)(clock() - start) / CLOCKS_PER_SEC / runs * 1e9);\n  }\n  return same "
                "|| worst <= 1e-4 ? 0 : 1;\n}\n");
    return text;
  }

  // With `contract` for where multiply-adds may be fused. Clang's "fast" does not ask DNN_EXACT_BODY; GCC's "on" is "off".
  std::string build_options(const char* contract) const {
    return cat("-O2 -fno-strict-aliasing -fwrapv -fno-math-errno -fno-trapping-math -ffp-contract=",
               level_.contract ? contract : "off");
  }

  std::string makefile() const {
    std::string text =
        cat("# Builds ", name_,
            "_test, which checks the code on this machine. For another: make CC=aarch64-linux-gnu-gcc\n");
    for (size_t v : best_first_) {
      if (!row_of(v)->flags.empty())
        text += cat("# The code for ", row_of(v)->name, ": make ARCH=\"", join(row_of(v)->flags, " "), "\"\n");
    }
    if (level_.contract) text += "CONTRACT = $(if $(findstring clang,$(shell $(CC) --version)),on,fast)\n";
    return text + cat("CC = cc\nARCH =\nCFLAGS = -std=c99 -Wall -Wextra ", build_options("$(CONTRACT)"), "\n\n", name_,
                      "_test: ", name_, "_test.c ", name_, ".c ", name_, ".h\n\t$(CC) $(CFLAGS) $(ARCH) -o $@ ", name_,
                      "_test.c ", name_, ".c -lm\n\ncheck: ", name_, "_test\n\t./", name_, "_test\n\nclean:\n\trm -f ",
                      name_, "_test\n\n.PHONY: check clean\n");
  }

  std::string cmake() const {
    return cat("# ", name_, " as a library for other CMake projects: add_subdirectory() and link ", name_,
               ".\ncmake_minimum_required(VERSION 3.10)\nproject(", name_, " C)\nadd_library(", name_, " STATIC ",
               name_, ".c)\nset_target_properties(", name_, " PROPERTIES C_STANDARD 99)\ntarget_include_directories(",
               name_,
               " PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})\nif(CMAKE_C_COMPILER_ID MATCHES \"GNU|Clang\")\n"
               "  target_compile_options(",
               name_, " PRIVATE ", build_options("$<IF:$<C_COMPILER_ID:GNU>,fast,on>"),
               ")\nendif()\nif(UNIX)\n  target_link_libraries(", name_, " PUBLIC m)\nendif()\nadd_executable(", name_,
               "_test ", name_, "_test.c)\ntarget_link_libraries(", name_, "_test PRIVATE ", name_, ")\n");
  }

  const Package& package_;
  const EmitCOptions& options_;
  const Level& level_;
  const std::string name_, upper_;
  size_t plainest_ = 0;             // the variant whose plan scalars follow
  std::vector<size_t> best_first_;  // variants
  std::vector<std::string> inputs_, outputs_;
};

}  // namespace

std::vector<Tensor> emit_c_inputs(const Package& package) {
  Numbers numbers;
  std::vector<Tensor> inputs;
  for (const Type& type : package.input_types) {
    if (!type.fixed())
      fail_unsupported("no C code for an input of ", type.text(), ": bind its shape with --shape or --batch");
    Tensor tensor(type.dtype, type.fixed_shape());
    std::byte* to = tensor.mutable_bytes();
    const size_t bytes = dtype_size(type.dtype);
    for (int64_t i = 0; i < tensor.size(); ++i, to += bytes) {
      const uint32_t n = numbers.next();
      const float number = static_cast<float>(n) / kHalfRange - 1.0f;
      const double wide = static_cast<double>(number);
      const uint64_t integer = n & (takes_bytes(type.dtype) ? 255 : 1);  // its low bytes come first
      if (type.dtype == DType::Float32) {
        std::memcpy(to, &number, bytes);
      } else if (type.dtype == DType::Float64) {
        std::memcpy(to, &wide, bytes);
      } else if (is_float(type.dtype) || type.dtype == DType::String) {
        fail_unsupported("no C code for an input of ", type.text());
      } else {
        std::memcpy(to, &integer, bytes);
      }
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

EmittedC emit_c(const Package& package, const EmitCOptions& options) { return Emitter(package, options).run(); }

std::string c_identifier(const std::string& text) {
  std::string result;
  for (char c : text) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (word || (!result.empty() && result.back() != '_'))
      result += word ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : '_';
  }
  while (!result.empty() && result.back() == '_') result.pop_back();
  if (result.empty()) return "net";
  if (result[0] >= '0' && result[0] <= '9') result = "net_" + result;
  return result;
}

}  // namespace dnn
