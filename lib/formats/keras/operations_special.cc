// Operations that the IR has no operator for, or another argument of: each is written in the operators it has.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "formats/division.h"
#include "formats/keras/operands.h"
#include "formats/keras/operations.h"
#include "formats/near_zero.h"

namespace dnn::keras {
namespace {

ValueId cast(Call& call, ValueId v, DType dtype) {
  return call.dtype(v) == dtype ? v : call.emit("Cast", {v}, {{"to", static_cast<int64_t>(dtype)}});
}

// The axes of a reduction: all of them where none are named.
std::vector<int64_t> reduced_axes(Call& call, ValueId x) {
  const Json& axis = argument(call, 1, {"axis"});
  if (!axis.is_null()) return wholes(call, axis, "axis");
  std::vector<int64_t> axes(call.rank(x));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

int64_t keepdims(Call& call) { return truth(call, argument(call, 2, {"keepdims"}), false) ? 1 : 0; }

double real_option(Call& call, const char* name, double fallback) {
  const Json& v = argument(call, kNowhere, {name});
  if (!v.is_null() && !v.is_number()) call.refuse("its ", name, " is no number that the file holds");
  return v.is_null() ? fallback : v.get<double>();
}

// One axis, the last where none is named.
int64_t one_axis(Call& call, ValueId x) {
  const Json& axis = argument(call, 1, {"axis"});
  return placed(call, axis.is_null() ? -1 : whole_argument(call, axis, "axis"), call.rank(x));
}

// Elements in a row where no axis is named; then that is axis 0.
std::pair<ValueId, int64_t> along(Call& call) {
  const ValueId x = first_operand(call);
  if (!argument(call, 1, {"axis"}).is_null()) return {x, one_axis(call, x)};
  return {call.emit("Reshape", {x, call.list({-1})}), 0};
}

}  // namespace

ValueId operate_same(Call& call, const char*) { return call.emit("Identity", {first_operand(call)}); }

// Zeros or ones like the argument.
ValueId operate_filled_like(Call& call, const char* value) {
  const ValueId x = first_operand(call);
  DType dtype = call.dtype(x);
  if (const Json& name = argument(call, 1, {"dtype"}); name.is_string())
    dtype = dtype_from_name(name.get<std::string>());
  if (dtype == DType::Undefined || dtype == DType::String) call.refuse("a dtype that is not read");
  return call.emit("ConstantOfShape", {call.emit("Shape", {x})},
                   {{"value", convert(Tensor::of<float>({1}, {std::stof(value)}), dtype)}});
}

ValueId operate_logarithm(Call& call, const char* base) {
  const ValueId x = as_real(call, first_operand(call));
  if (std::string(base) == "1p") return log_of_one_more(call, x, call.dtype(x));
  return call.emit("Div", {call.emit("Log", {x}), call.scalar(std::log(std::stod(base)), x)});
}
ValueId operate_expm1(Call& call, const char*) {
  const ValueId x = as_real(call, first_operand(call));
  return exp_less_one(call, x, call.dtype(x));
}
ValueId operate_trunc(Call& call, const char*) {
  const ValueId x = first_operand(call);
  if (is_integer(call.dtype(x))) return call.emit("Identity", {x});
  return call.emit("Mul", {call.emit("Sign", {x}), call.emit("Floor", {call.emit("Abs", {x})})});
}
ValueId operate_is_finite(Call& call, const char*) {
  const ValueId x = as_real(call, first_operand(call));
  return call.emit("Not", {call.emit("Or", {call.emit("IsNaN", {x}), call.emit("IsInf", {x})})});
}
// log(exp(x) + exp(y)); of equal numbers x + log 2, which holds for infinite ones.
ValueId operate_log_add_exp(Call& call, const char*) {
  const std::vector<ValueId> v = both(call, true);
  const ValueId apart = call.emit("Abs", {call.emit("Sub", {v[0], v[1]})});
  const ValueId sum = call.emit("Add", {call.emit("Max", v), call.emit("Softplus", {call.emit("Neg", {apart})})});
  const ValueId twice = call.emit("Add", {v[0], call.scalar(std::log(2.0), v[0])});
  return call.emit("Where", {call.emit("Equal", v), twice, sum});
}

ValueId operate_not_equal(Call& call, const char*) { return call.emit("Not", {call.emit("Equal", both(call))}); }
ValueId operate_logical(Call& call, const char* op) {
  std::vector<ValueId> v = both(call);
  for (ValueId& x : v) x = cast(call, x, DType::Bool);
  return call.emit(op, v);
}
ValueId operate_logical_not(Call& call, const char*) {
  return call.emit("Not", {cast(call, first_operand(call), DType::Bool)});
}

// The remainder with the divisor's sign, and the quotient rounded down.
ValueId operate_modulo(Call& call, const char*) {
  const std::vector<ValueId> v = both(call);
  return floor_remainder(call, v[0], v[1], call.dtype(v[0]));
}
ValueId operate_floor_divide(Call& call, const char*) {
  const std::vector<ValueId> v = both(call);
  const DType dtype = call.dtype(v[0]);
  if (is_integer(dtype)) return floor_divided(call, v[0], v[1], dtype);
  return call.emit("Floor", {call.emit("Div", v)});
}

ValueId operate_slope(Call& call, const char* op) {
  const ValueId x = as_real(call, first_operand(call));
  const bool leaky = std::string(op) == "LeakyRelu";
  const double alpha = real_option(call, leaky ? "negative_slope" : "alpha", leaky ? 0.2 : 1);
  return call.emit(op, {x}, {{"alpha", static_cast<float>(alpha)}});
}

// Truth: any or all are not 0.
ValueId operate_quantify(Call& call, const char* op) {
  const ValueId x = first_operand(call);
  const ValueId whole = cast(call, cast(call, x, DType::Bool), DType::Int32);
  const ValueId y = call.emit(op, {whole, call.list(reduced_axes(call, x))}, {{"keepdims", keepdims(call)}});
  return cast(call, y, DType::Bool);
}

ValueId operate_log_sum_exp(Call& call, const char*) {
  const ValueId x = as_real(call, first_operand(call));
  return call.emit("ReduceLogSumExp", {x, call.list(reduced_axes(call, x))}, {{"keepdims", keepdims(call)}});
}

// The mean of squares of what differs from the mean; "Sqrt": its root.
ValueId operate_variance(Call& call, const char* root) {
  const ValueId x = as_real(call, first_operand(call)), axes = call.list(reduced_axes(call, x));
  const ValueId centred = call.emit("Sub", {x, call.emit("ReduceMean", {x, axes}, {{"keepdims", int64_t{1}}})});
  const ValueId y =
      call.emit("ReduceMean", {call.emit("Mul", {centred, centred}), axes}, {{"keepdims", keepdims(call)}});
  return *root == '\0' ? y : call.emit(root, {y});
}

// The place of the largest or smallest along an axis; of all elements in a row without one.
ValueId operate_arg_extreme(Call& call, const char* op) {
  const bool all = argument(call, 1, {"axis"}).is_null();
  const auto [x, axis] = along(call);
  const int64_t keep = keepdims(call);
  if (all && keep != 0) call.refuse("keepdims without an axis");
  const ValueId y = call.emit(op, {x}, {{"axis", axis}, {"keepdims", keep}});
  return cast(call, y, DType::Int32);
}

ValueId operate_cumulate(Call& call, const char* op) {
  const auto [x, axis] = along(call);
  const Json& name = argument(call, 2, {"dtype"});
  if (!name.is_null()) call.refuse("a dtype of its own");
  if (call.dtype(x) == DType::Bool) call.refuse("of truth values it is not read");
  return call.emit(op, {x, call.store("axis", Tensor::scalar(axis))});
}

// Sorted along an axis, equal elements in their order; "places": where they stood. Of all elements in a row without an axis.
ValueId operate_sort(Call& call, const char* what) {
  const auto [x, axis] = along(call);
  const int64_t extent = call.shape(x)[axis];
  if (extent < 0) call.refuse("it sorts along an open extent");
  const std::vector<ValueId> result = call.emit_many(
      "TopK", {x, call.list({extent})}, {{"axis", axis}, {"largest", int64_t{0}}, {"sorted", int64_t{1}}}, 2);
  return std::string(what) == "places" ? cast(call, result[1], DType::Int32) : result[0];
}

// The largest along the last axis, in falling order, and their places.
ValueId operate_top_k(Call& call, const char*) {
  const ValueId x = first_operand(call);
  const Json &k = argument(call, 1, {"k"}), &sorted = argument(call, 2, {"sorted"});
  if (sorted.is_boolean() && !sorted.get<bool>()) call.refuse("without an order it is not read");
  const ValueId count = call.list({k.is_null() ? int64_t{1} : whole_argument(call, k, "k")});
  const std::vector<ValueId> result =
      call.emit_many("TopK", {x, count}, {{"axis", int64_t{-1}}, {"largest", int64_t{1}}, {"sorted", int64_t{1}}}, 2);
  call.add_output(cast(call, result[1], DType::Int32));
  return result[0];
}

ValueId operate_triangle(Call& call, const char* upper) {
  const ValueId x = first_operand(call);
  const Json& k = argument(call, 1, {"k"});
  const ValueId diagonal = call.store("k", Tensor::scalar(k.is_null() ? int64_t{0} : whole_argument(call, k, "k")));
  return call.emit("Trilu", {x, diagonal}, {{"upper", int64_t{*upper != '\0' ? 1 : 0}}});
}

ValueId operate_ravel(Call& call, const char*) { return call.emit("Reshape", {first_operand(call), call.list({-1})}); }

ValueId operate_stack(Call& call, const char*) {
  std::vector<ValueId> inputs = unified(call, operands(call, argument(call, 0, {"x", "xs", "arrays"})));
  if (inputs.empty()) call.fail("it has no inputs");
  const Json& given = argument(call, 1, {"axis"});
  const int64_t axis =
      placed(call, given.is_null() ? 0 : whole_argument(call, given, "axis"), call.rank(inputs[0]) + 1);
  for (ValueId& v : inputs) v = call.emit("Unsqueeze", {v, call.list({axis})});
  return call.emit("Concat", inputs, {{"axis", axis}});
}

// Axes taken from their places to others, the rest in their order.
ValueId operate_move_axis(Call& call, const char*) {
  const ValueId x = first_operand(call);
  const int64_t rank = call.rank(x);
  const std::vector<int64_t> from = wholes(call, argument(call, 1, {"source"}), "source"),
                             to = wholes(call, argument(call, 2, {"destination"}), "destination");
  if (from.size() != to.size()) call.fail(from.size(), " axes to ", to.size(), " places");
  Permutation perm(rank, -1);
  std::vector<bool> moved(rank);
  for (size_t i = 0; i < from.size(); ++i) {
    const int64_t axis = placed(call, from[i], rank);
    perm[placed(call, to[i], rank)] = axis;
    moved[axis] = true;
  }
  int64_t next = 0;
  for (int64_t& axis : perm) {
    if (axis >= 0) continue;
    while (next < rank && moved[next]) ++next;
    if (next == rank) call.fail("an axis that moves to two places");
    axis = next++;
  }
  return call.transpose(x, perm);
}

ValueId operate_tile(Call& call, const char*) {
  const ValueId x = first_operand(call);
  std::vector<int64_t> repeats = wholes(call, argument(call, 1, {"repeats"}), "repeats");
  const size_t rank = call.rank(x);
  if (repeats.size() > rank) call.refuse("repeats along axes that its input has not");
  repeats.insert(repeats.begin(), rank - repeats.size(), 1);
  return call.emit("Tile", {x, call.list(repeats)});
}

// Each element several times after another.
ValueId operate_repeat(Call& call, const char*) {
  const ValueId x = first_operand(call);
  const int64_t n = whole_argument(call, argument(call, 1, {"repeats"}), "repeats");
  const Json& given = argument(call, 2, {"axis"});
  if (given.is_null()) call.refuse("repeats without an axis");
  const int64_t axis = placed(call, whole_argument(call, given, "axis"), call.rank(x));
  const int64_t extent = call.shape(x)[axis];
  if (extent < 0) call.refuse("it repeats along an open extent");
  if (n < 0 || n > 1 << 12 || extent > 1 << 20) call.fail(n, " repeats of ", extent, " elements");
  std::vector<int64_t> places;
  for (int64_t i = 0; i < extent * n; ++i) places.push_back(i / n);
  return call.emit("Gather", {x, call.store("places", Tensor::of<int64_t>({extent * n}, places))}, {{"axis", axis}});
}

ValueId operate_flip(Call& call, const char*) {
  const ValueId x = first_operand(call);
  const std::vector<int64_t> axes = reduced_axes(call, x);
  const std::vector<int64_t> back(axes.size(), -1), end(axes.size(), INT64_MIN);
  return call.emit("Slice", {x, call.list(back), call.list(end), call.list(axes), call.list(back)});
}

// The last elements come first.
ValueId operate_roll(Call& call, const char*) {
  ValueId x = first_operand(call);
  const Json& given = argument(call, 2, {"axis"});
  if (given.is_null()) call.refuse("a shift without an axis");
  const std::vector<int64_t> shifts = wholes(call, argument(call, 1, {"shift"}), "shift"),
                             axes = wholes(call, given, "axis");
  if (shifts.size() != axes.size()) call.refuse(shifts.size(), " shifts along ", axes.size(), " axes");
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = placed(call, axes[i], call.rank(x)), extent = call.shape(x)[axis];
    if (extent < 1) call.refuse("it shifts along an open extent");
    const int64_t shift = (shifts[i] % extent + extent) % extent;
    if (shift == 0) continue;
    const auto part = [&](int64_t begin, int64_t end) {
      return call.emit("Slice", {x, call.list({begin}), call.list({end}), call.list({axis})});
    };
    x = call.emit("Concat", {part(extent - shift, extent), part(0, extent - shift)}, {{"axis", axis}});
  }
  return x;
}

ValueId operate_einsum(Call& call, const char*) {
  std::string equation = call.text("subscripts", "");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  std::vector<Operand> parts;
  for (size_t i = 0; !argument(call, i, {}).is_null(); ++i) parts.push_back(operand_of(call, argument(call, i, {}), i));
  if (parts.empty()) call.fail("it has no inputs");
  return call.emit("Einsum", unified(call, parts), {{"equation", equation}});
}

ValueId operate_one_hot(Call& call, const char*) {
  const ValueId x = first_operand(call);
  const int64_t n = whole_argument(call, argument(call, 1, {"num_classes"}), "num_classes");
  const Json& given = argument(call, 2, {"axis"});
  if (truth(call, argument(call, kNowhere, {"sparse"}), false)) call.refuse("a sparse result");
  const Json& name = argument(call, 3, {"dtype"});
  const DType dtype = name.is_string() ? dtype_from_name(name.get<std::string>()) : DType::Float32;
  if (dtype == DType::Undefined || dtype == DType::String) call.refuse("a dtype that is not read");
  const ValueId values = call.store("values", convert(Tensor::of<float>({2}, {0, 1}), dtype));
  // A negative number has no place; the IR's operator counts it from the end.
  const ValueId at = cast(call, x, DType::Int64);
  const ValueId below = call.emit("Less", {at, call.store("zero", Tensor::scalar(int64_t{0}))});
  const ValueId beyond = call.store("beyond", Tensor::scalar(n));
  const ValueId places = call.emit("Where", {below, beyond, at});
  return call.emit("OneHot", {places, call.store("classes", Tensor::scalar(n)), values},
                   {{"axis", given.is_null() ? -1 : whole_argument(call, given, "axis")}});
}

// The length of vectors along axes.
ValueId operate_norm(Call& call, const char*) {
  const ValueId x = as_real(call, first_operand(call));
  const Json& order = argument(call, 1, {"ord"});
  if (!order.is_null() && !(order.is_number() && order.get<double>() == 2)) call.refuse("an order other than 2");
  const Json& given = argument(call, 2, {"axis"});
  std::vector<int64_t> axes(call.rank(x));
  std::iota(axes.begin(), axes.end(), 0);
  if (!given.is_null()) axes = wholes(call, given, "axis");
  if (axes.size() > 1 && !order.is_null()) call.refuse("the norm of a matrix");
  const int64_t keep = truth(call, argument(call, 3, {"keepdims"}), false) ? 1 : 0;
  return call.emit("ReduceL2", {x, call.list(axes)}, {{"keepdims", keep}});
}

}  // namespace dnn::keras
