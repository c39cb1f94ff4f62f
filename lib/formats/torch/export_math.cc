// Element by element, comparisons, reductions, products of matrices.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "formats/torch/exports.h"

namespace dnn::torch {
namespace {

// A number as PyTorch's Scalar of a tensor's element type.
Arg scalar_of(double value, DType dtype) {
  if (is_float(dtype)) return value;
  return number(static_cast<int64_t>(value));
}

// Whether input i, a single number, may stand in a call in place of a tensor without changing the result's rank.
std::optional<Arg> scalar_operand(const Export& e, size_t i, size_t other) {
  const std::optional<double> value = e.scalar(i);
  if (!value || !e.type(other).shape || e.constant(i)->rank() > static_cast<int>(e.type(other).shape->size()))
    return std::nullopt;
  return scalar_of(*value, e.type(i).dtype);
}

void binary(Export& e, const std::string& name) {
  if (const std::optional<Arg> b = scalar_operand(e, 1, 0)) return e.define(name + ".Scalar", {tensor(e.input(0)), *b});
  e.define(name + ".Tensor", {tensor(e.input(0)), tensor(e.input(1))});
}

// Arithmetic on extents stays arithmetic on integers.
bool on_lists(Export& e, const std::string& name) {
  if (e.output_type().dtype != DType::Int64 || e.output_type().shape.value_or(std::vector<Dim>(2)).size() > 1)
    return false;
  const std::optional<Items> a = e.builder().items(e.node().inputs[0]), b = e.builder().items(e.node().inputs[1]);
  if (!a || !b || a->empty() || b->empty()) return false;
  const size_t n = std::max(a->size(), b->size());
  if ((a->size() != n && a->size() != 1) || (b->size() != n && b->size() != 1)) return false;
  Items result;
  for (size_t i = 0; i < n; ++i)
    result.push_back(e.builder().arithmetic(name, (*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]));
  e.define_items(std::move(result));
  return true;
}

// The axes of a reduction, from the front; all of them where none are given.
std::vector<int64_t> reduced_axes(Export& e) {
  std::vector<int64_t> axes;
  if (e.has_input(1)) axes = e.known_ints(1, "list of axes");
  const int64_t rank = e.rank(0);
  if (axes.empty() && e.node().attribute_int("noop_with_empty_axes", 0) != 0) e.refuse("a reduction of no axes");
  if (axes.empty()) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  return axes;
}

bool keeps(const Export& e) { return e.node().attribute_int("keepdims", 1) != 0; }

void reduce(Export& e, const std::string& op, VarId x) { e.define(op, {tensor(x), ints(reduced_axes(e)), keeps(e)}); }

Type broadcast(const Type& a, const Type& b) {
  std::vector<Dim> x = a.shape.value_or(std::vector<Dim>()), y = b.shape.value_or(std::vector<Dim>());
  if (x.size() < y.size()) std::swap(x, y);
  for (size_t i = 1; i <= y.size(); ++i) {
    Dim& dim = x[x.size() - i];
    if (dim == Dim(1)) dim = y[y.size() - i];
  }
  return {a.dtype, std::move(x)};
}

void fold(Export& e, const std::string& op) {
  VarId y = e.input(0);
  const size_t n = e.node().inputs.size();
  if (n == 1) return e.define(y);
  for (size_t i = 1; i + 1 < n; ++i)
    y = e.step(op, {tensor(y), tensor(e.input(i))}, "part", broadcast(e.builder().var_type(y), e.type(i)));
  e.define(op, {tensor(y), tensor(e.input(n - 1))});
}

}  // namespace

#define DNN_UNARY(function, op) \
  void function(Export& e) { e.define(op, {tensor(e.input(0))}); }
DNN_UNARY(write_abs, "abs")
DNN_UNARY(write_acos, "acos")
DNN_UNARY(write_acosh, "acosh")
DNN_UNARY(write_asin, "asin")
DNN_UNARY(write_asinh, "asinh")
DNN_UNARY(write_atan, "atan")
DNN_UNARY(write_atanh, "atanh")
DNN_UNARY(write_bitwise_not, "bitwise_not")
DNN_UNARY(write_ceil, "ceil")
DNN_UNARY(write_cos, "cos")
DNN_UNARY(write_cosh, "cosh")
DNN_UNARY(write_erf, "erf")
DNN_UNARY(write_exp, "exp")
DNN_UNARY(write_floor, "floor")
DNN_UNARY(write_hard_swish, "hardswish")
DNN_UNARY(write_is_nan, "isnan")
DNN_UNARY(write_log, "log")
DNN_UNARY(write_logical_not, "logical_not")
DNN_UNARY(write_mish, "mish")
DNN_UNARY(write_neg, "neg")
DNN_UNARY(write_reciprocal, "reciprocal")
DNN_UNARY(write_relu, "relu")
DNN_UNARY(write_round, "round")
DNN_UNARY(write_sigmoid, "sigmoid")
DNN_UNARY(write_sign, "sign")
DNN_UNARY(write_sin, "sin")
DNN_UNARY(write_sinh, "sinh")
DNN_UNARY(write_softplus, "softplus")
DNN_UNARY(write_sqrt, "sqrt")
DNN_UNARY(write_tan, "tan")
DNN_UNARY(write_tanh, "tanh")
#undef DNN_UNARY

#define DNN_BINARY(function, op) \
  void function(Export& e) { e.define(op, {tensor(e.input(0)), tensor(e.input(1))}); }
DNN_BINARY(write_bitwise_and, "bitwise_and.Tensor")
DNN_BINARY(write_bitwise_or, "bitwise_or.Tensor")
DNN_BINARY(write_bitwise_xor, "bitwise_xor.Tensor")
DNN_BINARY(write_logical_and, "logical_and")
DNN_BINARY(write_logical_or, "logical_or")
DNN_BINARY(write_logical_xor, "logical_xor")
DNN_BINARY(write_matmul, "matmul")
#undef DNN_BINARY

void write_equal(Export& e) { binary(e, "eq"); }
void write_greater(Export& e) { binary(e, "gt"); }
void write_greater_or_equal(Export& e) { binary(e, "ge"); }
void write_less(Export& e) { binary(e, "lt"); }
void write_less_or_equal(Export& e) { binary(e, "le"); }

void write_add(Export& e) {
  if (!on_lists(e, "add")) binary(e, "add");
}
void write_sub(Export& e) {
  if (!on_lists(e, "sub")) binary(e, "sub");
}
void write_mul(Export& e) {
  if (!on_lists(e, "mul")) binary(e, "mul");
}
void write_div(Export& e) {
  if (on_lists(e, "floordiv")) return;
  if (is_float(e.dtype())) return binary(e, "div");
  e.define("div.Tensor_mode", {tensor(e.input(0)), tensor(e.input(1)), std::string("trunc")});
}

void write_mod(Export& e) {
  if (e.node().attribute_int("fmod", 0) != 0) return e.define("fmod.Tensor", {tensor(e.input(0)), tensor(e.input(1))});
  binary(e, "remainder");
}

void write_pow(Export& e) {
  if (e.type(1).dtype != e.dtype() && !e.scalar(1)) e.refuse("an exponent of another type than the base");
  if (const std::optional<Arg> b = scalar_operand(e, 1, 0))
    return e.define("pow.Tensor_Scalar", {tensor(e.input(0)), *b});
  e.define("pow.Tensor_Tensor", {tensor(e.input(0)), tensor(e.input(1))});
}

void write_max(Export& e) { fold(e, "maximum"); }
void write_min(Export& e) { fold(e, "minimum"); }
void write_sum(Export& e) { fold(e, "add.Tensor"); }
void write_mean(Export& e) {
  VarId y = e.input(0);
  for (size_t i = 1; i < e.node().inputs.size(); ++i)
    y = e.step("add.Tensor", {tensor(y), tensor(e.input(i))}, "sum", broadcast(e.builder().var_type(y), e.type(i)));
  e.define("div.Scalar", {tensor(y), static_cast<double>(e.node().inputs.size())});
}

void write_is_inf(Export& e) {
  const bool positive = e.node().attribute_int("detect_positive", 1) != 0,
             negative = e.node().attribute_int("detect_negative", 1) != 0;
  const double infinite = std::numeric_limits<double>::infinity();
  if (positive && negative) return e.define("isinf", {tensor(e.input(0))});
  if (!positive && !negative) e.refuse("a test for no infinity");
  e.define("eq.Scalar", {tensor(e.input(0)), positive ? infinite : -infinite});
}

void write_clip(Export& e) {
  const bool fixed = (!e.has_input(1) || e.scalar(1)) && (!e.has_input(2) || e.scalar(2));
  if (!e.has_input(1) && !e.has_input(2)) return e.define(e.input(0));
  if (!fixed) return e.define("clamp.Tensor", {tensor(e.input(0)), e.optional(1), e.optional(2)});
  const Arg low = e.has_input(1) ? scalar_of(*e.scalar(1), e.dtype()) : none(),
            high = e.has_input(2) ? scalar_of(*e.scalar(2), e.dtype()) : none();
  const bool both = e.has_input(1) && e.has_input(2) && is_float(e.dtype());
  e.define(both ? "hardtanh" : "clamp", {tensor(e.input(0)), low, high});
}

void write_elu(Export& e) {
  e.define("elu", {tensor(e.input(0)), static_cast<double>(e.node().attribute_float("alpha", 1))});
}
void write_celu(Export& e) {
  e.define("celu", {tensor(e.input(0)), static_cast<double>(e.node().attribute_float("alpha", 1))});
}
void write_selu(Export& e) {
  constexpr float kAlpha = 1.67326319217681884765625f, kGamma = 1.05070102214813232421875f;
  const float alpha = e.node().attribute_float("alpha", kAlpha), gamma = e.node().attribute_float("gamma", kGamma);
  if (alpha == kAlpha && gamma == kGamma) return e.define("selu", {tensor(e.input(0))});
  e.define("elu", {tensor(e.input(0)), static_cast<double>(alpha), static_cast<double>(gamma)});
}
void write_leaky_relu(Export& e) {
  e.define("leaky_relu", {tensor(e.input(0)), static_cast<double>(e.node().attribute_float("alpha", 0.01f))});
}
void write_thresholded_relu(Export& e) {
  e.define("threshold", {tensor(e.input(0)), static_cast<double>(e.node().attribute_float("alpha", 1)), 0.0});
}
void write_gelu(Export& e) {
  const std::string approximate = e.node().attribute_string("approximate", "none");
  if (approximate == "none") return e.define("gelu", {tensor(e.input(0))});
  e.define("gelu", {tensor(e.input(0)), approximate});
}
void write_swish(Export& e) {
  const double alpha = static_cast<double>(e.node().attribute_float("alpha", 1));
  const VarId x = e.input(0);
  if (alpha == 1) return e.define("silu", {tensor(x)});
  const VarId scaled = e.step("mul.Scalar", {tensor(x), alpha}, "scaled", e.output_type());
  const VarId gate = e.step("sigmoid", {tensor(scaled)}, "gate", e.output_type());
  e.define("mul.Tensor", {tensor(x), tensor(gate)});
}
void write_softsign(Export& e) {
  const VarId x = e.input(0), size = e.step("abs", {tensor(x)}, "abs", e.output_type());
  const VarId divisor = e.step("add.Scalar", {tensor(size), 1.0}, "divisor", e.output_type());
  e.define("div.Tensor", {tensor(x), tensor(divisor)});
}

// max(0, min(1, alpha * x + beta)); PyTorch's own is that of 1 / 6 and 1 / 2.
void write_hard_sigmoid(Export& e) {
  const float alpha = e.node().attribute_float("alpha", 0.2f), beta = e.node().attribute_float("beta", 0.5f);
  if (std::abs(alpha - 1.0f / 6) < 1e-7f && beta == 0.5f) return e.define("hardsigmoid", {tensor(e.input(0))});
  const VarId line = e.step("mul.Scalar", {tensor(e.input(0)), static_cast<double>(alpha)}, "scaled", e.output_type());
  const VarId moved = e.step("add.Scalar", {tensor(line), static_cast<double>(beta)}, "line", e.output_type());
  e.define("hardtanh", {tensor(moved), 0.0, 1.0});
}

void write_prelu(Export& e) {
  const VarId x = e.input(0), slope = e.input(1);
  const Type type = e.builder().var_type(slope);
  if (type.fixed() && type.shape->size() == 1 && (e.rank(0) > 1 || type.shape->at(0).size == 1)) {
    const int64_t n = type.shape->at(0).size, channels = e.rank(0) > 1 ? e.shape(0)[1] : 1;
    if (n == 1 || (n == channels && (e.rank(0) == 2 || e.constant(1)->rank() > 1)))
      return e.define("prelu", {tensor(x), tensor(slope)});
  }
  const VarId scaled = e.step("mul.Tensor", {tensor(x), tensor(slope)}, "scaled", e.output_type());
  const VarId above = e.step("gt.Scalar", {tensor(x), 0.0}, "above", Type(DType::Bool, *e.output_type().shape));
  e.define("where.self", {tensor(above), tensor(x), tensor(scaled)});
}

void write_softmax(Export& e) { e.define("softmax.int", {tensor(e.input(0)), number(e.axis("axis", -1))}); }
void write_log_softmax(Export& e) { e.define("log_softmax.int", {tensor(e.input(0)), number(e.axis("axis", -1))}); }

void write_where(Export& e) { e.define("where.self", {tensor(e.input(0)), tensor(e.input(1)), tensor(e.input(2))}); }

void write_reduce_max(Export& e) { reduce(e, "amax", e.input(0)); }
void write_reduce_min(Export& e) { reduce(e, "amin", e.input(0)); }
void write_reduce_mean(Export& e) { reduce(e, "mean.dim", e.input(0)); }
void write_reduce_log_sum_exp(Export& e) { reduce(e, "logsumexp", e.input(0)); }
void write_reduce_sum(Export& e) { reduce(e, "sum.dim_IntList", e.input(0)); }
void write_reduce_l1(Export& e) { reduce(e, "sum.dim_IntList", e.step("abs", {tensor(e.input(0))}, "abs", e.type(0))); }
void write_reduce_sum_square(Export& e) {
  const VarId x = e.input(0);
  reduce(e, "sum.dim_IntList", e.step("mul.Tensor", {tensor(x), tensor(x)}, "squared", e.type(0)));
}
void write_reduce_l2(Export& e) {
  const VarId x = e.input(0), squared = e.step("mul.Tensor", {tensor(x), tensor(x)}, "squared", e.type(0));
  const VarId sum =
      e.step("sum.dim_IntList", {tensor(squared), ints(reduced_axes(e)), keeps(e)}, "sum", e.output_type());
  e.define("sqrt", {tensor(sum)});
}
void write_reduce_log_sum(Export& e) {
  const VarId sum =
      e.step("sum.dim_IntList", {tensor(e.input(0)), ints(reduced_axes(e)), keeps(e)}, "sum", e.output_type());
  e.define("log", {tensor(sum)});
}

void write_reduce_prod(Export& e) {
  if (const std::optional<Items> list = e.builder().items(e.node().inputs[0]); list && !list->empty()) {
    Item product = 1;
    for (const Item& item : *list) product = e.builder().arithmetic("mul", product, item);
    return e.define_items({product});
  }
  const std::vector<int64_t> axes = reduced_axes(e);
  VarId y = e.input(0);
  Type type = e.type(0);
  for (size_t i = axes.size(); i-- > 0;) {
    const auto at = static_cast<std::ptrdiff_t>(axes[i]);
    if (keeps(e)) {
      (*type.shape)[axes[i]] = Dim(1);
    } else {
      type.shape->erase(type.shape->begin() + at);
    }
    if (i == 0) return e.define("prod.dim_int", {tensor(y), number(axes[i]), keeps(e)});
    y = e.step("prod.dim_int", {tensor(y), number(axes[i]), keeps(e)}, "product", type);
  }
  e.define(y);
}

void write_arg_max(Export& e) {
  if (e.node().attribute_int("select_last_index", 0) != 0) e.refuse("the last of equal elements");
  const char* op = e.node().op == "ArgMax" ? "argmax" : "argmin";
  e.define(op, {tensor(e.input(0)), number(e.axis("axis", 0)), keeps(e)});
}

// A sort that keeps equal elements in their order, cut off: torch.topk leaves open which of them comes first, where ONNX says the one of the
// lower index, and behind a Relu many are equal.
void write_topk(Export& e) {
  const Node& node = e.node();
  const Items k = e.items(1, "number of elements");
  if (k.size() != 1) e.refuse("a list of numbers of elements");
  const int64_t axis = e.axis("axis", -1), extent = e.shape(0)[static_cast<size_t>(axis)];
  const bool whole = k[0].fixed() && k[0].number == extent;
  std::vector<VarId> sorted;
  for (size_t i = 0; i < 2; ++i) {
    if (whole && node.output(i) != kNoValue) {
      sorted.push_back(e.output(i));
      continue;
    }
    Type type = e.type(0);
    if (i == 1) type.dtype = DType::Int64;
    sorted.push_back(e.builder().add(i == 0 ? "sorted" : "places", std::move(type)));
  }
  e.builder().call("sort.stable", {tensor(e.input(0)), true, number(axis), node.attribute_int("largest", 1) != 0},
                   sorted);
  for (size_t i = 0; i < 2 && !whole; ++i) {
    if (node.output(i) != kNoValue)
      e.builder().call("slice.Tensor", {tensor(sorted[i]), number(axis), Item(0), k[0], number(1)}, {e.output(i)});
  }
}

void write_cumsum(Export& e) {
  if (e.node().attribute_int("exclusive", 0) != 0 || e.node().attribute_int("reverse", 0) != 0)
    e.refuse("sums that begin elsewhere than at the first element");
  e.define("cumsum", {tensor(e.input(0)), number(e.known_ints(1, "axis").at(0))});
}

void write_einsum(Export& e) {
  std::vector<VarId> operands;
  for (size_t i = 0; i < e.node().inputs.size(); ++i) operands.push_back(e.input(i));
  e.define("einsum", {e.node().attribute_string("equation", ""), std::move(operands)});
}

// alpha * A * B + beta * C
void write_gemm(Export& e) {
  const Node& node = e.node();
  const double alpha = static_cast<double>(node.attribute_float("alpha", 1)),
               beta = static_cast<double>(node.attribute_float("beta", 1));
  const auto turned = [&](size_t i, const char* what) {
    std::vector<Dim> dims = *e.type(i).shape;
    std::reverse(dims.begin(), dims.end());
    return e.step("t", {tensor(e.input(i))}, what, Type(e.dtype(), dims));
  };
  const VarId a = node.attribute_int("transA", 0) != 0 ? turned(0, "a") : e.input(0);
  const bool transposed = node.attribute_int("transB", 0) != 0;
  const bool row = e.has_input(2) && e.rank(2) == 1 && e.shape(2)[0] == e.output_shape()[1];
  if (transposed && alpha == 1 && (!e.has_input(2) || (row && beta == 1)))
    return e.define("linear", {tensor(a), tensor(e.input(1)), e.optional(2)});
  const VarId b = transposed ? turned(1, "b") : e.input(1);
  if (e.has_input(2)) {
    std::vector<Arg> args = {tensor(e.input(2)), tensor(a), tensor(b)};
    if (alpha != 1 || beta != 1) args.insert(args.end(), {beta, alpha});
    return e.define("addmm", args);
  }
  if (alpha == 1) return e.define("mm", {tensor(a), tensor(b)});
  const VarId product = e.step("mm", {tensor(a), tensor(b)}, "product", e.output_type());
  e.define("mul.Scalar", {tensor(product), alpha});
}

}  // namespace dnn::torch
