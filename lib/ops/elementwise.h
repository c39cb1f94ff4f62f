// Element-wise operators, written once: a functor template gives the reference kernel (on numbers), the lowering (on loop
// expressions), so that both compute the same bits, and the gradient (on dual numbers, ops/symbolic.h). Broadcasting follows ONNX (multidirectional, numpy's rules).
#pragma once
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "ops/op.h"
#include "ops/symbolic.h"
#include "tensor/dispatch.h"

namespace dnn {

// Scalar counterparts of the loop IR's vocabulary; functors call these unqualified.
namespace elementwise {
template <class T>
T select(bool c, T a, T b) {
  return c ? a : b;
}
// a > b ? a : b: a NaN in `a` gives b, a NaN in `b` stays, as x86's maxps.
template <class T>
T max(T a, T b) {
  return a > b ? a : b;
}
template <class T>
T min(T a, T b) {
  return a < b ? a : b;
}

#define DNN_SCALAR_MATH(name, call, op)            \
  inline float name(float x) { return call(x); }   \
  inline double name(double x) { return call(x); } \
  inline loops::Expr name(loops::Expr x) { return loops::unary(loops::Op::op, std::move(x)); }
DNN_SCALAR_MATH(exp, std::exp, Exp)
DNN_SCALAR_MATH(log, std::log, Log)
DNN_SCALAR_MATH(sqrt, std::sqrt, Sqrt)
DNN_SCALAR_MATH(sin, std::sin, Sin)
DNN_SCALAR_MATH(cos, std::cos, Cos)
DNN_SCALAR_MATH(tan, std::tan, Tan)
DNN_SCALAR_MATH(asin, std::asin, Asin)
DNN_SCALAR_MATH(acos, std::acos, Acos)
DNN_SCALAR_MATH(atan, std::atan, Atan)
DNN_SCALAR_MATH(sinh, std::sinh, Sinh)
DNN_SCALAR_MATH(cosh, std::cosh, Cosh)
DNN_SCALAR_MATH(tanh, std::tanh, Tanh)
DNN_SCALAR_MATH(asinh, std::asinh, Asinh)
DNN_SCALAR_MATH(acosh, std::acosh, Acosh)
DNN_SCALAR_MATH(atanh, std::atanh, Atanh)
DNN_SCALAR_MATH(erf, std::erf, Erf)
DNN_SCALAR_MATH(floor, std::floor, Floor)
DNN_SCALAR_MATH(ceil, std::ceil, Ceil)
DNN_SCALAR_MATH(round_even, std::nearbyint, RoundEven)
#undef DNN_SCALAR_MATH
using loops::max;
using loops::min;
using loops::select;
template <class T>
bool is_nan(T x) {
  return x != x;
}
inline loops::Expr is_nan(loops::Expr x) {
  return is_float(x->dtype) ? loops::unary(loops::Op::IsNan, std::move(x)) : loops::constant_int(DType::Bool, 0);
}
inline bool is_inf(float x) { return std::isinf(x); }
inline bool is_inf(double x) { return std::isinf(x); }
inline loops::Expr is_inf(loops::Expr x) { return loops::unary(loops::Op::IsInf, std::move(x)); }
// Integers wrap: the most negative one is its own absolute value.
template <class T>
T abs(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::fabs(x);
  if constexpr (std::is_signed_v<T>) return x < 0 ? static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x)) : x;
  return x;
}
inline loops::Expr abs(loops::Expr x) { return loops::unary(loops::Op::Abs, std::move(x)); }
inline float pow(float x, float y) { return std::pow(x, y); }
inline double pow(double x, double y) { return std::pow(x, y); }
inline loops::Expr pow(loops::Expr x, loops::Expr y) {
  return loops::binary(loops::Op::Pow, std::move(x), std::move(y));
}
// Sums, differences and products; integers wrap.
template <class T>
T add(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}
template <class T>
T subtract(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  else
    return a - b;
}
template <class T>
T multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}
// `value` in x's type: a constant of the same dtype.
template <class T>
T like(T, double value) {
  return static_cast<T>(value);
}
inline loops::Expr like(const loops::Expr& x, double value) { return loops::constant(x->dtype, value); }
// The larger and the smaller value; a NaN in either gives NaN.
template <class T>
T maximum(T a, T b) {
  return select(a > b || is_nan(a), a, b);
}
template <class T>
T minimum(T a, T b) {
  return select(a < b || is_nan(a), a, b);
}
// log(1 + x) without losing a small x: the quotient log(w)/(w - 1) is accurate where w = 1 + x is not (Goldberg, 1991,
// theorem 4).
template <class T>
T log1p(T x) {
  const T one = like(x, 1), w = one + x;
  return select(w == one, x, log(w) * x / (w - one));
}
template <class T>
T sigmoid(T x) {
  const T one = like(x, 1);
  return one / (one + exp(-x));
}
// x sigmoid(x) in one quotient (Elfwing, Uchibe and Doya, Sigmoid-weighted linear units, 2018).
template <class T>
T silu(T x) {
  return x / (like(x, 1) + exp(-x));
}
inline loops::Expr silu(loops::Expr x) { return loops::unary(loops::Op::Silu, std::move(x)); }
// log(1 + exp(x)), which does not overflow.
template <class T>
T softplus(T x) {
  return max(like(x, 0), x) + log1p(exp(-abs(x)));
}
}  // namespace elementwise

// Shape of a numpy-style broadcast; Malformed (naming the node) when the shapes do not agree.
Shape broadcast_shape(const Node& node, const Shape& a, const Shape& b);
// The same on partly known extents.
std::vector<Dim> broadcast_dims(const Node& node, const std::vector<Dim>& a, const std::vector<Dim>& b);
// For each output element in row-major order, the offsets of the inputs' elements.
std::vector<std::vector<int64_t>> broadcast_offsets(const Shape& output, const std::vector<Shape>& inputs);

// The same by runs: stretches of the output in which each input's elements lie one behind another (step 1) or are one (step 0).
struct BroadcastRuns {
  int64_t length = 1;                         // output elements of a run
  std::vector<int64_t> step;                  // by input
  std::vector<std::vector<int64_t>> offsets;  // by input: of each run's first element
};
BroadcastRuns broadcast_runs(const Shape& output, const std::vector<Shape>& inputs);

// Part of a run: `count` output elements from place `begin`, and the inputs' elements from places a and b, in steps of 0 or 1.
struct BroadcastRun {
  int64_t begin, a, b, step_a, step_b, count;
};
// Calls body for parts that make up the output, from any thread of `pool`.
void for_each_run(ThreadPool* pool, const Shape& output, const Shape& a, const Shape& b,
                  const std::function<void(const BroadcastRun&)>& body);

// infer(): output = broadcast of all inputs, dtype of the first (or bool for comparisons).
void infer_elementwise(InferContext& context);
void infer_comparison(InferContext& context);
// lower() for any operator that has element(): one "map" stage. Nothing where an input or the output is of a type that
// generated code does not compute in (see loops::has_arithmetic).
void lower_elementwise(LowerContext& context);
// The same where the output is float or bool: compiled integer arithmetic may not wrap, so it is left to the reference.
void lower_float_elementwise(LowerContext& context);
// The loops of a "map" stage over `output`, its element given by the indices.
void emit_map(LowerContext& context, const loops::BufferRef& output,
              const std::function<loops::Expr(const std::vector<loops::Expr>& indices)>& element);
// Indices into an input of `shape` for output indices, broadcast dims pinned to 0.
std::vector<loops::Expr> broadcast_indices(const Shape& shape, const std::vector<loops::Expr>& indices);

// Which dtypes a functor's reference kernel covers.
enum class Domain { Floats, Numbers, Integers, Bools };

namespace internal {
template <Domain domain, class Body>
void dispatch_domain(DType dtype, Body&& body) {
  if constexpr (domain == Domain::Floats) {
    dispatch_float(dtype, body);
  } else if constexpr (domain == Domain::Bools) {
    if (dtype != DType::Bool) fail_unsupported("a bool tensor is needed, not ", dtype_name(dtype));
    body(TypeTag<bool>{});
  } else {
    dispatch_numeric(dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_same_v<T, bool> || (domain == Domain::Integers && !std::is_integral_v<T>)) {
        fail_unsupported("no arithmetic on ", dtype_name(dtype), " tensors here");
      } else {
        body(tag);
      }
    });
  }
}

// A type of the domain, to ask a functor for its result type.
template <Domain domain>
using SampleOf =
    std::conditional_t<domain == Domain::Integers, int32_t, std::conditional_t<domain == Domain::Bools, bool, float>>;

template <class Functor>
Functor make_functor(const Node& node) {
  if constexpr (std::is_constructible_v<Functor, const Node&>) {
    return Functor(node);
  } else {
    return Functor();
  }
}

// A loop over one row is what the compiler makes anew for each functor and dtype. All else is done once, in elementwise.cc.
// Inputs and output are of the row's types; the steps, 0 or 1, count elements.
using UnaryRow = void (*)(const void* functor, const void* x, void* out, int64_t n);
using BinaryRow = void (*)(const void* functor, const void* a, int64_t step_a, const void* b, int64_t step_b, void* out,
                           int64_t n);
template <class Row>
struct RowKernel {
  Row row = nullptr;
  const void* functor = nullptr;
  DType output = DType::Undefined;
};
// Output 0 of a node with one input, or with two that are broadcast.
void run_unary(ReferenceContext& context, const RowKernel<UnaryRow>& kernel);
void run_binary(ReferenceContext& context, const Tensor& a, const Tensor& b, const RowKernel<BinaryRow>& kernel);

template <class Functor, class T, class Out>
void unary_row(const void* functor, const void* x, void* out, int64_t n) {
  const Functor f = *static_cast<const Functor*>(functor);
  const T* in = static_cast<const T*>(x);
  Out* to = static_cast<Out*>(out);
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<Out>(f(widen(in[i])));
}

template <class Functor, class A, class B, class Out>
void binary_row(const void* functor, const void* a, int64_t step_a, const void* b, int64_t step_b, void* out,
                int64_t n) {
  const Functor f = *static_cast<const Functor*>(functor);
  const A* left = static_cast<const A*>(a);
  const B* right = static_cast<const B*>(b);
  Out* to = static_cast<Out*>(out);
  if (step_a == 1 && step_b == 1) {
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<Out>(f(widen(left[i]), widen(right[i])));
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<Out>(f(widen(left[i * step_a]), widen(right[i * step_b])));
  }
}
}  // namespace internal

template <class Functor, Domain domain>
void reference_unary(ReferenceContext& context) {
  const auto functor = internal::make_functor<Functor>(context.node);
  internal::RowKernel<internal::UnaryRow> kernel{.functor = &functor};
  internal::dispatch_domain<domain>(context.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Out = std::conditional_t<std::is_same_v<decltype(functor(widen(T()))), bool>, bool, T>;
    kernel.row = internal::unary_row<Functor, T, Out>;
    kernel.output = kDTypeOf<Out>;
  });
  internal::run_unary(context, kernel);
}

template <class Functor, Domain domain>
void reference_binary(ReferenceContext& context) {
  const auto functor = internal::make_functor<Functor>(context.node);
  internal::RowKernel<internal::BinaryRow> kernel{.functor = &functor};
  const Tensor &a = context.input(0), &b = context.input(1);
  if (a.dtype() != b.dtype()) context.fail("inputs of ", dtype_name(a.dtype()), " and ", dtype_name(b.dtype()));
  internal::dispatch_domain<domain>(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Out = std::conditional_t<std::is_same_v<decltype(functor(widen(T()), widen(T()))), bool>, bool, T>;
    kernel.row = internal::binary_row<Functor, T, T, Out>;
    kernel.output = kDTypeOf<Out>;
  });
  internal::run_binary(context, a, b, kernel);
}

// One input after another is folded in: struct F { T operator()(T so_far, T next) const; T finish(T all, double n) const; }
template <class Functor, Domain domain>
void reference_variadic(ReferenceContext& context) {
  const Functor functor = internal::make_functor<Functor>(context.node);
  Shape shape;
  for (size_t i = 0; i < context.inputs.size(); ++i) {
    if (context.input(i).dtype() != context.input(0).dtype()) {
      context.fail("inputs of ", dtype_name(context.input(0).dtype()), " and ", dtype_name(context.input(i).dtype()));
    }
    shape = broadcast_shape(context.node, shape, context.input(i).shape());
  }
  internal::dispatch_domain<domain>(context.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    Tensor y(kDTypeOf<T>, shape);
    std::vector<Compute<T>> all(y.size());
    for (size_t k = 0; k < context.inputs.size(); ++k) {
      const Tensor& x = context.input(k);
      const T* in = x.data<T>();
      const auto offsets = x.shape() == shape ? std::vector<int64_t>() : broadcast_offsets(shape, {x.shape()})[0];
      for (size_t i = 0; i < all.size(); ++i) {
        const Compute<T> next = widen(in[offsets.empty() ? static_cast<int64_t>(i) : offsets[i]]);
        all[i] = k == 0 ? next : functor(all[i], next);
      }
    }
    T* out = y.mutable_data<T>();
    const auto n = static_cast<double>(context.inputs.size());
    for (size_t i = 0; i < all.size(); ++i) out[i] = static_cast<T>(functor.finish(all[i], n));
    context.outputs[0] = std::move(y);
  });
}

template <class Functor>
loops::Expr element_variadic(const Node& node, const std::vector<loops::Expr>& inputs) {
  const Functor functor = internal::make_functor<Functor>(node);
  loops::Expr all = inputs[0];
  for (size_t k = 1; k < inputs.size(); ++k) all = functor(all, inputs[k]);
  return functor.finish(all, static_cast<double>(inputs.size()));
}

template <class Functor>
loops::Expr element_unary(const Node& node, const std::vector<loops::Expr>& inputs) {
  return internal::make_functor<Functor>(node)(inputs[0]);
}
template <class Functor>
loops::Expr element_binary(const Node& node, const std::vector<loops::Expr>& inputs) {
  return internal::make_functor<Functor>(node)(inputs[0], inputs[1]);
}

// gradient() of a functor of any number of inputs: it is called once for each input that wants its gradient.
template <class Functor>
void gradient_elementwise(GradientContext& context) {
  const Functor functor = internal::make_functor<Functor>(context.node);
  for (size_t i = 0; i < context.node.inputs.size(); ++i) {
    if (!context.wants(i)) continue;
    const auto input = [&](size_t k) { return internal::dual_input(context, k, k == i); };
    if constexpr (std::is_invocable_v<Functor, elementwise::Dual>) {
      internal::set_slope(context, i, functor(input(0)).slope);
    } else {
      internal::set_slope(context, i, functor(input(0), input(1)).slope);
    }
  }
}
template <class Functor>
void gradient_variadic(GradientContext& context) {
  const Functor functor = internal::make_functor<Functor>(context.node);
  for (size_t i = 0; i < context.node.inputs.size(); ++i) {
    if (!context.wants(i)) continue;
    elementwise::Dual all = internal::dual_input(context, 0, i == 0);
    for (size_t k = 1; k < context.node.inputs.size(); ++k)
      all = functor(all, internal::dual_input(context, k, k == i));
    internal::set_slope(context, i, functor.finish(all, static_cast<double>(context.node.inputs.size())).slope);
  }
}

// The OpDef of a one-input functor: struct F { template <class T> auto operator()(T x) const; };
template <class Functor, Domain domain>
OpDef unary_op(std::string name, int since, Traits traits) {
  OpDef op;
  op.name = std::move(name);
  op.since = since;
  op.traits = traits;
  using Sample = internal::SampleOf<domain>;
  constexpr bool test = std::is_same_v<decltype(std::declval<Functor>()(Sample())), bool>;
  op.infer = test ? infer_comparison : infer_elementwise;
  op.reference = reference_unary<Functor, domain>;
  op.lower = domain == Domain::Numbers && !test ? lower_float_elementwise : lower_elementwise;
  op.element = element_unary<Functor>;
  if constexpr (!test && (domain == Domain::Floats || domain == Domain::Numbers))
    op.gradient = gradient_elementwise<Functor>;
  else
    op.no_gradient = true;
  return op;
}

// The OpDef of a functor that folds any number of inputs.
template <class Functor, Domain domain>
OpDef variadic_op(std::string name, int since, Traits traits) {
  OpDef op;
  op.name = std::move(name);
  op.since = since;
  op.traits = traits;
  op.max_inputs = -1;
  op.infer = infer_elementwise;
  op.reference = reference_variadic<Functor, domain>;
  op.lower = lower_float_elementwise;
  op.element = element_variadic<Functor>;
  op.gradient = gradient_variadic<Functor>;
  return op;
}

// The OpDef of a two-input functor; a bool result makes it a comparison.
template <class Functor, Domain domain>
OpDef binary_op(std::string name, int since, Traits traits) {
  OpDef op;
  op.name = std::move(name);
  op.since = since;
  op.traits = traits;
  op.min_inputs = op.max_inputs = 2;
  using Sample = internal::SampleOf<domain>;
  constexpr bool test = std::is_same_v<decltype(std::declval<Functor>()(Sample(), Sample())), bool>;
  op.infer = test ? infer_comparison : infer_elementwise;
  op.reference = reference_binary<Functor, domain>;
  op.lower = domain == Domain::Numbers && !test ? lower_float_elementwise : lower_elementwise;
  op.element = element_binary<Functor>;
  if constexpr (!test && (domain == Domain::Floats || domain == Domain::Numbers))
    op.gradient = gradient_elementwise<Functor>;
  else
    op.no_gradient = true;
  return op;
}

}  // namespace dnn
