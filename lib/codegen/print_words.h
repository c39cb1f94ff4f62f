// Words that the C-like languages share: numbers, operators and names of helper functions.
#pragma once
#include <string>

#include "loops/ir.h"

namespace dnn::codegen {

// A floating-point number as a literal; negative ones in parentheses.
std::string float_text(DType dtype, double value);
// The name of the helper function for an operation without its type, "" where it has none: "max" of max_f32x16().
std::string helper_name(loops::Op op);
// The operator between two operands, "" where it has none.
std::string infix(loops::Op op);

}  // namespace dnn::codegen
