// The source file of a network in C; see emit_c_parts.h.
#include <algorithm>
#include <map>

#include "base/text.h"
#include "codegen/print.h"
#include "compile/c_literals.h"
#include "compile/emit_c_parts.h"
#include "loops/layout.h"

namespace dnn {
namespace {

// As in packages of the level: numbers below the smallest normal one count as 0.
constexpr const char* kFlushOn =
    "#if defined(__GNUC__) && defined(__SSE2__)\n  const unsigned saved = __builtin_ia32_stmxcsr();\n"
    "  __builtin_ia32_ldmxcsr(saved | 0x8040u);\n#elif defined(__GNUC__) && defined(__aarch64__)\n  uint64_t "
    "saved;\n"
    "  __asm__ volatile(\"mrs %0, fpcr\" : \"=r\"(saved));\n  __asm__ volatile(\"msr fpcr, %0\" : : \"r\"(saved | "
    "(1u << 24)));\n#endif\n";
constexpr const char* kFlushOff =
    "#if defined(__GNUC__) && defined(__SSE2__)\n  __builtin_ia32_ldmxcsr(saved);\n"
    "#elif defined(__GNUC__) && defined(__aarch64__)\n  __asm__ volatile(\"msr fpcr, %0\" : : "
    "\"r\"(saved));\n#endif\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// The constants that variants read, each under the condition that one of them is chosen.
std::string weights(const CNet& net) {
  std::string text;
  std::map<int64_t, std::vector<size_t>> users;
  for (size_t v = 0; v < net.package.variants.size(); ++v) {
    for (int64_t i : constants_of(net.package.variants[v])) users[i].push_back(v);
  }
  for (const auto& [i, variants] : users) {
    const std::string condition = net.used_by(variants);
    const Tensor& tensor = net.constant(i);
    text += cat("\n", condition.empty() ? "" : "#if " + condition + "\n", "static const ", c_type(tensor.dtype()), " w",
                i, "[", std::max<int64_t>(1, tensor.size()), "] DNN_ALIGNED = {\n",
                tensor.size() == 0 ? "0" : c_initializer(tensor), "};\n", condition.empty() ? "" : "#endif\n");
  }
  return text;
}

std::string address(const CNet& net, const Argument& a, const Variant& variant) {
  const size_t at = a.at;
  switch (a.kind) {
    case Argument::Kind::Arena: return cat("arena.bytes + ", a.at);
    case Argument::Kind::Sample: return cat("arena.bytes + ", variant.arena_bytes + a.at);
    case Argument::Kind::Constant: return cat("(void*)w", a.at);
    case Argument::Kind::Input: return "(void*)" + net.inputs[at];
    case Argument::Kind::Output: return net.outputs[at];
    default: fail_internal("a kernel argument has no address");
  }
}

std::string call(const CNet& net, const Variant& variant, const Step& step, const std::string& indent) {
  std::vector<std::string> arguments;
  for (size_t a = 0; a < step.arguments.size(); ++a) {
    std::string text = address(net, step.arguments[a], variant);
    if (step.samples > 1 && step.strides[a] != 0) text = cat("(char*)(", text, ") + s * ", step.strides[a]);
    arguments.push_back(text);
  }
  const size_t kernel = step.kernel;
  return cat(indent, "{\n", indent, "  void* const args[] = {", join(arguments), "};\n", indent, "  ",
             variant.kernels[kernel].name, "(args, 0, ", variant.code.tasks[kernel], ");\n", indent, "}\n");
}

// An output that no kernel writes to the caller's memory.
std::string copy_out(const CNet& net, const Variant& variant, size_t i, std::string* kernels) {
  const ValueId id = variant.graph->outputs[i];
  const Placement& place = variant.values[id];
  if (place.where.kind == Argument::Kind::Output && place.where.at == static_cast<int64_t>(i)) return "";
  if (place.where.kind == Argument::Kind::Sample)
    fail_unsupported("no C code for outputs of samples that go on their own; use --batch 1");
  const Type& type = net.package.output_types[i];
  const std::string from = address(net, place.where, variant);
  const loops::Layout layout = loops::Layout::parse(place.layout);
  const Shape shape = type.fixed_shape();
  if (layout.row_major())
    return cat("  memcpy(", net.outputs[i], ", ", from, ", ",
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
  return cat("  {\n    void* const args[] = {", net.outputs[i], ", ", from, "};\n    ", kernel.name,
             "(args, 0, 1);\n  }\n");
}

std::string run_function(const CNet& net, size_t v) {
  const Variant& variant = net.package.variants[v];
  std::string body, kernels;
  for (size_t i = 0; i < variant.steps.size(); ++i) {
    if (variant.steps[i].samples <= 1) {
      body += call(net, variant, variant.steps[i], "  ");
      continue;
    }
    body += cat("  for (int64_t s = 0; s < ", variant.steps[i].samples, "; ++s) {\n");
    while (true) {
      body += call(net, variant, variant.steps[i], "    ");
      if (!variant.joins_next(i)) break;
      ++i;
    }
    body += "  }\n";
  }
  for (size_t i = 0; i < net.outputs.size(); ++i) body += copy_out(net, variant, i, &kernels);
  const bool flush = net.level.flush_denormals;
  const std::string condition = net.used_by({v});
  return cat(condition.empty() ? "" : cat("\n#if ", condition), "\n", kernels, kernels.empty() ? "" : "\n",
             net.signature(), " {\n", flush ? kFlushOn : "", body, flush ? kFlushOff : "", "}\n",
             condition.empty() ? "" : "#endif\n");
}

}  // namespace

std::string c_source(const CNet& net) {
  std::string text =
      cat("/* ", net.name, ": kernels, weights and ", net.name, "_run(); see ", net.name, ".h. */\n#include \"",
          net.name, ".h\"\n\n#include <math.h>\n#include <string.h>\n\n",
          "#if defined(__GNUC__)\n#define DNN_HELPER inline __attribute__((unused))\n"
          "#define DNN_KERNEL __attribute__((noinline, unused))\n#define DNN_ALIGNED __attribute__((aligned(64)))\n"
          "#else\n#define DNN_HELPER inline\n#define DNN_KERNEL\n#define DNN_ALIGNED\n#endif\n"
          "\n/* Kernels that store integers round each product before it is added, whatever others may fuse. */\n"
          "#if defined(__clang__)\n#define DNN_EXACT\n#define DNN_EXACT_BODY _Pragma(\"clang fp contract(off)\")\n"
          "#elif defined(__GNUC__)\n#define DNN_EXACT __attribute__((optimize(\"fp-contract=off\")))\n"
          "#define DNN_EXACT_BODY\n#else\n#define DNN_EXACT\n"
          "#define DNN_EXACT_BODY _Pragma(\"STDC FP_CONTRACT OFF\")\n#endif\n");
  text += net.level.contract ? "#define DNN_VECTOR_MATH\n"
                             : "#if defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n#endif\n";
  text += weights(net);
  text += cat("\n#if ", net.upper,
              "_ARENA_BYTES > 0\n/* As a union, so that it is aligned for any element. */\nstatic union {\n",
              "  double d;\n  int64_t i;\n  unsigned char bytes[", net.upper,
              "_ARENA_BYTES];\n} arena DNN_ALIGNED;\n#endif\n");
  for (size_t v = 0; v < net.package.variants.size(); ++v) {
    const auto part = [&](size_t number, const std::string& kernels) {
      text += cat("\n#if ", net.upper, "_VARIANT == ", number, "\n",
                  replaced(kernels, "static inline ", "static DNN_HELPER "), "#endif\n");
    };
    if (v == net.plainest) part(0, net.options.texts[v].scalars);
    part(v + 1, net.options.texts[v].vectors);
  }
  for (size_t v = 0; v < net.package.variants.size(); ++v) text += run_function(net, v);
  return text;
}

}  // namespace dnn
