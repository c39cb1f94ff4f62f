// The header of a network in C; see emit_c_parts.h.
#include "base/text.h"
#include "compile/emit_c_parts.h"

namespace dnn {
namespace {

// The preprocessor's condition for the code of an instruction set: the macros of its options, or any vectors.
std::string condition_of(const Isa& isa) {
  std::vector<std::string> macros;
  for (const std::string flag : isa.flags) {
    if (starts_with(flag, "-m") && flag.find('=') == std::string::npos)
      macros.push_back(cat("defined(__", upper_case(flag.substr(2)), "__)"));
  }
  for (const char* macro : isa.macros) macros.push_back(cat("defined(", macro, ")"));
  return macros.empty()
             ? "defined(__SSE2__) || defined(__ARM_NEON) || defined(__ALTIVEC__) || defined(__wasm_simd128__)"
             : join(macros, " && ");
}

std::string bits_note(const Level& level) {
  return level.contract ? "-ffp-contract=fast, Clang -ffp-contract=on (multiply-adds may be fused)"
                        : "-ffp-contract=off (multiply-adds stay apart)";
}

}  // namespace

std::string c_header(const CNet& net) {
  std::string text = cat(
      "/* ", net.name, ": a neural network in C99, as dnn-compile --emit-c -O", net.package.info.opt,
      " wrote it.\n\n   ", net.name,
      "_run() computes it. It allocates nothing and calls only libm. Its memory is a static arena of\n   ", net.upper,
      "_ARENA_BYTES, so one call at a time may run.\n\n   The compiler's options choose the code: vectors where it "
      "has them, else scalars, or always scalars with\n"
      "   -DDNN_SCALAR. To give the bits of the package of this level, compile with\n   ",
      bits_note(net.level), ". */\n#ifndef ", net.upper, "_H\n#define ", net.upper,
      "_H\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n#if !defined(__GNUC__) || "
      "defined(DNN_SCALAR)\n#define ",
      net.upper, "_VARIANT 0 /* scalars */\n");
  for (size_t v : net.best_first)
    text += cat("#elif ", condition_of(*net.row_of(v)), "\n#define ", net.upper, "_VARIANT ", v + 1, " /* ",
                net.row_of(v)->name, " */\n");
  text += cat("#else\n#define ", net.upper, "_VARIANT 0\n#endif\n\n");
  for (size_t v = 0; v < net.package.variants.size(); ++v) {
    text += cat(v == 0 ? "#if " : "#elif ", net.upper, "_VARIANT == ", v + 1,
                v == net.plainest ? cat(" || ", net.upper, "_VARIANT == 0") : "", "\n#define ", net.upper,
                "_ARENA_BYTES ", arena_of(net.package.variants[v]), "\n#define ", net.upper, "_WEIGHT_BYTES ",
                net.weights_of(net.package.variants[v]), "\n");
  }
  text += "#endif\n\n";
  const auto sizes = [&](const std::vector<std::string>& names, const std::vector<Type>& types) {
    for (size_t i = 0; i < names.size(); ++i)
      text += cat("#define ", net.upper, "_", upper_case(names[i]), "_ELEMENTS ", element_count(types[i].fixed_shape()),
                  " /* ", types[i].text(), " */\n");
  };
  sizes(net.inputs, net.package.input_types);
  sizes(net.outputs, net.package.output_types);
  return text + cat("\n", net.signature(), ";\n\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

}  // namespace dnn
