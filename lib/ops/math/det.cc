// Det: determinants of a batch of square matrices, by Gaussian elimination with partial pivoting in float64.
#include <cmath>

#include "ops/op.h"
#include "tensor/dispatch.h"

namespace dnn::det_ops {
namespace {

void infer(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  if (context.has_shape(0)) {
    const std::vector<Dim>& shape = context.shape(0);
    const size_t rank = shape.size();
    if (rank < 2 || (shape[rank - 1].fixed() && shape[rank - 2].fixed() && shape[rank - 1] != shape[rank - 2]))
      context.fail("the input ", context.input(0).text(), " holds no square matrices");
    type.shape.emplace(shape.begin(), shape.end() - 2);
  }
  context.set_output(0, std::move(type));
}

// Overwrites `a`, n x n row-major.
double determinant(double* a, int64_t n) {
  double product = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (std::fabs(a[i * n + k]) > std::fabs(a[pivot * n + k])) pivot = i;
    }
    if (pivot != k) {
      for (int64_t j = k; j < n; ++j) std::swap(a[k * n + j], a[pivot * n + j]);
      product = -product;
    }
    product *= a[k * n + k];
    if (a[k * n + k] == 0) return product;
    for (int64_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (int64_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return product;
}

void reference(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  const int rank = x.rank();
  if (rank < 2 || x.dim(rank - 1) != x.dim(rank - 2))
    context.fail("the input ", shape_text(x.shape()), " holds no square matrices");
  const int64_t n = x.dim(rank - 1);
  Tensor y(x.dtype(), Shape(x.shape().begin(), x.shape().end() - 2));
  dispatch_float(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* in = x.data<T>();
    T* out = y.mutable_data<T>();
    std::vector<double> matrix(n * n);
    for (int64_t i = 0; i < y.size(); ++i) {
      for (int64_t k = 0; k < n * n; ++k) matrix[k] = static_cast<double>(widen(in[i * n * n + k]));
      out[i] = static_cast<T>(static_cast<Compute<T>>(determinant(matrix.data(), n)));
    }
  });
  context.outputs[0] = std::move(y);
}

}  // namespace

OpDef define_Det() {
  OpDef op;
  op.name = "Det";
  op.since = 22;
  op.traits = kNoTraits;
  op.infer = infer;
  op.reference = reference;
  return op;
}

}  // namespace dnn::det_ops
