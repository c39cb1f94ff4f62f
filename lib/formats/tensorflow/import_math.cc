// Element by element, reductions, products of matrices.
#include <algorithm>
#include <numeric>

#include "formats/near_zero.h"
#include "formats/tensorflow/imports.h"

namespace dnn::tensorflow {
namespace {

// The last two axes swapped.
ValueId swapped(Op& op, ValueId v) {
  Permutation perm(op.rank(v));
  if (perm.size() < 2) op.fail("an operand of rank ", perm.size());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return op.transpose(v, perm);
}

// Entries of a constant list, or of the constant scalar that stands for one.
std::vector<int64_t> axes_input(Op& op, size_t i) { return op.ints(i); }

// What is left of a / b towards minus infinity, of integers.
ValueId floor_quotient(Op& op, ValueId a, ValueId b) {
  return op.emit("Div", {op.emit("Sub", {a, op.emit("Mod", {a, b})}), b});
}

}  // namespace

void unary(Op& op) { op.define(0, op.emit(op.row().as, {op.in(0)})); }
void binary(Op& op) { op.define(0, op.emit(op.row().as, {op.in(0), op.in(1)})); }

// An addition of one number per unit behind a product is its bias.
void add_v2(Op& op) {
  const ValueId y = op.emit("Add", {op.in(0), op.in(1)});
  if (op.constant(1) != nullptr && op.constant(1)->rank() == 1 && op.ranked(y) && op.rank(y) == 2)
    op.mark_bias(y, op.in(1));
  op.define(0, y);
}

void add_n(Op& op) {
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < op.input_count(); ++i) inputs.push_back(op.in(i));
  op.define(0, op.emit("Sum", std::move(inputs)));
}

void not_equal(Op& op) { op.define(0, op.emit("Not", {op.emit("Equal", {op.in(0), op.in(1)})})); }
void rsqrt(Op& op) { op.define(0, op.emit("Reciprocal", {op.emit("Sqrt", {op.in(0)})})); }
void square(Op& op) { op.define(0, op.emit("Mul", {op.in(0), op.in(0)})); }

void squared_difference(Op& op) {
  const ValueId d = op.emit("Sub", {op.in(0), op.in(1)});
  op.define(0, op.emit("Mul", {d, d}));
}

void log1p(Op& op) {
  const ValueId x = op.in(0);
  op.define(0, log_of_one_more(op, x, op.dtype(x)));
}

// 1 - erf(x) as 1 + erf(-x), where a minus in x goes, as Gelu is spelt elsewhere.
void erfc(Op& op) {
  const ValueId x = op.in(0);
  ValueId minus = kNoValue;
  const Node* made = op.maker(x);
  if (made != nullptr && made->op == "Mul") {
    for (size_t i : {0, 1}) {
      const Node* negative = op.maker(made->inputs[i]);
      if (negative == nullptr || negative->op != "Neg") continue;
      const ValueId factor = made->inputs[1 - i], inner = negative->inputs[0];
      minus = op.emit("Mul", {inner, factor});
      break;
    }
  }
  if (minus == kNoValue) minus = op.emit("Neg", {x});
  op.define(0, op.emit("Add", {op.scalar(1, op.dtype(x)), op.emit("Erf", {minus})}));
}

void expm1(Op& op) {
  const ValueId x = op.in(0);
  op.define(0, exp_less_one(op, x, op.dtype(x)));
}

void relu6(Op& op) {
  const DType dtype = op.dtype(op.in(0));
  op.define(0, op.emit("Clip", {op.in(0), op.scalar(0, dtype), op.scalar(6, dtype)}));
}

void leaky_relu(Op& op) { op.define(0, op.emit("LeakyRelu", {op.in(0)}, {{"alpha", op.number_of("alpha", 0.2f)}})); }

void softmax(Op& op) { op.define(0, op.emit(op.row().as, {op.in(0)}, {{"axis", int64_t{-1}}})); }

// Bounds may have extents of their own, which Clip's may not, and cross: then the lower one is the result, Clip's the upper one.
void clip_by_value(Op& op) {
  const bool scalars = op.shape(op.in(1)).empty() && op.shape(op.in(2)).empty();
  const Tensor *low = op.constant(1), *high = op.constant(2);
  if (scalars && low != nullptr && high != nullptr && !(to_doubles(*low)[0] > to_doubles(*high)[0]))
    return op.define(0, op.emit("Clip", {op.in(0), op.in(1), op.in(2)}));
  op.define(0, op.emit("Max", {op.emit("Min", {op.in(0), op.in(2)}), op.in(1)}));
}

void integer_or_real_div(Op& op) { binary(op); }

// Towards zero, of real numbers too.
void truncate_div(Op& op) {
  const ValueId y = op.emit("Div", {op.in(0), op.in(1)});
  if (is_integer(op.dtype(y))) return op.define(0, y);
  const ValueId below = op.emit("Less", {y, op.scalar(0, op.dtype(y))});
  op.define(0, op.emit("Where", {below, op.emit("Ceil", {y}), op.emit("Floor", {y})}));
}

void divide_no_nan(Op& op) {
  const ValueId zero = op.scalar(0, op.dtype(op.in(1)));
  const ValueId none = op.emit("Equal", {op.in(1), zero});
  const ValueId divisor = op.emit("Where", {none, op.scalar(1, op.dtype(op.in(1))), op.in(1)});
  op.define(0, op.emit("Where", {none, zero, op.emit("Div", {op.in(0), divisor})}));
}

void floor_div(Op& op) {
  if (is_integer(op.dtype(op.in(0)))) return op.define(0, floor_quotient(op, op.in(0), op.in(1)));
  op.define(0, op.emit("Floor", {op.emit("Div", {op.in(0), op.in(1)})}));
}

void floor_mod(Op& op) {
  const ValueId a = op.in(0), b = op.in(1);
  if (is_integer(op.dtype(a))) return op.define(0, op.emit("Mod", {a, b}));
  const ValueId whole = op.emit("Floor", {op.emit("Div", {a, b})});
  op.define(0, op.emit("Sub", {a, op.emit("Mul", {whole, b})}));
}

// The remainder of a division towards zero.
void truncate_mod(Op& op) { op.define(0, op.emit("Mod", {op.in(0), op.in(1)}, {{"fmod", int64_t{1}}})); }

void select(Op& op) {
  ValueId condition = op.in(0);
  if (std::string(op.node_op()) == "Select") {  // one of rank 1 chooses along the first axis
    const int64_t rank = op.rank(op.in(1));
    if (op.rank(condition) == 1 && rank > 1) {
      std::vector<int64_t> axes(static_cast<size_t>(rank) - 1);
      std::iota(axes.begin(), axes.end(), 1);
      condition = op.emit("Unsqueeze", {condition, op.list(axes)});
    }
  }
  op.define(0, op.emit("Where", {condition, op.in(1), op.in(2)}));
}

void cast(Op& op) {
  const auto to = op.dtype_attribute("DstT");
  if (!to) op.fail("attribute DstT is missing");
  op.define(0, op.to_dtype(op.in(0), *to));
}

// A reduction over no axes leaves the tensor as it is.
void reduce(Op& op) {
  const std::vector<int64_t> axes = axes_input(op, 1);
  const bool keep = op.flag("keep_dims", false);
  if (axes.empty()) return op.define(0, op.emit("Identity", {op.in(0)}));
  op.define(0, op.emit(op.row().as, {op.in(0), op.list(axes)}, {{"keepdims", static_cast<int64_t>(keep)}}));
}

void reduce_logical(Op& op) {
  const std::vector<int64_t> axes = axes_input(op, 1);
  const auto keep = static_cast<int64_t>(op.flag("keep_dims", false));
  if (axes.empty()) return op.define(0, op.emit("Identity", {op.in(0)}));
  const ValueId x = op.to_dtype(op.in(0), DType::Int32);
  op.define(0, op.to_dtype(op.emit(op.row().as, {x, op.list(axes)}, {{"keepdims", keep}}), DType::Bool));
}

void arg_extreme(Op& op) {
  const int64_t axis = op.input_count() > 1 ? op.one(1) : 0;
  const ValueId y = op.emit(op.row().as, {op.in(0)}, {{"axis", axis}, {"keepdims", int64_t{0}}});
  op.define(0, op.to_dtype(y, op.dtype_attribute("output_type").value_or(DType::Int64)));
}

void top_k(Op& op) {
  const int64_t k = op.input_count() > 1 ? op.one(1) : op.integer("k", 1);
  const auto sorted = static_cast<int64_t>(op.flag("sorted", true));
  const std::vector<ValueId> y = op.emit_many("TopK", {op.in(0), op.list({k})}, {{"sorted", sorted}}, 2);
  op.define(0, y[0]);
  op.define(1, op.to_dtype(y[1], op.dtype_attribute("index_type").value_or(DType::Int32)));
}

void cumulate(Op& op) {
  const Attributes attributes = {{"exclusive", static_cast<int64_t>(op.flag("exclusive", false))},
                                 {"reverse", static_cast<int64_t>(op.flag("reverse", false))}};
  op.define(0, op.emit(op.row().as, {op.in(0), op.in(1)}, attributes));
}

void is_finite(Op& op) {
  const ValueId x = op.in(0);
  op.define(0, op.emit("Not", {op.emit("Or", {op.emit("IsNaN", {x}), op.emit("IsInf", {x})})}));
}

// Half the sum of all squares.
void l2_loss(Op& op) {
  const ValueId sum = op.emit("ReduceSumSquare", {op.in(0)}, {{"keepdims", int64_t{0}}});
  op.define(0, op.emit("Mul", {sum, op.scalar(0.5, op.dtype(sum))}));
}

void one_hot(Op& op) {
  const ValueId on = op.in(2), off = op.in(3);
  const ValueId values = op.emit("Concat", {op.reshape(off, {1}), op.reshape(on, {1})}, {{"axis", int64_t{0}}});
  // An index below 0 is out of range here, where ONNX counts it from the end.
  const ValueId at = op.in(0);
  const ValueId below = op.emit("Less", {at, op.scalar(0, op.dtype(at))});
  const ValueId places = op.emit("Where", {below, op.to_dtype(op.in(1), op.dtype(at)), at});
  op.define(0, op.emit("OneHot", {places, op.in(1), values}, {{"axis", op.integer("axis", -1)}}));
}

void matmul(Op& op) {
  ValueId a = op.in(0), b = op.in(1);
  if (op.rank(a) != 2 || op.rank(b) != 2) op.fail("operands of rank ", op.rank(a), " and ", op.rank(b));
  if (op.flag("transpose_a", false)) a = swapped(op, a);
  if (op.flag("transpose_b", false)) b = swapped(op, b);
  op.define(0, op.emit("MatMul", {a, b}));
}

void batch_matmul(Op& op) {
  ValueId a = op.in(0), b = op.in(1);
  const std::optional<DType> made = op.dtype_attribute("Tout");
  if (op.dtype(a) != op.dtype(b) || (made && *made != op.dtype(a))) op.refuse("products of mixed dtypes");
  if (op.flag("adj_x", false)) a = swapped(op, a);
  if (op.flag("adj_y", false)) b = swapped(op, b);
  op.define(0, op.emit("MatMul", {a, b}));
}

void einsum(Op& op) {
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < op.input_count(); ++i) inputs.push_back(op.in(i));
  op.define(0, op.emit("Einsum", std::move(inputs), {{"equation", op.text("equation", "")}}));
}

}  // namespace dnn::tensorflow
