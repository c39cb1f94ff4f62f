// Element by element, reductions, products of matrices.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "formats/division.h"
#include "formats/near_zero.h"
#include "formats/torch/imports.h"
#include "ops/movement.h"

namespace dnn::torch {
namespace {

// What torch.promote_types() gives: a float over an integer, more bits over fewer; where each holds what the other does not,
// the next one that holds both.
DType wider(DType a, DType b) {
  if (a == DType::Undefined || b == DType::Undefined || a == b) return a == DType::Undefined ? b : a;
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  if (a == DType::Bool || b == DType::Bool) return a == DType::Bool ? b : a;
  if (is_float(a)) return dtype_size(a) == dtype_size(b) ? DType::Float32 : dtype_size(a) > dtype_size(b) ? a : b;
  if (dtype_size(a) == dtype_size(b)) return DType::Int16;  // uint8 and int8
  return dtype_size(a) > dtype_size(b) ? a : b;
}

// Truth values, integers, real numbers.
int category(DType dtype) { return is_float(dtype) ? 2 : dtype == DType::Bool ? 0 : 1; }

// Two tensors of one type, as torch promotes them: one without axes gives way to another of its category.
std::pair<ValueId, ValueId> promoted(Op& op, ValueId x, ValueId y) {
  const DType p = op.type(x).dtype, q = op.type(y).dtype;
  if (p == DType::Undefined || q == DType::Undefined || p == q) return {x, y};
  const bool scalar_x = op.type(x).shape && op.type(x).shape->empty(),
             scalar_y = op.type(y).shape && op.type(y).shape->empty();
  DType dtype = wider(p, q);
  if (category(p) == category(q) && scalar_x != scalar_y) dtype = scalar_x ? q : p;
  if (p != dtype) x = op.to_dtype(x, dtype);
  if (q != dtype) y = op.to_dtype(y, dtype);
  return {x, y};
}

}  // namespace

std::pair<ValueId, ValueId> operands(Op& op, size_t a, size_t b) {
  if (!op.is_tensor(b)) {
    const ValueId x = op.tensor(a), y = op.number_like(b, x);
    const DType dtype = wider(op.type(x).dtype, op.type(y).dtype);
    return {op.type(x).dtype == dtype || op.type(x).dtype == DType::Undefined ? x : op.to_dtype(x, dtype), y};
  }
  if (!op.is_tensor(a)) {
    const ValueId y = op.tensor(b), x = op.number_like(a, y);
    const DType dtype = wider(op.type(x).dtype, op.type(y).dtype);
    return {x, op.type(y).dtype == dtype || op.type(y).dtype == DType::Undefined ? y : op.to_dtype(y, dtype)};
  }
  return promoted(op, op.tensor(a), op.tensor(b));
}

void promote(Op& op, std::vector<ValueId>* values) {
  DType widest = DType::Undefined;
  for (ValueId v : *values) {
    if (op.type(v).dtype == DType::Undefined) return;
    widest = wider(widest, op.type(v).dtype);
  }
  for (ValueId& v : *values) v = op.type(v).dtype == widest ? v : op.to_dtype(v, widest);
}

namespace {

std::vector<int64_t> axes_argument(Op& op, size_t i, ValueId x) {
  std::vector<int64_t> axes;
  if (!op.has(i)) return axes;
  for (int64_t axis : op.ints(i)) axes.push_back(op.axis(axis, x));
  return axes;
}

// What sums and products of integers are made of.
ValueId to_int64(Op& op, ValueId x) {
  const DType dtype = op.type(x).dtype;
  return dtype == DType::Bool || (is_integer(dtype) && dtype != DType::Int64) ? op.to_dtype(x, DType::Int64) : x;
}

}  // namespace

ValueId to_float(Op& op, ValueId x) {
  const DType dtype = op.type(x).dtype;
  return dtype == DType::Undefined || is_float(dtype) ? x : op.to_dtype(x, DType::Float32);
}

// Of integers, rounding changes nothing, and a function of real numbers gives real ones.
Any unary(Op& op) {
  static const std::set<std::string, std::less<>> kRounding = {"Ceil", "Floor", "Round"},
                                                  kOfIntegers = {"Abs", "Neg", "Sign"};
  const std::string name = op.row().op;
  const ValueId x = op.tensor(0);
  if (kRounding.count(name) != 0 && is_integer(op.type(x).dtype)) return op.argument(0);
  return op.like(0, op.emit(name, {kOfIntegers.count(name) != 0 ? x : to_float(op, x)}));
}
Any unary_real(Op& op) { return op.result(op.emit(op.row().op, {to_float(op, op.tensor(0))})); }
Any relu(Op& op) {
  const Quantizer* q = op.quantizer(0);
  const ValueId y = op.emit("Relu", {op.tensor(0)});
  return q == nullptr ? op.result(y) : op.quantized(y, *q);
}

Any arithmetic(Op& op) {
  std::string name = op.row().op;
  auto [x, y] = operands(op, 0, 1);
  if (op.type(x).dtype == DType::Bool && op.type(y).dtype == DType::Bool) {
    static const std::map<std::string, const char*> kOfTruths = {
        {"Add", "Or"}, {"Mul", "And"}, {"Max", "Or"}, {"Min", "And"}};
    const auto logical = kOfTruths.find(name);
    if (logical == kOfTruths.end()) op.refuse("of truth values it is not read");
    return op.result(op.emit(logical->second, {x, y}));
  }
  ValueId left = x, right = y;
  if (op.has(2) && op.real(2) != 1) {
    ValueId& scaled = right;
    if (name == "Rsub") {
      left = op.emit("Mul", {left, op.scalar(op.real(2), op.type(left).dtype)});
    } else {
      scaled = op.emit("Mul", {scaled, op.scalar(op.real(2), op.type(scaled).dtype)});
    }
  }
  if (name == "Rsub") {
    name = "Sub";
    std::swap(left, right);
  }
  return op.result(op.emit(name, {left, right}));
}

namespace {

// Whether a constant's single number is a power of two, by which a division is exact.
bool power_of_two(const Op& op, ValueId v) {
  const Tensor* tensor = op.constant(v);
  int exponent = 0;
  return tensor != nullptr && tensor->size() == 1 && std::abs(std::frexp(to_doubles(*tensor)[0], &exponent)) == 0.5;
}

bool never_zero(const Op& op, ValueId v) {
  const Tensor* tensor = op.constant(v);
  if (tensor == nullptr) return false;
  const std::vector<double> values = to_doubles(*tensor);
  return std::all_of(values.begin(), values.end(), [](double value) { return value != 0; });
}

// x / y rounded down. Real numbers as torch does it: 1 // 0.1 is 9, for 0.1 is a little more in float32.
ValueId emitted_floor_quotient(Op& op, ValueId x, ValueId y) {
  const DType dtype = op.type(x).dtype;
  if (is_integer(dtype)) return floor_divided(op, x, y, dtype);
  const ValueId quotient = op.emit("Div", {x, y});
  if (power_of_two(op, y)) return op.emit("Floor", {quotient});
  const ValueId rest = op.emit("Mod", {x, y}, {{"fmod", int64_t{1}}});
  const ValueId whole = op.emit("Div", {op.emit("Sub", {x, rest}), y});
  const ValueId down = op.emit("Round", {op.emit("Sub", {whole, op.to_dtype(other_sign(op, rest, y, dtype), dtype)})});
  if (never_zero(op, y)) return down;
  return op.emit("Where", {op.emit("Equal", {y, op.scalar(0, dtype)}), quotient, down});
}

}  // namespace

Any divide(Op& op) {
  auto [x, y] = operands(op, 0, 1);
  const std::string rounding = op.has(2) ? op.text(2) : "";
  if (rounding == "floor") return op.result(emitted_floor_quotient(op, x, y));
  if (rounding == "trunc") {
    const ValueId quotient = op.emit("Div", {x, y});
    if (is_integer(op.type(x).dtype)) return op.result(quotient);
    return op.result(op.emit("Mul", {op.emit("Sign", {quotient}), op.emit("Floor", {op.emit("Abs", {quotient})})}));
  }
  if (!rounding.empty()) op.refuse("rounding_mode ", dnn::quoted(rounding), " is not read");
  return op.result(op.emit("Div", {to_float(op, x), to_float(op, y)}));
}

Any floor_divide(Op& op) {
  auto [x, y] = operands(op, 0, 1);
  return op.result(emitted_floor_quotient(op, x, y));
}

Any comparison(Op& op) {
  auto [x, y] = operands(op, 0, 1);
  return op.result(op.emit(op.row().op, {x, y}));
}
Any not_equal(Op& op) {
  auto [x, y] = operands(op, 0, 1);
  return op.result(op.emit("Not", {op.emit("Equal", {x, y})}));
}
Any logical(Op& op) {
  return op.result(
      op.emit(op.row().op, {op.to_dtype(op.tensor(0), DType::Bool), op.to_dtype(op.tensor(1), DType::Bool)}));
}
Any logical_not(Op& op) { return op.result(op.emit("Not", {op.to_dtype(op.tensor(0), DType::Bool)})); }

Any power(Op& op) {
  auto [x, y] = operands(op, 0, 1);
  if (op.argument(1).get<int64_t>() != nullptr && op.integer(1) == 2) return op.result(op.emit("Mul", {x, x}));
  return op.result(op.emit("Pow", {x, y}));
}
Any square(Op& op) {
  const ValueId x = op.tensor(0);
  return op.result(op.emit("Mul", {x, x}));
}
Any rsqrt(Op& op) { return op.result(op.emit("Reciprocal", {op.emit("Sqrt", {to_float(op, op.tensor(0))})})); }

namespace {

// Whether a bound is a tensor of several numbers, as against one for all.
bool is_spread(Op& op, size_t i) {
  return op.is_tensor(i) && (!op.type(op.tensor(i)).shape || !op.type(op.tensor(i)).shape->empty());
}

// Clip to the bounds in arguments `low` and `high`; 0: there is none.
ValueId clamped(Op& op, size_t low, size_t high) {
  ValueId x = op.tensor(0);
  const bool below = low != 0 && op.has(low), above = high != 0 && op.has(high);
  if ((below && is_spread(op, low)) || (above && is_spread(op, high))) {
    for (const auto& [given, i, extreme] : {std::tuple(below, low, "Max"), std::tuple(above, high, "Min")}) {
      if (!given) continue;
      const auto [a, b] = promoted(op, x, op.is_tensor(i) ? op.tensor(i) : op.number_like(i, x));
      x = op.emit(extreme, {a, b});
    }
    return x;
  }
  std::vector<ValueId> inputs = {x, below ? op.number_like(low, x) : kNoValue};
  if (high != 0) inputs.push_back(above ? op.number_like(high, x) : kNoValue);
  return op.emit("Clip", std::move(inputs));
}

}  // namespace

Any clamp(Op& op) {
  const Quantizer* q = op.quantizer(0);
  const ValueId y = clamped(op, 1, 2);
  return q == nullptr ? op.result(y) : op.quantized(y, *q);
}
Any clamp_min(Op& op) { return op.result(clamped(op, 1, 0)); }
Any clamp_max(Op& op) { return op.result(clamped(op, 0, 1)); }
Any relu6(Op& op) {
  const Quantizer* q = op.quantizer(0);
  const ValueId x = op.tensor(0);
  const DType dtype = op.type(x).dtype == DType::Undefined ? DType::Float32 : op.type(x).dtype;
  const ValueId y = op.emit("Clip", {x, op.scalar(0, dtype), op.scalar(6, dtype)});
  return q == nullptr ? op.result(y) : op.quantized(y, *q);
}
Any quantized_relu6(Op& op) { return relu6(op); }
Any hardsigmoid(Op& op) {
  return op.result(op.emit("HardSigmoid", {op.tensor(0)}, {{"alpha", 1.0f / 6}, {"beta", 0.5f}}));
}
Any silu(Op& op) {
  const ValueId x = op.tensor(0);
  return op.result(op.emit("Mul", {x, op.emit("Sigmoid", {x})}));
}
Any gelu(Op& op) {
  Attributes attributes;
  if (op.text(1) != "none") attributes["approximate"] = op.text(1);
  return op.result(op.emit("Gelu", {op.tensor(0)}, std::move(attributes)));
}
Any elu(Op& op) {
  if (op.real(3) != 1) op.refuse("an elu with a scaled input is not read");
  if (op.real(2) != 1)
    return op.result(op.emit("Selu", {op.tensor(0)},
                             {{"alpha", static_cast<float>(op.real(1))}, {"gamma", static_cast<float>(op.real(2))}}));
  return op.result(op.emit("Elu", {op.tensor(0)}, {{"alpha", static_cast<float>(op.real(1))}}));
}
Any celu(Op& op) { return op.result(op.emit("Celu", {op.tensor(0)}, {{"alpha", static_cast<float>(op.real(1))}})); }
Any leaky_relu(Op& op) {
  return op.result(op.emit("LeakyRelu", {op.tensor(0)}, {{"alpha", static_cast<float>(op.real(1))}}));
}
Any glu(Op& op) {
  const ValueId x = op.tensor(0);
  const int64_t axis = op.axis(op.integer(1), x);
  const std::vector<ValueId> halves = op.emit_many("Split", {x}, {{"axis", axis}, {"num_outputs", int64_t{2}}}, 2);
  return op.result(op.emit("Mul", {halves[0], op.emit("Sigmoid", {halves[1]})}));
}
// log(1 + exp(beta x)) / beta; where beta x is above the threshold x itself, which float32 gives anyway from 17 on.
Any softplus(Op& op) {
  const ValueId x = op.tensor(0);
  const double beta = op.real(1), threshold = op.real(2);
  const DType dtype = op.type(x).dtype;
  const ValueId scale = op.scalar(beta, dtype), scaled = beta == 1 ? x : op.emit("Mul", {x, scale});
  const ValueId soft = op.emit("Softplus", {scaled}), y = beta == 1 ? soft : op.emit("Div", {soft, scale});
  if (threshold >= 17) return op.result(y);
  return op.result(op.emit("Where", {op.emit("Greater", {scaled, op.scalar(threshold, dtype)}), x, y}));
}
// One slope per channel, which is axis 1.
Any prelu(Op& op) {
  const ValueId x = op.tensor(0);
  ValueId slope = op.tensor(1);
  const size_t rank = op.rank(x);
  if (op.rank(slope) == 1 && rank > 2 && op.extent(slope, 0) != 1) {
    std::vector<int64_t> shape(rank - 1, 1);
    shape[0] = op.extent(slope, 0);
    slope = op.reshape(slope, shape);
  }
  return op.result(op.emit("PRelu", {x, slope}));
}

Any softmax(Op& op) {
  ValueId x = op.tensor(0);
  if (op.row().name[0] == '_') {
    if (op.flag(2)) x = op.to_dtype(x, DType::Float32);  // half_to_float
  } else if (op.has(2)) {
    if (op.dtype(2) != op.type(x).dtype) x = op.to_dtype(x, op.dtype(2));
  }
  return op.result(op.emit(op.row().op, {x}, {{"axis", op.integer(1)}}));
}

Any reduce(Op& op) {
  const Quantizer* q = op.quantizer(0);
  ValueId x = op.tensor(0);
  const std::string name = op.row().op;
  const bool adds = name == "ReduceSum" || name == "ReduceProd";
  if (name == "ReduceMean" || adds) {
    const bool whole = op.has(1) && !op.argument(1).list() && op.argument(1).get<int64_t>() == nullptr;
    if (whole) op.refuse("its axes are ", kind_of(op.argument(1)));
    if (op.has(3)) {
      x = op.to_dtype(x, op.dtype(3));
    } else if (adds) {
      x = to_int64(op, x);
    }
  }
  const std::vector<int64_t> axes = axes_argument(op, 1, x);
  std::vector<ValueId> inputs = {x};
  if (!axes.empty()) inputs.push_back(op.list(axes));
  const bool keep = op.has(2) && op.flag(2);
  const ValueId y = op.emit(name, std::move(inputs), {{"keepdims", int64_t{keep ? 1 : 0}}});
  return q == nullptr ? op.result(y) : op.quantized(y, *q);
}

namespace {

// The variance of x, of which `correction` is taken off the count, and its mean.
std::pair<ValueId, ValueId> variance(Op& op, ValueId x, const std::vector<int64_t>& axes, double correction,
                                     bool keep) {
  int64_t count = 1;
  for (size_t i = 0; axes.empty() && i < op.rank(x); ++i) count *= op.extent(x, static_cast<int64_t>(i));
  for (int64_t axis : axes) count *= op.extent(x, axis);
  std::vector<ValueId> whole = {x};
  if (!axes.empty()) whole.push_back(op.list(axes));
  const ValueId mean = op.emit("ReduceMean", whole, {{"keepdims", int64_t{1}}}), centred = op.emit("Sub", {x, mean});
  whole[0] = centred;
  const ValueId sum = op.emit("ReduceSumSquare", whole, {{"keepdims", int64_t{keep ? 1 : 0}}});
  const double divisor = std::max(0.0, static_cast<double>(count) - correction);
  whole[0] = x;
  return {op.emit("Div", {sum, op.scalar(divisor, op.type(x).dtype)}),
          keep ? mean : op.emit("ReduceMean", whole, {{"keepdims", int64_t{0}}})};
}

}  // namespace

// var, std, var_mean, std_mean: (unbiased), (dim, unbiased, keepdim) or (dim, correction=, keepdim=)
Any variances(Op& op) {
  const std::string name = op.row().op;
  const ValueId x = op.tensor(0);
  double correction = op.has(4) ? op.real(4) : 1;
  bool keep = op.flag(3);
  std::vector<int64_t> axes;
  if (op.has(1) && op.argument(1).get<bool>() != nullptr) {
    correction = op.flag(1) ? 1 : 0;
  } else if (op.has(1)) {
    axes = axes_argument(op, 1, x);
  }
  if (op.has(2)) correction = op.flag(2) ? 1 : 0;
  auto [y, mean] = variance(op, x, axes, correction, keep);
  if (starts_with(name, "std")) y = op.emit("Sqrt", {y});
  return ends_with(name, "mean") ? op.result_many({y, mean}, true) : op.result(y);
}

// (sum of |x|^p)^(1/p)
Any vector_norm(Op& op) {
  ValueId x = op.tensor(0);
  const double p = op.has(1) ? op.real(1) : 2;
  if (op.has(4)) x = op.to_dtype(x, op.dtype(4));
  std::vector<ValueId> inputs = {x};
  const std::vector<int64_t> axes = axes_argument(op, 2, x);
  if (!axes.empty()) inputs.push_back(op.list(axes));
  const Attributes keep = {{"keepdims", int64_t{op.flag(3) ? 1 : 0}}};
  if (p == 2) return op.result(op.emit("ReduceL2", inputs, keep));
  if (p == 1) return op.result(op.emit("ReduceL1", inputs, keep));
  inputs[0] = op.emit("Abs", {x});
  if (std::isinf(p)) return op.result(op.emit(p > 0 ? "ReduceMax" : "ReduceMin", inputs, keep));
  if (p == 0) op.refuse("the count of what is not zero is not read");
  const DType dtype = op.type(x).dtype;
  inputs[0] = op.emit("Pow", {inputs[0], op.scalar(p, dtype)});
  return op.result(op.emit("Pow", {op.emit("ReduceSum", inputs, keep), op.scalar(1 / p, dtype)}));
}

Any arg_extreme(Op& op) {
  ValueId x = op.tensor(0);
  const bool keep = op.flag(2);
  if (!op.has(1)) {
    const std::vector<int64_t> ones(op.rank(x), 1);
    x = op.reshape(x, std::vector<int64_t>{-1});
    const ValueId y = op.emit(op.row().op, {x}, {{"axis", int64_t{0}}, {"keepdims", int64_t{0}}});
    return op.result(keep ? op.reshape(y, ones) : y);
  }
  return op.result(op.emit(op.row().op, {x}, {{"axis", op.integer(1)}, {"keepdims", int64_t{keep ? 1 : 0}}}));
}

// max(x), max(x, other), max(x, dim): values and their places.
Any extreme(Op& op) {
  const std::string name = op.row().op;
  if (op.is_tensor(1)) {
    auto [x, y] = operands(op, 0, 1);
    return op.result(op.emit(name == "ReduceMax" ? "Max" : "Min", {x, y}));
  }
  const ValueId x = op.tensor(0);
  if (!op.has(1)) return op.result(op.emit(name, {x}, {{"keepdims", int64_t{0}}}));
  const int64_t axis = op.axis(op.integer(1), x), keep = op.flag(2) ? 1 : 0;
  const ValueId values = op.emit(name, {x, op.list({axis})}, {{"keepdims", keep}});
  const ValueId places = op.emit(name == "ReduceMax" ? "ArgMax" : "ArgMin", {x}, {{"axis", axis}, {"keepdims", keep}});
  return op.result_many({values, places}, true);
}

Any matmul(Op& op) { return op.result(op.emit("MatMul", {op.tensor(0), op.tensor(1)})); }

// x * transposed weight + bias; one Gemm where x is a matrix.
ValueId affine(Op& op, ValueId x, ValueId weight, ValueId bias) {
  if (!op.type(x).shape && op.type(weight).shape && op.rank(weight) == 2)
    op.importer().guess_input(x, {Dim(std::string("batch")), Dim(op.extent(weight, 1))});
  if (op.rank(weight) != 2) op.refuse("weights of rank ", op.rank(weight));
  if (op.rank(x) == 2) {
    std::vector<ValueId> inputs = {x, weight};
    if (bias != kNoValue) inputs.push_back(bias);
    return op.emit("Gemm", std::move(inputs), {{"transB", int64_t{1}}});
  }
  const ValueId y = op.emit("MatMul", {x, op.transpose(weight, {1, 0})});
  return bias == kNoValue ? y : op.emit("Add", {y, bias});
}

Any linear(Op& op) { return op.result(affine(op, op.tensor(0), op.tensor(1), op.has(2) ? op.tensor(2) : kNoValue)); }

// beta * self + alpha * (mat1 mat2); of a transposed weight, as exported programs have it, a Gemm of the weight itself.
Any addmm(Op& op) {
  const ValueId c = op.tensor(0), a = op.tensor(1), b = op.tensor(2);
  const auto beta = static_cast<float>(op.real(3)), alpha = static_cast<float>(op.real(4));
  if (op.type(a).shape && op.rank(a) != 2) {
    const auto times = [&](ValueId x, float factor) {
      return factor == 1 ? x : op.emit("Mul", {x, op.scalar(factor, op.type(x).dtype)});
    };
    return op.result(op.emit("Add", {times(op.emit("MatMul", {a, b}), alpha), times(c, beta)}));
  }
  Attributes attributes;
  ValueId weight = b;
  const Graph& graph = op.importer().draft.graph;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op != "Transpose" || node.outputs[0] != b || graph.constant(node.inputs[0]) == nullptr) continue;
    if (transpose_permutation(node, 2) != std::vector<int64_t>{1, 0}) continue;
    weight = node.inputs[0];
    attributes["transB"] = int64_t{1};
  }
  if (alpha != 1) attributes["alpha"] = alpha;
  if (beta != 1) attributes["beta"] = beta;
  return op.result(op.emit("Gemm", {a, weight, c}, std::move(attributes)));
}

Any einsum(Op& op) {
  std::string equation = op.text(0);
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  return op.result(op.emit("Einsum", op.tensors(1), {{"equation", equation}}));
}

Any where(Op& op) {
  if (!op.has(1) || !op.has(2)) op.refuse("the indices of what is not zero are not read");
  const ValueId condition = op.tensor(0);
  auto [x, y] = operands(op, 1, 2);
  return op.result(op.emit(
      "Where", {op.type(condition).dtype == DType::Bool ? condition : op.to_dtype(condition, DType::Bool), x, y}));
}
Any masked_fill(Op& op) {
  const ValueId x = op.tensor(0), mask = op.tensor(1);
  const ValueId value = op.number_like(2, x);
  return op.result(
      op.emit("Where", {op.type(mask).dtype == DType::Bool ? mask : op.to_dtype(mask, DType::Bool), value, x}));
}

Any test(Op& op) { return op.result(op.emit(op.row().op, {op.tensor(0)})); }

// Of truth values the logical operator.
Any bitwise(Op& op) {
  auto [x, y] = operands(op, 0, 1);
  const std::string name = op.row().op;
  return op.result(op.emit(op.type(x).dtype == DType::Bool ? name : "Bitwise" + name, {x, y}));
}
Any bitwise_not(Op& op) {
  const ValueId x = op.tensor(0);
  return op.result(op.emit(op.type(x).dtype == DType::Bool ? "Not" : "BitwiseNot", {x}));
}

// remainder() has the divisor's sign, fmod() the dividend's.
Any remainder(Op& op) {
  auto [x, y] = operands(op, 0, 1);
  const bool fmod = std::string(op.row().op) == "fmod";
  if (fmod) return op.result(op.emit("Mod", {x, y}, {{"fmod", int64_t{1}}}));
  return op.result(floor_remainder(op, x, y, op.type(x).dtype));
}

Any threshold(Op& op) {
  const ValueId x = op.tensor(0);
  return op.result(op.emit("Where", {op.emit("Greater", {x, op.number_like(1, x)}), x, op.number_like(2, x)}));
}

Any topk(Op& op) {
  const ValueId x = op.tensor(0);
  const int64_t axis = op.axis(op.integer(2), x);
  return op.result_many(
      op.emit_many("TopK", {x, op.list({op.integer(1)})},
                   {{"axis", axis}, {"largest", int64_t{op.flag(3) ? 1 : 0}}, {"sorted", int64_t{op.flag(4) ? 1 : 0}}},
                   2),
      true);
}

Any log_of(Op& op) {
  const ValueId x = to_float(op, op.tensor(0));
  const std::string base = op.row().op;
  const DType dtype = op.type(x).dtype;
  if (base == "1p") return op.result(log_of_one_more(op, x, dtype));
  return op.result(op.emit("Div", {op.emit("Log", {x}), op.scalar(std::log(base == "2" ? 2.0 : 10.0), dtype)}));
}

// Rounded to zero; "frac": what that takes off.
Any truncated(Op& op) {
  const ValueId x = op.tensor(0);
  if (is_integer(op.type(x).dtype)) return op.argument(0);
  const ValueId y = op.emit("Mul", {op.emit("Sign", {x}), op.emit("Floor", {op.emit("Abs", {x})})});
  return op.result(*op.row().op == '\0' ? y : op.emit("Sub", {x, y}));
}
Any exponential(Op& op) {
  const ValueId x = to_float(op, op.tensor(0));
  const DType dtype = op.type(x).dtype;
  if (std::string(op.row().op) == "2") return op.result(op.emit("Pow", {op.scalar(2, dtype), x}));
  return op.result(exp_less_one(op, x, dtype));
}
Any is_finite(Op& op) {
  const ValueId x = to_float(op, op.tensor(0));
  return op.result(op.emit("Not", {op.emit("Or", {op.emit("IsNaN", {x}), op.emit("IsInf", {x})})}));
}

// x + weight (y - x)
Any lerp(Op& op) {
  const ValueId x = op.tensor(0), y = op.tensor(1), weight = op.number_like(2, x);
  return op.result(op.emit("Add", {x, op.emit("Mul", {weight, op.emit("Sub", {y, x})})}));
}

// x + value (a b), x + value (a / b)
Any add_product(Op& op) {
  const ValueId x = op.tensor(0);
  ValueId y = op.emit(op.row().op, {op.tensor(1), op.tensor(2)});
  if (op.real(3) != 1) y = op.emit("Mul", {y, op.scalar(op.real(3), op.type(x).dtype)});
  return op.result(op.emit("Add", {x, y}));
}

Any quantify(Op& op) {
  const bool any = std::string(op.row().op) == "any";
  const ValueId x = op.to_dtype(op.to_dtype(op.tensor(0), DType::Bool), DType::Int32);
  std::vector<ValueId> inputs = {x};
  const std::vector<int64_t> axes = axes_argument(op, 1, x);
  if (!axes.empty()) inputs.push_back(op.list(axes));
  const Attributes keep = {{"keepdims", int64_t{op.flag(2) ? 1 : 0}}};
  return op.result(op.to_dtype(op.emit(any ? "ReduceMax" : "ReduceMin", inputs, keep), DType::Bool));
}

Any triangle(Op& op) {
  const ValueId diagonal = op.scalar(static_cast<double>(op.integer(1)), DType::Int64);
  return op.result(op.emit("Trilu", {op.tensor(0), diagonal}, {{"upper", int64_t{*op.row().op != 0 ? 1 : 0}}}));
}

Any cumsum(Op& op) {
  ValueId x = op.tensor(0);
  x = op.has(2) ? op.to_dtype(x, op.dtype(2)) : to_int64(op, x);
  return op.result(op.emit("CumSum", {x, op.scalar(static_cast<double>(op.integer(1)), DType::Int64)}));
}

}  // namespace dnn::torch
