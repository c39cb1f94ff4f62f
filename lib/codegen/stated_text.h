// Stated functions (loops/stated.h) as text, of scalars and vectors.
#pragma once
#include <cstdint>
#include <string>

#include "loops/ir.h"

namespace dnn::codegen {

// How a language says what the functions are made of.
struct StatedWords {
  std::string head;          // before the type of the result, as "static inline"
  std::string type, suffix;  // "f32x16" and "f32x16", "float" and "f32"
  std::string body;          // what opens the body, such as a pragma
  std::string splat;         // a number as a value of the type: "splat_f32x16"; empty: numbers are such values
  bool calls = false;        // products and sums by __fmul_rn() and __fadd_rn(), as operators may be fused
};
// Those that `kernels` calls. Multiply and add are two operations of the text; what may fuse them has to be told not to.
std::string stated_functions_text(const StatedWords& words, const std::string& kernels);

// True where a kernel calls one, by its text or body; its products are then rounded before they are added.
bool calls_stated_functions(const std::string& text);
bool has_stated_functions(const loops::Stmt& body);

}  // namespace dnn::codegen
