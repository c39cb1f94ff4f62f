// outputs: what a reference kernel returns, typed and allocated as infer() says once it has checked the actual inputs.
#pragma once
#include "ops/op.h"

namespace dnn {

// The output types for the inputs at hand; throws what `infer` throws (Malformed for inputs that do not fit together).
// Kernels start with this: it is the one place where an operator's shapes are checked and computed.
std::vector<Type> infer_outputs(const ReferenceContext& context, void (*infer)(InferContext&));

// A zero-filled tensor for output i, whose type infer() must have found in full.
Tensor allocate_output(const ReferenceContext& context, void (*infer)(InferContext&), size_t i = 0);

// Malformed unless input i, when present, has that dtype.
void expect_dtype(const InferContext& context, size_t i, DType dtype);
// Unsupported unless input i's dtype, when known, is float16, bfloat16, float32 or float64.
void expect_float(const InferContext& context, size_t i);

}  // namespace dnn
