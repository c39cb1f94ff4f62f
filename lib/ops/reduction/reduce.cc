// ReduceSum, -Mean, -Prod, -Max, -Min, -L1, -L2, -SumSquare, -LogSum, -LogSumExp over any axes.
//
// Order: the reduced elements row-major, one after another, from the neutral element on. The 16-bit floats accumulate in
// float32; integers wrap. ReduceLogSumExp subtracts the largest finite element first.
#include "ops/reduce.h"

#include <limits>

#include "ops/elementwise.h"
#include "ops/gradient.h"
#include "ops/permute.h"

namespace dnn::reduce_ops {
namespace {

// A reduction is start(x: any element, for its type), step(sum, x), finish(sum, count).
struct SumOf {
  template <class T>
  T start(T like_this) const {
    return elementwise::like(like_this, 0);
  }
  template <class T>
  T step(T sum, T x) const {
    return elementwise::add(sum, x);
  }
  template <class T>
  T finish(T sum, double) const {
    return sum;
  }
};

struct MeanOf : SumOf {
  template <class T>
  T finish(T sum, double n) const {
    if constexpr (std::is_integral_v<T>) {
      if (n == 0) fail_malformed("ReduceMean: the mean of no integers");
      return static_cast<T>(static_cast<double>(sum) / n);
    } else {
      return sum / elementwise::like(sum, n);
    }
  }
};

struct ProductOf : SumOf {
  template <class T>
  T start(T like_this) const {
    return elementwise::like(like_this, 1);
  }
  template <class T>
  T step(T product, T x) const {
    return elementwise::multiply(product, x);
  }
};

struct L1Of : SumOf {
  template <class T>
  T step(T sum, T x) const {
    return elementwise::add(sum, elementwise::abs(x));
  }
};

struct SumSquareOf : SumOf {
  template <class T>
  T step(T sum, T x) const {
    return elementwise::add(sum, elementwise::multiply(x, x));
  }
};

struct L2Of : SumSquareOf {
  template <class T>
  T finish(T sum, double) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(std::sqrt(static_cast<double>(sum)));
    else
      return elementwise::sqrt(sum);
  }
};

struct LogSumOf : SumOf {
  template <class T>
  T finish(T sum, double) const {
    return elementwise::log(sum);
  }
};

// The smallest and largest value of a type: what no element is below or above.
template <class T>
T lowest() {
  return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
}
template <class T>
T highest() {
  return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
}
double lowest_of(DType dtype) {
  double value = 0;
  dispatch_numeric(dtype,
                   [&](auto tag) { value = static_cast<double>(lowest<Compute<typename decltype(tag)::type>>()); });
  return value;
}

struct MaxOf : SumOf {
  template <class T>
  T start(T) const {
    return lowest<T>();
  }
  loops::Expr start(const loops::Expr& x) const { return loops::constant(x->dtype, lowest_of(x->dtype)); }
  template <class T>
  T step(T best, T x) const {
    if constexpr (std::is_same_v<T, bool>)
      return best || x;
    else
      return elementwise::maximum(best, x);
  }
};

struct MinOf : SumOf {
  template <class T>
  T start(T) const {
    return highest<T>();
  }
  loops::Expr start(const loops::Expr& x) const { return loops::constant(x->dtype, -lowest_of(x->dtype)); }
  template <class T>
  T step(T best, T x) const {
    if constexpr (std::is_same_v<T, bool>)
      return best && x;
    else
      return elementwise::minimum(best, x);
  }
};

struct LogSumExpOf {};

template <class Functor, class C, class Get>
C reduce_one(int64_t n, const Get& get) {
  if constexpr (std::is_same_v<Functor, LogSumExpOf>) {
    C largest = MaxOf().start(C());
    for (int64_t i = 0; i < n; ++i) largest = elementwise::maximum(largest, get(i));
    if (elementwise::is_inf(largest)) largest = 0;
    C sum = 0;
    for (int64_t i = 0; i < n; ++i) sum = sum + std::exp(get(i) - largest);
    return std::log(sum) + largest;
  } else {
    const Functor functor;
    C sum = functor.start(C());
    for (int64_t i = 0; i < n; ++i) sum = functor.step(sum, get(i));
    return functor.finish(sum, static_cast<double>(n));
  }
}

template <class Functor, class T>
Tensor reduce(const Tensor& x, const std::vector<bool>& reduced, bool keepdims) {
  Tensor y(x.dtype(), reduced_shape(x.shape(), reduced, keepdims));
  const ReductionOffsets offsets(x.shape(), reduced);
  const T* in = x.data<T>();
  T* out = y.mutable_data<T>();
  const auto n = static_cast<int64_t>(offsets.inner.size());
  for (size_t i = 0; i < offsets.kept.size(); ++i) {
    const T* from = in + offsets.kept[i];
    out[i] =
        static_cast<T>(reduce_one<Functor, Compute<T>>(n, [&](int64_t k) { return widen(from[offsets.inner[k]]); }));
  }
  return y;
}

template <class Functor, Domain domain>
void reference(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  const auto reduced = reduced_axes(context.node, context.has_input(1) ? context.inputs[1] : nullptr, x.rank());
  const bool keepdims = flag_attribute(context.node, "keepdims");
  constexpr bool kExtreme = std::is_same_v<Functor, MaxOf> || std::is_same_v<Functor, MinOf>;
  if constexpr (kExtreme) {
    if (x.dtype() == DType::Bool) {
      context.outputs[0] = reduce<Functor, bool>(x, reduced, keepdims);
      return;
    }
  }
  internal::dispatch_domain<domain>(x.dtype(), [&](auto tag) {
    context.outputs[0] = reduce<Functor, typename decltype(tag)::type>(x, reduced, keepdims);
  });
}

// Loops d0.. over the kept axes and r0.. over the reduced ones, by their position in the input.
struct Nest {
  std::vector<loops::Expr> x_index, y_index;
  std::vector<bool> reduced;
  Shape shape;
  loops::Stmt inner(loops::Stmt body) const { return around(std::move(body), true); }
  loops::Stmt outer(loops::Stmt body) const { return around(std::move(body), false); }
  double count() const {
    double n = 1;
    for (size_t i = 0; i < shape.size(); ++i) n *= reduced[i] ? static_cast<double>(shape[i]) : 1;
    return n;
  }

 private:
  loops::Stmt around(loops::Stmt body, bool wanted) const {
    for (size_t i = shape.size(); i-- > 0;) {
      if (reduced[i] == wanted) body = loops::loop(cat(wanted ? "r" : "d", i), shape[i], std::move(body));
    }
    return body;
  }
};

template <class Functor>
void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], y = context.outputs[0];
  if (!is_float(x->dtype) || !loops::has_arithmetic(x->dtype)) return;
  if (context.has_input(1) && context.constant(1) == nullptr) return;
  Nest nest;
  nest.shape = x->shape;
  nest.reduced = reduced_axes(context.node, context.constant(1), static_cast<int64_t>(x->shape.size()));
  const bool keepdims = flag_attribute(context.node, "keepdims");
  for (size_t i = 0; i < x->shape.size(); ++i) {
    const bool reduced = nest.reduced[i];
    nest.x_index.push_back(variable(cat(reduced ? "r" : "d", i)));
    if (!reduced || keepdims) nest.y_index.push_back(reduced ? constant_int(DType::Int64, 0) : nest.x_index.back());
  }
  const BufferRef sum = local_buffer("sum", x->dtype);
  const Expr value = load(x, nest.x_index), so_far = load(sum, {});
  if constexpr (std::is_same_v<Functor, LogSumExpOf>) {
    const BufferRef largest = local_buffer("largest", x->dtype);
    const Expr most = load(largest, {});
    context.emit(
        "row",
        nest.outer(block({alloc(largest), store(largest, {}, MaxOf().start(value)),
                          nest.inner(store(largest, {}, elementwise::maximum(most, value))),
                          store(largest, {}, loops::select(elementwise::is_inf(most), constant(x->dtype, 0), most)),
                          alloc(sum), store(sum, {}, constant(x->dtype, 0)),
                          nest.inner(store(sum, {}, so_far + elementwise::exp(value - most))),
                          store(y, nest.y_index, elementwise::log(so_far) + most)})));
  } else {
    const Functor functor;
    context.emit("reduce", nest.outer(block({alloc(sum), store(sum, {}, functor.start(value)),
                                             nest.inner(store(sum, {}, functor.step(so_far, value))),
                                             store(y, nest.y_index, functor.finish(so_far, nest.count()))})));
  }
}

double flops(const Node&, const std::vector<Shape>& inputs, const std::vector<Shape>&) {
  return static_cast<double>(element_count(inputs[0]));
}

// The gradient of a sum, a mean or a sum of squares, and what follows from these.
template <class Functor>
void gradient(GradientContext& context) {
  if (!context.wants(0)) return;
  GraphBuilder& build = context.build;
  const ValueId x = context.input(0);
  const Shape shape = build.shape(x);
  const Tensor* axes = context.input(1) == kNoValue ? nullptr : build.known(context.input(1));
  if (context.input(1) != kNoValue && axes == nullptr)
    fail_unsupported(context.node.label(), ": a gradient needs axes that are constant");
  const std::vector<bool> reduced = reduced_axes(context.node, axes, static_cast<int64_t>(shape.size()));
  const Shape kept = reduced_shape(shape, reduced, true);
  const auto number = [&](double value) { return build.number(value, build.dtype(x)); };
  const auto node = [&](const char* op, ValueId a, ValueId b) { return build.emit(op, {a, b}); };
  ValueId dy = reshape_to(build, context.dy(), kept);
  const ValueId y = reshape_to(build, context.output(0), kept);
  if constexpr (std::is_same_v<Functor, MeanOf>) {
    const double count = static_cast<double>(element_count(shape)) / static_cast<double>(element_count(kept));
    dy = node("Div", dy, number(count));
  } else if constexpr (std::is_same_v<Functor, SumSquareOf>) {
    dy = node("Mul", dy, node("Mul", number(2), x));
  } else if constexpr (std::is_same_v<Functor, L2Of>) {
    dy = node("Mul", dy, node("Div", x, y));
  } else if constexpr (std::is_same_v<Functor, L1Of>) {
    dy = node("Mul", dy, build.emit("Sign", {x}));
  } else if constexpr (std::is_same_v<Functor, LogSumOf>) {
    dy = node("Div", dy, build.emit("Exp", {y}));
  } else if constexpr (std::is_same_v<Functor, LogSumExpOf>) {
    dy = node("Mul", dy, build.emit("Exp", {node("Sub", x, y)}));
  }
  context.set(0, expand_to(build, dy, shape));
}

template <class Functor, Domain domain = Domain::Numbers>
OpDef reduce_op(std::string name, int since) {
  OpDef op;
  op.name = std::move(name);
  op.since = since;
  op.max_inputs = 2;
  op.traits = std::is_same_v<Functor, MaxOf> || std::is_same_v<Functor, MinOf> ? Traits{Trait::Moves} : kNoTraits;
  op.attributes = {{"keepdims", 1, "reduced axes stay, with extent 1"},
                   {"noop_with_empty_axes", 0, "no axes means none, not all"}};
  op.infer = infer_reduce;
  op.reference = reference<Functor, domain>;
  op.lower = lower<Functor>;
  op.flops = flops;
  op.permute = permute_reduced_axes;
  constexpr bool kUnwritten =
      std::is_same_v<Functor, MaxOf> || std::is_same_v<Functor, MinOf> || std::is_same_v<Functor, ProductOf>;
  if constexpr (!kUnwritten) op.gradient = gradient<Functor>;
  return op;
}

}  // namespace

OpDef define_ReduceL1() { return reduce_op<L1Of>("ReduceL1", 18); }
OpDef define_ReduceL2() { return reduce_op<L2Of>("ReduceL2", 18); }
OpDef define_ReduceLogSum() { return reduce_op<LogSumOf, Domain::Floats>("ReduceLogSum", 28); }
OpDef define_ReduceLogSumExp() { return reduce_op<LogSumExpOf, Domain::Floats>("ReduceLogSumExp", 28); }
OpDef define_ReduceMax() { return reduce_op<MaxOf>("ReduceMax", 20); }
OpDef define_ReduceMean() { return reduce_op<MeanOf>("ReduceMean", 18); }
OpDef define_ReduceMin() { return reduce_op<MinOf>("ReduceMin", 20); }
OpDef define_ReduceProd() { return reduce_op<ProductOf>("ReduceProd", 18); }
OpDef define_ReduceSum() { return reduce_op<SumOf>("ReduceSum", 13); }
OpDef define_ReduceSumSquare() { return reduce_op<SumSquareOf>("ReduceSumSquare", 18); }

}  // namespace dnn::reduce_ops
