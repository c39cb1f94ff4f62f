// Arithmetic of loop expressions on single values, as evaluate() computes them.
//
// Float32 arithmetic rounds after each operation. Integers wrap to their width. All functions throw Internal for what an
// operation does not take.
#pragma once
#include "loops/ir.h"

namespace dnn::loops {

// One scalar; which member counts follows from the dtype. Types without arithmetic here (the 8-bit-stored ones) travel as
// their bits in `i`, float16 and bfloat16 as the float that they are.
union Scalar {
  float f32;
  double f64;
  int64_t i;
};

// An integer as a value of that type, wrapped to its width.
int64_t wrap(DType dtype, int64_t value);

Scalar constant_of(const ExprNode& expr);
// `operand` is the type of `a` and `b`; comparisons give a bool.
Scalar unary_value(Op op, DType operand, Scalar a);
Scalar binary_value(Op op, DType operand, Scalar a, Scalar b);
Scalar fma_value(DType operand, Scalar a, Scalar b, Scalar c);
Scalar cast_value(DType from, DType to, Scalar a);

}  // namespace dnn::loops
