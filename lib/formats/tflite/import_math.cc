// Element by element, reductions, products of matrices.
#include <algorithm>

#include "formats/division.h"
#include "formats/tflite/imports.h"

namespace dnn::tflite {
namespace {

void unary(Op& op, const char* name, Attributes attributes = {}) {
  op.define(0, op.emit(name, {op.real(0)}, std::move(attributes)));
}

void binary(Op& op, const char* name) { op.define(0, op.emit(name, {op.real(0), op.real(1)})); }

void reduction(Op& op, const char* name) {
  const auto keep = static_cast<int64_t>(op.options<ReducerOptions>()(&ReducerOptions::keep_dims));
  op.define(0, op.emit(name, {op.real(0), op.list(op.ints(1))}, {{"keepdims", keep}}));
}

void arg_extreme(Op& op, const char* name) {
  const std::vector<int64_t> axis = op.ints(1);
  if (axis.size() != 1) op.fail(axis.size(), " axes");
  ValueId y = op.emit(name, {op.real(0)}, {{"axis", axis[0]}, {"keepdims", int64_t{0}}});
  if (op.output_dtype(0) != DType::Int64) y = op.to_dtype(y, op.output_dtype(0));
  op.define_raw(0, y);
}

std::vector<int64_t> swapped_last(Op& op, size_t i) {
  std::vector<int64_t> perm;
  for (size_t axis = 0; axis < op.shape(i).size(); ++axis) perm.push_back(static_cast<int64_t>(axis));
  if (perm.size() < 2) op.fail("an operand of rank ", perm.size());
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return perm;
}

}  // namespace

template <char sign>
void arithmetic(Op& op) {
  const char* name = sign == '+' ? "Add" : sign == '-' ? "Sub" : sign == '*' ? "Mul" : "Div";
  const ValueId y = op.emit(name, {op.real(0), op.real(1)});
  op.define(0, op.activated(y, op.options<ArithmeticOptions>()(&ArithmeticOptions::activation)));
}
template void arithmetic<'+'>(Op&);
template void arithmetic<'-'>(Op&);
template void arithmetic<'*'>(Op&);
template void arithmetic<'/'>(Op&);

void add_n(Op& op) {
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < op.input_count(); ++i) inputs.push_back(op.real(i));
  op.define(0, op.emit("Sum", std::move(inputs)));
}

// Of integers rounded down; of real numbers the quotient is rounded.
void floor_div(Op& op) {
  const ValueId x = op.real(0), y = op.real(1);
  const DType dtype = op.output_dtype(0);
  if (is_integer(dtype) && !op.quantized_input(0)) return op.define(0, floor_divided(op, x, y, dtype));
  op.define(0, op.emit("Floor", {op.emit("Div", {x, y})}));
}
void floor_mod(Op& op) {
  const DType dtype = op.quantized_input(0) ? DType::Float32 : op.output_dtype(0);
  op.define(0, floor_remainder(op, op.real(0), op.real(1), dtype));
}
void cumsum(Op& op) {
  using O = CumsumOptions;
  const auto o = op.options<O>();
  const std::vector<int64_t> axis = op.ints(1);
  if (axis.size() != 1) op.fail(axis.size(), " axes");
  op.define(0,
            op.emit("CumSum", {op.real(0), op.store("axis", dnn::Tensor::scalar(axis[0]))},
                    {{"exclusive", int64_t{o(&O::exclusive) ? 1 : 0}}, {"reverse", int64_t{o(&O::reverse) ? 1 : 0}}}));
}

void abs(Op& op) { unary(op, "Abs"); }
void ceil(Op& op) { unary(op, "Ceil"); }
void cos(Op& op) { unary(op, "Cos"); }
void elu(Op& op) { unary(op, "Elu"); }
void exp(Op& op) { unary(op, "Exp"); }
void floor(Op& op) { unary(op, "Floor"); }
void hard_swish(Op& op) { unary(op, "HardSwish"); }
void log(Op& op) { unary(op, "Log"); }
void logical_not(Op& op) { unary(op, "Not"); }
void logistic(Op& op) { unary(op, "Sigmoid"); }
void neg(Op& op) { unary(op, "Neg"); }
void relu(Op& op) { unary(op, "Relu"); }
void round(Op& op) { unary(op, "Round"); }
void sign(Op& op) { unary(op, "Sign"); }
void sin(Op& op) { unary(op, "Sin"); }
void sqrt(Op& op) { unary(op, "Sqrt"); }
void tanh(Op& op) { unary(op, "Tanh"); }
void relu6(Op& op) { op.define(0, op.activated(op.real(0), Activation::RELU6)); }
void relu_n1_to_1(Op& op) { op.define(0, op.activated(op.real(0), Activation::RELU_N1_TO_1)); }
void leaky_relu(Op& op) {
  unary(op, "LeakyRelu", {{"alpha", op.options<LeakyReluOptions>()(&LeakyReluOptions::alpha)}});
}
void gelu(Op& op) {
  unary(op, "Gelu",
        {{"approximate", std::string(op.options<GeluOptions>()(&GeluOptions::approximate) ? "tanh" : "none")}});
}
void rsqrt(Op& op) { op.define(0, op.emit("Reciprocal", {op.emit("Sqrt", {op.real(0)})})); }
void square(Op& op) { op.define(0, op.emit("Mul", {op.real(0), op.real(0)})); }
void squared_difference(Op& op) {
  const ValueId d = op.emit("Sub", {op.real(0), op.real(1)});
  op.define(0, op.emit("Mul", {d, d}));
}

void equal(Op& op) { binary(op, "Equal"); }
void greater(Op& op) { binary(op, "Greater"); }
void greater_equal(Op& op) { binary(op, "GreaterOrEqual"); }
void less(Op& op) { binary(op, "Less"); }
void less_equal(Op& op) { binary(op, "LessOrEqual"); }
void logical_and(Op& op) { binary(op, "And"); }
void logical_or(Op& op) { binary(op, "Or"); }
void maximum(Op& op) { binary(op, "Max"); }
void minimum(Op& op) { binary(op, "Min"); }
void not_equal(Op& op) { op.define(0, op.emit("Not", {op.emit("Equal", {op.real(0), op.real(1)})})); }
void pow(Op& op) { binary(op, "Pow"); }
void prelu(Op& op) { binary(op, "PRelu"); }
// A condition of one axis before operands of several is of their first: whole rows are chosen.
void select_rows(Op& op) {
  const size_t rank = op.shape(1).size();
  if (op.shape(0).size() != 1 || rank < 2) return select(op);
  std::vector<int64_t> shape(rank, 1);
  shape[0] = -1;
  const ValueId rows = op.emit("Reshape", {op.raw(0), op.list(shape)});
  op.define(0, op.emit("Where", {rows, op.real(1), op.real(2)}));
}
void select(Op& op) { op.define(0, op.emit("Where", {op.raw(0), op.real(1), op.real(2)})); }

void mean(Op& op) { reduction(op, "ReduceMean"); }
void sum(Op& op) { reduction(op, "ReduceSum"); }
namespace {
void quantified(Op& op, const char* name) {
  const auto keep = static_cast<int64_t>(op.options<ReducerOptions>()(&ReducerOptions::keep_dims));
  const ValueId x = op.to_dtype(op.raw(0), DType::Int32);
  op.define_raw(0, op.to_dtype(op.emit(name, {x, op.list(op.ints(1))}, {{"keepdims", keep}}), DType::Bool));
}
}  // namespace
void reduce_all(Op& op) { quantified(op, "ReduceMin"); }
void reduce_any(Op& op) { quantified(op, "ReduceMax"); }
void reduce_max(Op& op) { reduction(op, "ReduceMax"); }
void reduce_min(Op& op) { reduction(op, "ReduceMin"); }
void reduce_prod(Op& op) { reduction(op, "ReduceProd"); }
void arg_max(Op& op) { arg_extreme(op, "ArgMax"); }
void arg_min(Op& op) { arg_extreme(op, "ArgMin"); }

void cast(Op& op) { op.define_raw(0, op.to_dtype(op.raw(0), op.output_dtype(0))); }

// QUANTIZE and DEQUANTIZE: between real numbers, 16-bit ones and quantised ones, by the tensors' own scales.
void convert_numbers(Op& op) {
  ValueId x = op.real(0);
  if (x == op.raw(0) && op.output_dtype(0) == DType::Float32) x = op.to_dtype(x, DType::Float32);
  op.define(0, x);
}

// Weights are [units, inputs]; all axes but the last are the batch.
void fully_connected(Op& op) {
  using O = FullyConnectedOptions;
  const auto o = op.options<O>();
  if (o(&O::weights_format) != 0) op.refuse("weights in shuffled order are not read");
  const std::vector<int64_t> x = op.shape(0), w = op.shape(1);
  if (w.size() != 2) op.fail("weights of shape ", shape_text(w));
  ValueId y;
  if (o(&O::keep_num_dims) && x.size() != 2) {
    y = op.emit("MatMul", {op.meets(op.real(0), 0, 1, {-1}), op.transpose(op.real(1), {1, 0})});
    if (op.has_input(2)) y = op.emit("Add", {y, op.real(2)});
  } else {
    ValueId flat = op.real(0);
    if (x.size() != 2 || (x[1] >= 0 && x[1] != w[1])) flat = op.emit("Reshape", {flat, op.list({-1, w[1]})});
    std::vector<ValueId> inputs = {op.meets(flat, 0, 1, {-1}), op.real(1)};
    if (op.has_input(2)) inputs.push_back(op.real(2));
    y = op.emit("Gemm", std::move(inputs), {{"transB", int64_t{1}}});
  }
  op.define(0, op.activated(y, o(&O::activation)));
}

void batch_matmul(Op& op) {
  using O = BatchMatMulOptions;
  const auto o = op.options<O>();
  ValueId a = op.meets(op.real(0), 0, 1, {o(&O::adj_x) ? -2 : -1}), b = op.real(1);
  if (o(&O::adj_x)) a = op.transpose(a, swapped_last(op, 0));
  if (o(&O::adj_y)) b = op.transpose(b, swapped_last(op, 1));
  op.define(0, op.emit("MatMul", {a, b}));
}

}  // namespace dnn::tflite
