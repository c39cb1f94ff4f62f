// MatMulInteger, QLinearMatMul: products of 8-bit matrices, summed in 32 bits (wrapping).
//
// QLinearMatMul: y = saturate(round(sum * (a_scale * b_scale / y_scale)) + y_zero_point), the factor and the product in
// float32, rounding to even. Scales and zero points are one for all, one per row of a or one per column of b.
#include "ops/matmul_shape.h"
#include "ops/multiply.h"
#include "ops/outputs.h"
#include "ops/quantization.h"
#include "tensor/budget.h"

namespace dnn::integer_matmul_ops {
namespace {

void expect_bytes(const InferContext& context, size_t i) {
  if (!context.has_input(i)) return;
  const DType dtype = context.input(i).dtype;
  if (dtype == DType::Undefined || dtype == DType::Int8 || dtype == DType::UInt8) return;
  fail_unsupported(context.node.label(), ": input ", i, " of ", dtype_name(dtype), ", int8 or uint8 expected");
}

void infer_integer(InferContext& context) {
  for (size_t i = 0; i < 2; ++i) {
    expect_bytes(context, i);
    expect_dtype(context, i + 2, context.input(i).dtype);
  }
  infer_matmul(context, 0, 1, DType::Int32);
}

// Inputs: a, its scale and zero point, b, its scale and zero point, y's scale and zero point.
void infer_quantized(InferContext& context) {
  for (size_t i : {0, 3, 7}) expect_bytes(context, i);
  expect_dtype(context, 2, context.input(0).dtype);
  expect_dtype(context, 5, context.input(3).dtype);
  for (size_t i : {1, 4, 6}) expect_float(context, i);
  infer_matmul(context, 0, 3, context.input(7).dtype);
}

// Numbers that belong to the rows of a (or the columns of b), one index per matrix row (column) of every batch.
struct PerLine {
  PerLine(const Node& node, const Tensor* tensor, const Shape& matrix, size_t axis_from_back) {
    if (tensor == nullptr) return;
    values = to_doubles(*tensor);
    if (tensor->size() == 1) return;
    Shape lines = matrix;
    const size_t other = lines.size() - (axis_from_back == 1 ? 2 : 1);
    if (matrix.size() >= 2) lines[other] = 1;
    const int64_t line = matrix.size() >= axis_from_back ? matrix[matrix.size() - axis_from_back] : 1;
    const bool vector = tensor->rank() == 1 && tensor->dim(0) == line;
    if (!vector && (matrix.size() < 2 || tensor->shape() != lines))
      fail_malformed(node.label(), ": scale or zero point ", shape_text(tensor->shape()), " does not fit ",
                     shape_text(matrix));
    per_line = true;
    repeat = vector ? line : 0;
  }
  // `line`: the row (column) counted through all matrices of the operand.
  double at(int64_t line) const {
    if (values.empty()) return 0;
    if (!per_line) return values[0];
    return values[repeat != 0 ? line % repeat : line];
  }
  std::vector<double> values;
  bool per_line = false;
  int64_t repeat = 0;
};

// The operand's elements minus their zero points, row-major.
BudgetVector<int32_t> centred(const Tensor& tensor, const PerLine& zero_points, int64_t rows, int64_t columns,
                              bool by_row) {
  const std::vector<int64_t> values = to_int64s(tensor);
  BudgetVector<int32_t> result(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t line = by_row ? at / columns : at / (rows * columns) * columns + at % columns;
    result[i] = static_cast<int32_t>(values[i] - static_cast<int64_t>(zero_points.at(line)));
  }
  return result;
}

// Calls store(batch, i, j, sum) for every element of the product, from any thread of `pool`.
template <class Store>
void product(ThreadPool* pool, const MatmulShape& shape, const BudgetVector<int32_t>& a, const BudgetVector<int32_t>& b,
             const Store& store) {
  for (size_t batch = 0; batch < shape.a_offsets.size(); ++batch) {
    const MatrixView<int32_t> left{a.data() + shape.a_offsets[batch], shape.depth, 1};
    const MatrixView<int32_t> right{b.data() + shape.b_offsets[batch], shape.n, 1};
    multiply<uint32_t>(pool, shape.m, shape.n, shape.depth, left, right,
                       [&](int64_t i, int64_t j, uint32_t sum) { store(batch, i, j, static_cast<int32_t>(sum)); });
  }
}

const Tensor* optional(const ReferenceContext& context, size_t i) {
  return context.has_input(i) ? context.inputs[i] : nullptr;
}

void integer(ReferenceContext& context) {
  const Tensor &a = context.input(0), &b = context.input(1);
  Tensor y = allocate_output(context, infer_integer);
  const MatmulShape shape(context.node, a.shape(), b.shape());
  const PerLine a_zero(context.node, optional(context, 2), a.shape(), 2),
      b_zero(context.node, optional(context, 3), b.shape(), 1);
  int32_t* out = y.mutable_data<int32_t>();
  product(context.pool, shape, centred(a, a_zero, shape.m, shape.depth, true),
          centred(b, b_zero, shape.depth, shape.n, false), [&](size_t batch, int64_t i, int64_t j, int32_t sum) {
            out[(static_cast<int64_t>(batch) * shape.m + i) * shape.n + j] = sum;
          });
  context.outputs[0] = std::move(y);
}

void quantized(ReferenceContext& context) {
  const Tensor &a = context.input(0), &b = context.input(3);
  Tensor y = allocate_output(context, infer_quantized);
  const MatmulShape shape(context.node, a.shape(), b.shape());
  const Node& node = context.node;
  const PerLine a_scale(node, optional(context, 1), a.shape(), 2), a_zero(node, optional(context, 2), a.shape(), 2);
  const PerLine b_scale(node, optional(context, 4), b.shape(), 1), b_zero(node, optional(context, 5), b.shape(), 1);
  if (context.input(6).size() != 1 || context.input(7).size() != 1)
    context.fail("the output's scale and zero point must be one number each");
  const auto y_scale = static_cast<float>(to_doubles(context.input(6))[0]);
  const int64_t y_zero = to_int64s(context.input(7))[0];
  Tensor wide(DType::Int64, y.shape());
  int64_t* out = wide.mutable_data<int64_t>();
  product(context.pool, shape, centred(a, a_zero, shape.m, shape.depth, true),
          centred(b, b_zero, shape.depth, shape.n, false), [&](size_t batch, int64_t i, int64_t j, int32_t sum) {
            const float left =
                static_cast<float>(a_scale.at(shape.a_offsets[batch] / std::max<int64_t>(1, shape.depth) + i));
            const float right =
                static_cast<float>(b_scale.at(shape.b_offsets[batch] / std::max<int64_t>(1, shape.depth) + j));
            const float value = static_cast<float>(sum) * (left * right / y_scale);
            out[(static_cast<int64_t>(batch) * shape.m + i) * shape.n + j] = saturate(value, y_zero, y.dtype());
          });
  context.outputs[0] = convert(wide, y.dtype());
}

}  // namespace

OpDef define_MatMulInteger() {
  OpDef op;
  op.name = "MatMulInteger";
  op.since = 10;
  op.min_inputs = 2;
  op.max_inputs = 4;
  op.traits = {Trait::Float32};
  op.infer = infer_integer;
  op.reference = integer;
  return op;
}

OpDef define_QLinearMatMul() {
  OpDef op;
  op.name = "QLinearMatMul";
  op.since = 21;
  op.min_inputs = op.max_inputs = 8;
  op.traits = {Trait::Float32};
  op.infer = infer_quantized;
  op.reference = quantized;
  return op;
}

}  // namespace dnn::integer_matmul_ops
