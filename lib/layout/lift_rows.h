// Dense layers over the last axis of images that a model computes on a matrix of rows.
#pragma once
#include "graph/graph.h"

namespace dnn {

// A Reshape of [..., C] to rows of C, a product with a constant matrix, what works on each element alike, and the Reshape back
// become the same on [..., C]: MatMul, and Add for a Gemm's bias. The same numbers. Types must be inferred, and are
// afterwards.
void lift_rows(Graph& graph);

}  // namespace dnn
