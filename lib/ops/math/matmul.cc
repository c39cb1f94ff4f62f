// MatMul: numpy's matmul: matrices in the last two axes, the axes before them broadcast, vectors as rows or columns.
//
// Order (reference, and compiled at -O0): each element is summed over k from 0 on.
#include "ops/gradient.h"
#include "ops/matmul_shape.h"
#include "ops/multiply.h"
#include "ops/outputs.h"

namespace dnn::matmul_ops {
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

// A vector stands for a matrix of one row (left) or one column (right).
void gradient(GradientContext& context) {
  GraphBuilder& build = context.build;
  const Shape a_shape = build.shape(context.input(0)), b_shape = build.shape(context.input(1));
  Shape a_matrix = a_shape, b_matrix = b_shape, y_matrix = build.shape(context.dy());
  if (b_shape.size() == 1) {
    b_matrix.push_back(1);
    y_matrix.push_back(1);
  }
  if (a_shape.size() == 1) {
    a_matrix.insert(a_matrix.begin(), 1);
    y_matrix.insert(y_matrix.end() - 1, 1);
  }
  const ValueId dy = reshape_to(build, context.dy(), y_matrix);
  const auto transposed = [&](ValueId v) {
    std::vector<int64_t> perm(build.shape(v).size());
    for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return build.transpose(v, perm);
  };
  const auto set = [&](size_t i, ValueId product, const Shape& matrix, const Shape& shape) {
    context.set(i, reshape_to(build, sum_to(build, product, matrix), shape));
  };
  if (context.wants(0)) {
    const ValueId b = transposed(reshape_to(build, context.input(1), b_matrix));
    set(0, build.emit("MatMul", {dy, b}), a_matrix, a_shape);
  }
  if (context.wants(1)) {
    const ValueId a = transposed(reshape_to(build, context.input(0), a_matrix));
    set(1, build.emit("MatMul", {a, dy}), b_matrix, b_shape);
  }
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
  op.gradient = gradient;
  return op;
}

}  // namespace dnn::matmul_ops
