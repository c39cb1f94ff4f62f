// Broadcasting of matrix products; see matmul_shape.h.
#include "ops/matmul_shape.h"

#include "ops/elementwise.h"

namespace dnn {
namespace {

std::vector<Dim> matmul_dims(const Node& node, std::vector<Dim> a, std::vector<Dim> b) {
  const std::string shown = cat(Type(DType::Undefined, a).text(), " and ", Type(DType::Undefined, b).text());
  if (a.empty() || b.empty()) fail_malformed(node.label(), ": operands ", shown, " do not multiply: scalars");
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), Dim(1));
  if (column) b.emplace_back(1);
  const Dim ka = a.back(), kb = b[b.size() - 2];
  if (ka.fixed() && kb.fixed() && ka.size != kb.size)
    fail_malformed(node.label(), ": operands ", shown, " do not multiply");
  std::vector<Dim> out = broadcast_dims(node, {a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  if (!row) out.push_back(a[a.size() - 2]);
  if (!column) out.push_back(b.back());
  return out;
}

// Offsets of an operand's matrices for each matrix of the product.
std::vector<int64_t> matrix_offsets(const Shape& batch, const Shape& operand, int64_t matrix_size) {
  std::vector<int64_t> offsets = broadcast_offsets(batch, {operand})[0];
  for (int64_t& offset : offsets) offset *= matrix_size;
  return offsets;
}

}  // namespace

MatmulShape::MatmulShape(const Node& node, const Shape& a, const Shape& b) {
  for (const Dim& dim : matmul_dims(node, {a.begin(), a.end()}, {b.begin(), b.end()})) output.push_back(dim.size);
  m = a.size() == 1 ? 1 : a[a.size() - 2];
  n = b.size() == 1 ? 1 : b.back();
  depth = a.back();
  const Shape a_batch(a.begin(), a.end() - (a.size() == 1 ? 1 : 2)),
      b_batch(b.begin(), b.end() - (b.size() == 1 ? 1 : 2));
  const Shape batch = broadcast_shape(node, a_batch, b_batch);
  a_offsets = matrix_offsets(batch, a_batch, m * depth);
  b_offsets = matrix_offsets(batch, b_batch, depth * n);
}

void infer_matmul(InferContext& context, size_t a, size_t b, DType dtype) {
  Type type;
  type.dtype = dtype;
  if (context.has_shape(a) && context.has_shape(b))
    type.shape = matmul_dims(context.node, context.shape(a), context.shape(b));
  context.set_output(0, std::move(type));
}

}  // namespace dnn
