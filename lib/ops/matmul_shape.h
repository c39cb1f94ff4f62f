// MatmulShape: the broadcasting of matrix products (numpy's matmul), shared by MatMul and its integer kin.
#pragma once
#include "ops/op.h"

namespace dnn {

struct MatmulShape {
  // Throws Malformed where the operands do not multiply.
  MatmulShape(const Node& node, const Shape& a, const Shape& b);
  int64_t m, n, depth;                        // 1 for the missing axis of a vector
  std::vector<int64_t> a_offsets, b_offsets;  // of each pair of matrices, in the output's order
  Shape output;
};

// Sets output 0 to `dtype` and the product's shape for the matrices in inputs a and b.
void infer_matmul(InferContext& context, size_t a, size_t b, DType dtype);

}  // namespace dnn
