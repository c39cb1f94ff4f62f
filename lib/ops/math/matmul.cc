// MatMul: numpy's matmul: matrices in the last two axes, the axes before them broadcast, vectors as rows or columns.
//
// Order (reference, and compiled at -O0): each element is summed over k from 0 on.
#include "ops/matmul_shape.h"
#include "ops/multiply.h"
#include "ops/outputs.h"

namespace dnn {
namespace {

void infer(InferContext& context) {
  const DType dtype = context.input(0).dtype;
  expect_dtype(context, 1, dtype);
  infer_matmul(context, 0, 1, dtype);
}

template <class T>
void compute(ReferenceContext& context) {
  const Tensor &a = context.input(0), &b = context.input(1);
  Tensor y = allocate_output(context, infer);
  const MatmulShape shape(context.node, a.shape(), b.shape());
  T* out = y.mutable_data<T>();
  for (size_t batch = 0; batch < shape.a_offsets.size(); ++batch, out += shape.m * shape.n) {
    const MatrixView<T> left{a.data<T>() + shape.a_offsets[batch], shape.depth, 1};
    const MatrixView<T> right{b.data<T>() + shape.b_offsets[batch], shape.n, 1};
    multiply<Sum<T>>(context.pool, shape.m, shape.n, shape.depth, left, right,
                     [&](int64_t i, int64_t j, Sum<T> sum) { out[i * shape.n + j] = static_cast<T>(sum); });
  }
  context.outputs[0] = std::move(y);
}

void reference(ReferenceContext& context) {
  dispatch_numeric(context.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T> && sizeof(T) < 4) {
      fail_unsupported("no MatMul of ", dtype_name(kDTypeOf<T>), " tensors");
    } else {
      compute<T>(context);
    }
  });
}

// Loops b0.. over the batch axes, i, j and the reduction k; a vector operand has no i (left) or j (right).
void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef a = context.inputs[0], b = context.inputs[1], y = context.outputs[0];
  const DType dtype = a->dtype;
  if (dtype != DType::Float32 && dtype != DType::Float64) return;
  const bool row = a->shape.size() == 1, column = b->shape.size() == 1;
  const Expr i = variable("i"), j = variable("j"), k = variable("k");
  const size_t n_batch = y->shape.size() - (row ? 0 : 1) - (column ? 0 : 1);
  std::vector<Expr> batch, y_index;
  for (size_t axis = 0; axis < n_batch; ++axis) batch.push_back(variable(cat("b", axis)));
  const auto operand = [&](const BufferRef& buffer, const std::vector<Expr>& last) {
    const Shape leading(buffer->shape.begin(), buffer->shape.end() - static_cast<std::ptrdiff_t>(last.size()));
    std::vector<Expr> indices;
    for (size_t axis = 0; axis < leading.size(); ++axis) {
      indices.push_back(leading[axis] == 1 ? constant_int(DType::Int64, 0) : batch[n_batch - leading.size() + axis]);
    }
    indices.insert(indices.end(), last.begin(), last.end());
    return load(buffer, indices);
  };
  const Expr product = operand(a, row ? std::vector<Expr>{k} : std::vector<Expr>{i, k}) *
                       operand(b, column ? std::vector<Expr>{k} : std::vector<Expr>{k, j});
  y_index = batch;
  if (!row) y_index.push_back(i);
  if (!column) y_index.push_back(j);
  const BufferRef sum = local_buffer("sum", dtype);
  Stmt body =
      block({alloc(sum), store(sum, {}, constant(dtype, 0)),
             loop("k", a->shape.back(), store(sum, {}, load(sum, {}) + product)), store(y, y_index, load(sum, {}))});
  if (!column) body = loop("j", b->shape.back(), std::move(body));
  if (!row) body = loop("i", a->shape[a->shape.size() - 2], std::move(body));
  for (size_t axis = n_batch; axis-- > 0;) body = loop(cat("b", axis), y->shape[axis], std::move(body));
  context.emit("matmul", std::move(body));
}

double flops(const Node&, const std::vector<Shape>& inputs, const std::vector<Shape>& outputs) {
  return 2.0 * static_cast<double>(inputs[0].back()) * static_cast<double>(element_count(outputs[0]));
}

}  // namespace

OpDef define_MatMul() {
  OpDef op;
  op.name = "MatMul";
  op.since = 13;
  op.min_inputs = op.max_inputs = 2;
  op.traits = {Trait::Weighted};
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.flops = flops;
  return op;
}

}  // namespace dnn
